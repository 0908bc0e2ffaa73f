package doc

import (
	"path"
	"strings"
)

// IsTest reports whether a path is that of a test, of its data or of its
// examples, by the customs of the common languages.
func IsTest(p string) bool {
	p = strings.ToLower(p)
	for folder := range strings.SplitSeq(path.Dir(p), "/") {
		switch folder {
		case "test", "tests", "testing", "testdata", "test-data", "__tests__", "__mocks__", "spec", "specs", "fixtures", "e2e":
			return true
		}
	}
	name := path.Base(p)
	stem, _, _ := strings.Cut(name, ".")
	return strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, "_spec") || strings.HasPrefix(stem, "test_") ||
		strings.Contains(name, ".test.") || strings.Contains(name, ".spec.") || stem == "conftest" ||
		strings.HasSuffix(name, "test.java") || strings.HasSuffix(name, "tests.java") || strings.HasSuffix(name, "test.kt") || strings.HasSuffix(name, "tests.cs")
}
