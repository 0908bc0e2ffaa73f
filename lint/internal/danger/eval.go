package danger

import "github.com/git-ftl/git-ftl/lint/internal/doc"

// evalRules find code that is made at run time. Source: the reference of each
// language.
func evalRules() []rule {
	return []rule{
		{
			name: "obfuscated", in: programs, keyword: "atob|unescape|decodeuricomponent|fromcharcode|b64decode|base64_decode|gzinflate|str_rot13|decompress|fromhex|unhexlify|hex2bin|buffer.from|codecs.decode|zlib.|marshal.loads|compile(b|compile(z|_0x|__import__|__builtins__", reach: 128, find: obfuscated,
			message: "code that is hidden from whoever reads it is run", remedy: "do not apply this unless you know what it runs",
		},
		{
			name: "eval-python", in: python, keyword: "\\beval(|\\bexec(", find: evalPython,
			message: "a text is run as code", remedy: "use ast.literal_eval, or a table of functions",
			asked: "eval,exec",
		},
		{
			name: "eval-script", in: script, keyword: "\\beval(|new function(|runinthiscontext|runinnewcontext|runincontext|settimeout(|setinterval(", reach: 64, find: evalScript,
			message: "a text is run as code", remedy: "use JSON.parse, or a table of functions",
			asked: "eval",
		},
		{
			name: "eval-php", in: php, keyword: "\\beval|\\bassert|create_function|preg_replace", reach: 256, find: evalPHP,
			message: "a text is run as code", remedy: "use a table of functions",
			asked: "eval",
		},
		{
			name: "eval-ruby", in: ruby, keyword: "eval", find: evalRuby,
			message: "a text is run as code", remedy: "use define_method or public_send with a list of names",
			asked: "eval",
		},
		{
			name: "deserialize", in: programs, keyword: "pickle.|marshal.|yaml.|shelve.|joblib.|dill.|objectinputstream|xmldecoder|unserialize|binaryformatter|netdatacontractserializer|losformatter", reach: 256, find: deserialize,
			message: "reading such data runs what it says", remedy: "use JSON, or the safe loader of the format",
			asked: "pickle,marshal,deserial,unserial",
		},
	}
}

var (
	obfuscated  = doc.Pattern(`\b(?:eval|exec|Function|execSync)\s*\(\s*(?:\w+\.)*(?:atob|unescape|decodeURIComponent|fromCharCode|b64decode|base64_decode|gzinflate|str_rot13|decompress|fromhex|unhexlify|hex2bin)\s*\(|\b(?:eval|exec)\s*\(\s*(?:Buffer\.from|bytes\.fromhex|codecs\.decode|zlib\.|marshal\.loads|compile\(\s*(?:base64|zlib|bytes))|\bString\.fromCharCode\s*\((?:\s*\d+\s*,){8}|\b_0x[0-9a-f]{4,8}\b|\b__import__\(\s*["'](?:os|subprocess|socket|pty|ctypes|base64)["']|\bgetattr\(\s*__builtins__`)
	evalPython  = doc.Pattern(`(?m)(?:^|[^.\w"'` + "`" + `])(?:eval|exec)\(\s*(?:[A-Za-z_(]|[fF]["'])[^\n]*`)
	evalScript  = doc.Pattern(`(?m)(?:^|[^.\w$"'` + "`" + `\\-])eval\(\s*[^\s)"']|\bnew\s+Function\(\s*[^\s)]|\bvm\.runIn(?:This|New)?Context\(|\bset(?:Timeout|Interval)\(\s*["'` + "`" + `]`)
	evalPHP     = doc.Pattern(`(?m)(?:^|[^\w>:$"'])(?:eval|assert)\s*\(\s*(?:\$|["'][^"'\n]*\$|\w+\s*\()|\bcreate_function\s*\(|\bpreg_replace\s*\(\s*["'][^"'\n]*/\w*e\w*["']`)
	evalRuby    = doc.Pattern(`(?m)(?:^|[^.\w"'])eval[\s(]+[A-Za-z_"'@][^\n]*|\.(?:instance_eval|class_eval|module_eval)\(?\s*(?:["'][^"'\n]*#\{|[a-z_@]\w*\s*\)?\s*$)`)
	deserialize = doc.Pattern(`\b(?:c?[pP]ickle|dill|joblib|jsonpickle|shelve|marshal)\.(?:loads?|open|decode|Unpickler)\(|\byaml\.(?:unsafe_load|full_load)(?:_all)?\(|\byaml\.load(?:_all)?\(\s*[^,)\n]*(?:\([^)\n]*\))?\s*\)|\bLoader\s*=\s*(?:yaml\.)?(?:Unsafe|Full)?Loader\b|\bnew\s+(?:ObjectInputStream|XMLDecoder|BinaryFormatter|NetDataContractSerializer|LosFormatter)\s*\(|\bMarshal\.load\b|\bYAML\.(?:load|unsafe_load)\(|\bunserialize\s*\(\s*\$`)
)
