package danger

import "github.com/git-ftl/git-ftl/lint/internal/doc"

// unsafeRules find what a language itself calls unsafe.
func unsafeRules() []rule {
	return []rule{
		{
			name: "unbounded-copy", in: native, keyword: "\\bscanf|\\bfscanf|\\bsscanf|\\bgets|\\bstrcpy|\\bstrcat|\\bsprintf|\\bvsprintf", reach: 64, find: unboundedCopy, info: true,
			message: "a copy that does not know the size of its target", remedy: "use snprintf or a function that takes the size",
			asked: "strcpy,sprintf,strcat",
		},
		{
			name: "unsafe-rust", in: rust, keyword: "unsafe|transmute", reach: 64, find: unsafeRust, info: true,
			message: "code whose memory the compiler does not check", remedy: "say in a SAFETY comment why it is sound",
			asked: "unsafe,ffi",
		},
		{
			name: "temporary-name", in: python | native, keyword: "mktemp|tmpnam|tempnam", reach: 64, find: temporaryName,
			message: "a temporary name that somebody else can take first", remedy: "use mkstemp, or NamedTemporaryFile",
			asked: "mktemp,tmpnam",
		},
	}
}

var (
	unboundedCopy = doc.Pattern(`(?m)\b[fs]?scanf\s*\([^;\n"]*"[^"\n]*%s|(?:^|[^.\w>:"])(?:std::)?(?:gets|strcpy|strcat|sprintf|vsprintf)\s*\(\s*[^)\s]`)
	unsafeRust    = doc.Pattern(`\bunsafe\s*(?:\{|fn\b|impl\b)|\btransmute\b\s*(?:::<|\()`)
	temporaryName = doc.Pattern(`\btempfile\.mktemp\(|(?m)(?:^|[^.\w>:"])(?:mktemp|tmpnam|tempnam)\s*\(\s*[A-Za-z_&"N]`)
)
