package lazyregexp

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestPatternsCompile looks at each pattern of the module: a program would only
// panic once it uses one.
func TestPatternsCompile(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isNew(call.Fun) {
				return true
			}
			seen++
			if _, err := regexp.Compile(text(t, call.Args[0])); err != nil {
				t.Errorf("%s: %v", fset.Position(n.Pos()), err)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 100 {
		t.Errorf("%d patterns were found, of more than a hundred", seen)
	}
}

func isNew(f ast.Expr) bool {
	s, ok := f.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := s.X.(*ast.Ident)
	return ok && pkg.Name == "lazyregexp" && s.Sel.Name == "New"
}

// text is a literal, or several that are joined.
func text(t *testing.T, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return text(t, e.X) + text(t, e.Y)
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	t.Fatalf("a pattern is no literal: %T", e)
	return ""
}
