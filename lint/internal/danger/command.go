package danger

import "github.com/git-ftl/git-ftl/lint/internal/doc"

const noShell = "start the program with a list of arguments, without a shell"

// commandRules find commands and queries that are put together from text.
// Source: the reference of each language's library.
func commandRules() []rule {
	const message = "a command line that is put together at run time goes to a shell"
	return []rule{
		{name: "command-python", in: python, keyword: "os.system|os.popen|subprocess.", find: commandPython, message: message, remedy: noShell, asked: "shell command,subprocess,os.system"},
		{name: "command-script", in: script, keyword: "exec(|execsync(|spawn(|spawnsync(", find: commandScript, message: message, remedy: noShell, asked: "shell command,child_process"},
		{name: "command-go", in: golang, keyword: "exec.command", find: commandGo, message: message, remedy: noShell, asked: "shell command"},
		{name: "command-java", in: java, keyword: "exec(|processbuilder", find: commandJava, message: message, remedy: noShell, asked: "shell command"},
		{name: "command-native", in: native, keyword: "\\bsystem|\\bpopen|_popen|\\bexecl|\\bexecv", reach: 128, find: commandNative, message: message, remedy: noShell, asked: "shell command"},
		{name: "command-rust", in: rust, keyword: "command::new", find: commandRust, message: message, remedy: noShell, asked: "shell command"},
		{name: "command-php", in: php, keyword: "\\bsystem|\\bexec|\\bpassthru|shell_exec|\\bpopen|proc_open", reach: 256, find: commandPHP, message: message, remedy: noShell, asked: "shell command"},
		{name: "command-ruby", in: ruby, keyword: "system|exec|popen|spawn|%x|#{", line: true, find: commandRuby, message: message, remedy: noShell, asked: "shell command"},
		{name: "command-dotnet", in: dotnet, keyword: "process.start", find: commandDotnet, message: message, remedy: noShell, asked: "shell command"},
		{
			name: "delete-all", in: programs, keyword: ".objects.|delete_all|destroy_all|deletemany(|drop_all(|dropdatabase(|droptable|sync({", reach: 96, find: deleteAll,
			message: "everything of a table or a database is removed", remedy: "name what is to go",
			asked: "delet all,drop,empty table,reset,migrat,destroy all",
		},
		{
			name: "world-writable", in: programs, keyword: "chmod", reach: 96, find: chmodProgram,
			message: "everybody may write there", remedy: "give the right to the one user that needs it",
			asked: "777,world writ,world-writ,chmod",
		},
		{
			name: "sql-concat", in: programs, keyword: ".execute|.query|.exec|.raw(|.prepare(", find: sqlConcat,
			message: "a query that is put together from text", remedy: "pass the values as parameters",
		},
		{
			name: "remove-all", in: programs, keyword: "removeall|rmtree|rmsync|rimraf|\\brm(|rmdir|removesync|emptydirsync|remove_dir_all|remove_all|deletedirectory|rm_rf|remove_dir|directory.delete", reach: 128, find: removeAll,
			message: "a system's folder or a home is removed with all that is in it", remedy: "name the folder below it",
			asked: "delet home,wipe",
		},
	}
}

var (
	commandPython = doc.Pattern(`(?s)\bos\.(?:system|popen)\(\s*(?:[fF]["']|[A-Za-z_]\w*\s*[^"'\w\s]|["'][^"'\n]*["']\s*(?:\+|%|\.format))|\bsubprocess\.(?:run|call|Popen|check_call|check_output)\(\s*(?:[fF]["']|[A-Za-z_]\w*[^"'\w]|["'][^"'\n]*["']\s*(?:\+|%|\.format))[^;]{0,300}?\bshell\s*=\s*True\b|\bsubprocess\.get(?:status)?output\(\s*[A-Za-z_fF]`)
	commandScript = doc.Pattern("(?m)(?:^|[^.\\w$\"'`]|\\bchild_process\\.|\\bcp\\.)(?:exec|execSync)\\(\\s*(?:`[^`]*\\$\\{|[\"'][^\"'\\n]*[\"']\\s*\\+|[A-Za-z_]\\w*\\s*\\+)|\\bspawn(?:Sync)?\\([^;]{0,300}?\\bshell\\s*:\\s*(?:true|[\"'])")
	commandGo     = doc.Pattern("\\bexec\\.Command(?:Context)?\\((?:[^,\"`]+,\\s*)?[\"`](?:[^\"`]*/)?(?:(?:ba|z|da|k)?sh|cmd|cmd\\.exe|powershell|pwsh)[\"`]\\s*,\\s*[\"`][-/]\\w+[\"`]\\s*,\\s*(?:[A-Za-z_]\\w*|\"[^\"\\n]*\"\\s*\\+|`[^`]*`\\s*\\+)")
	commandJava   = doc.Pattern(`\bgetRuntime\(\)\s*\.exec\(\s*(?:"[^"\n]*"\s*\+|[A-Za-z_]\w*\s*[+),])|\bnew\s+ProcessBuilder\(\s*"(?:/bin/)?(?:ba)?sh"\s*,\s*"-c"\s*,\s*(?:[A-Za-z_]|"[^"\n]*"\s*\+)`)
	commandNative = doc.Pattern(`(?m)\bexec[lv]p?e?\s*\(\s*"(?:/bin/)?(?:ba|z|da)?sh"\s*,\s*"(?:/bin/)?(?:ba|z|da)?sh"\s*,\s*"-c"\s*,\s*[A-Za-z_]|(?:^|[^.\w>:"])(?:system|popen|_popen)\s*\(\s*(?:[A-Za-z_]\w*\s*[,)(.+\[]|"[^"\n]*"\s*\+)`)
	commandRust   = doc.Pattern(`(?s)\bCommand::new\(\s*"(?:[^"]*/)?(?:(?:ba|z|da)?sh|cmd|powershell)"\s*\)\s*\.args?\(\s*\[?\s*&?\[?"[-/]\w+"\s*(?:\)\s*\.arg\(|,)\s*(?:&?[A-Za-z_]|format!)`)
	commandPHP    = doc.Pattern(`(?m)(?:^|[^\w>:$"'])(?:system|exec|passthru|shell_exec|popen|proc_open)\s*\(\s*(?:\$|["'][^"'\n]*["']\s*\.|"[^"\n]*\$)`)
	commandRuby   = doc.Pattern("(?m)(?:^|[^.\\w:\"'])(?:system|exec|spawn|IO\\.popen|Open3\\.\\w+)[ (]\\s*(?:\"[^\"\\n]*#\\{|[\"'][^\"'\\n]*[\"']\\s*\\+)|`[^`\\n]*#\\{[^`\\n]*`|%x[\\[({][^\\n]*#\\{")
	commandDotnet = doc.Pattern(`\bProcess\.Start\(\s*(?:\$"|"[^"\n]*"\s*\+|"(?:cmd|cmd\.exe|powershell|/bin/sh|/bin/bash|bash)"\s*,\s*(?:\$"|[A-Za-z_]|"[^"\n]*"\s*\+))`)
	deleteAll     = doc.Pattern(`\.objects\.(?:all\(\)\.)?delete\(\)|\.(?:delete_all|destroy_all)\b(?:[ \t]*$|[ \t\n;)]|\(\))|\.deleteMany\(\s*(?:\{\s*\})?\s*\)|\.drop_all\(|\.(?:dropDatabase|drop_database)\(|\.(?:dropTable|DropTable|dropTableIfExists)\(|\.sync\(\s*\{\s*force\s*:\s*true`)
	chmodProgram  = doc.Pattern(`\b(?i:chmod(?:sync)?)\(\s*[^,()\n]+(?:\([^()\n]*\))?\s*,\s*(?:0o?[0-7]?[0-7]{2}[2367]|["'][0-7]{2}[2367]["'])\b`)
	sqlConcat     = doc.Pattern(`(?i)\.(?:execute(?:Query|Update|many)?|query(?:Row|One|All)?(?:Context)?|exec(?:Context)?|raw|prepare)\(\s*(?:ctx\s*,\s*)?(?:f["']{1,3}\s*(?:SELECT|INSERT|UPDATE|DELETE)\b[^"'\n]*\{|["']{1,3}\s*(?:SELECT|INSERT|UPDATE|DELETE)\b[^"\n]*["']\s*(?:\+|%\s*[\w(]|\.format\(|\.\s*\$)|fmt\.Sprintf\(\s*["` + "`" + `]\s*(?:SELECT|INSERT|UPDATE|DELETE)\b[^"` + "`" + `\n]*%[sv]|` + "`" + `\s*(?:SELECT|INSERT|UPDATE|DELETE)\b[^` + "`" + `]{0,300}\$\{)`)
	removeAll     = doc.Pattern(`\b(?:os\.RemoveAll|shutil\.rmtree|(?:fs|fsp|fse|fsPromises|promises)?\.?(?:rm|rmSync|rmdir|rmdirSync|removeSync|emptyDirSync)|rimraf(?:\.sync)?|fs::remove_dir_all|remove_dir_all|(?:std::)?(?:filesystem|fs)::remove_all|FileUtils\.(?:rm_rf|deleteDirectory|remove_dir)|Directory\.Delete)\s*\(\s*(?:new\s+File\(\s*|Paths?\.(?:get|of)\(\s*)?(?:["'` + "`" + `](?:/|~/?|/\*|/(?:etc|usr|home|var|root|bin)/?|[A-Za-z]:[\\/]*)["'` + "`" + `]|os\.Getenv\("HOME"\)|os\.homedir\(\)|process\.env\.HOME\b|os\.path\.expanduser\(\s*["']~/?["']\s*\)|Path\.home\(\)|Dir\.home\b|os\.environ\[["']HOME["']\])\s*[,)]`)
)
