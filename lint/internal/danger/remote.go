package danger

import (
	"bytes"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

// remoteRules find what runs a stranger's code or carries something away.
func remoteRules() []rule {
	return []rule{
		{
			name: "pipe-to-shell", in: shell, quoted: true, keyword: "\\bcurl|\\bwget|\\bfetch|\\biwr|\\birm|invoke-webrequest|downloadstring", find: pipeToShell,
			message: "what a server sends is run unseen", remedy: "fetch it to a file, compare its hash, then run it",
			asked: "curl bash,curl sh,curl pip,install script",
		},
		{
			name: "encoded-to-shell", in: shell, quoted: true, keyword: "base64 |base64\t|\\bxxd|\\bopenssl|frombase64string|powershell", find: encodedToShell,
			message: "an encoded text is run: nobody can read what it does", remedy: "write the commands out",
		},
		{
			name: "reverse-shell", in: shell | programs, quoted: true, keyword: "/dev/tcp|/dev/udp|\\bnc |\\bnc\t|\\bnc.|\\bncat|\\bnetcat|\\bsocat|pty.spawn|os.dup2|mkfifo|sockets.tcpclient", find: reverseShell, also: leaves,
			message: "a shell that somebody else drives over the network", remedy: "do not apply this unless you know why it is there",
		},
		{
			name: "drop-host", in: shell | programs, quoted: true, keyword: "webhook.site|api/webhooks|requestbin|pipedream|ngrok|burpcollaborator|\\boast|interact.sh|transfer.sh|api.telegram|pastebin.com|serveo|localhost.run|trycloudflare|dnslog|canarytokens|hookbin", find: dropHost,
			message: "a host where anybody can pick up what is sent", remedy: "make sure of who reads there",
			asked: "webhook,ngrok,telegram,discord,pastebin,slack,cloudflar",
		},
		{
			name: "credential-file", in: shell | programs, quoted: true, keyword: ".ssh|.aws|.netrc|.gnupg|.docker|.kube|.npmrc|.pypirc|gcloud|git-credentials|/etc/shadow|id_rsa|wallet.dat|login data", find: credentialFile,
			message: "a file in which credentials are kept", remedy: "make sure that the program needs them",
			asked: "ssh,aws,netrc,gnupg,kube,npmrc,pypirc,gcloud,credential",
		},
		{
			name: "metadata-service", in: shell | programs, quoted: true, keyword: "169.254.|metadata.google|fd00:ec2", find: metadataService,
			message: "the address where a cloud hands out credentials", remedy: "use the provider's library",
			asked: "metadata,imds",
		},
		{
			name: "sends-environment", in: shell | programs, quoted: true, keyword: "env |env)|printenv|process.env|environ", find: sendsEnvironment,
			message: "the whole environment, secrets included, is written out or sent", remedy: "pass on the variables that are needed, by name",
			asked: "environ",
		},
	}
}

// leaves reports whether a connection is to another machine: a look at a port of
// one's own is how containers tell that they are well.
func leaves(s *source, start, end int) bool {
	to := s.text[start:end]
	return !bytes.Contains(to, []byte("/localhost/")) && !bytes.Contains(to, []byte("/127.0.0.1/"))
}

var (
	pipeToShell      = doc.Pattern(`\b(?:curl|wget|fetch)\b(?:\\\n|[^\n;])*?\|[ \t]*(?:\\\n[ \t]*)?(?:sudo[ \t]+(?:-\S+[ \t]+)*)?(?:env[ \t]+(?:\w+=\S*[ \t]+)*)?(?:/(?:usr/)?(?:local/)?bin/)?(?:(?:ba|z|da|k|a|fi)?sh|python[0-9.]*|perl|node|ruby|php)\b|\b(?:ba|z|da)?sh\b[^\n;|]*(?:-c[ \t]+["']?\$\(|<\()[ \t]*(?:curl|wget)\b|\b(?:eval|source)[ \t]+["']?(?:\$\(|<\(|` + "`" + `)[ \t]*(?:curl|wget)\b|(?i:\b(?:iex|invoke-expression)\b[^\n]*(?:downloadstring|iwr|irm|invoke-webrequest|invoke-restmethod)|\b(?:iwr|irm|invoke-webrequest|invoke-restmethod)\b[^\n;]*\|[ \t]*iex\b)`)
	encodedToShell   = doc.Pattern(`\b(?:base64[ \t]+(?:-d|-D|--decode|-di)\b|xxd[ \t]+-r\b|openssl[ \t]+(?:enc|base64)[^\n;|]*-d\b)[^\n;]*?\|[ \t]*(?:sudo[ \t]+)?(?:/\S*/)?(?:(?:ba|z|da|k)?sh|python[0-9.]*|perl|node)\b|\b(?:eval|(?:ba|z|da)?sh[ \t]+-c)[ \t]+["']?(?:\$\(|` + "`" + `)[^\n)]*(?:base64[ \t]+(?:-d|-D|--decode)|xxd[ \t]+-r)|(?i:\bpowershell\b[^\n]*[ \t]-e(?:nc(?:odedcommand)?)?[ \t]+[a-z0-9+/=]{16}|\biex\b[^\n]*frombase64string)`)
	reverseShell     = doc.Pattern(`/dev/(?:tcp|udp)/[^\s"'/]+/|\b(?:nc|ncat|netcat)\b[^\n;|]*[ \t](?:-\w*[ec]\w*|--exec|--sh-exec)[ \t]+["']?(?:/\S*/)?(?:(?:ba|z|da)?sh|cmd(?:\.exe)?|powershell)\b|\bmkfifo\b[^\n]*\b(?:nc|ncat|telnet|openssl)\b|\bsocat\b[^\n]*\b(?i:exec|system):|\bpty\.spawn\([ \t]*["'\[]|\bos\.dup2\([ \t]*\w+\.fileno\(\)[ \t]*,[ \t]*[012]\b|\bNew-Object[ \t]+(?:System\.)?Net\.Sockets\.TCPClient\b`)
	dropHost         = doc.Pattern(`(?i)\b(?:webhook\.site|requestbin\.\w+|pipedream\.net|[\w-]+\.ngrok(?:-free)?\.(?:io|app|dev)|burpcollaborator\.net|oast\.(?:pro|live|site|online|fun|me)|oastify\.com|interact\.sh|transfer\.sh|api\.telegram\.org/bot|pastebin\.com/(?:raw|api)|discord(?:app)?\.com/api/webhooks|serveo\.net|localhost\.run|trycloudflare\.com|dnslog\.cn|canarytokens\.com|hookbin\.com)`)
	credentialFile   = doc.Pattern(`(?:~|\$HOME|\$\{HOME\}|/root|/home/[\w$.{}-]+|/Users/[\w$.{}-]+|(?:homedir|home_dir|UserHomeDir|expanduser|Path\.home|getenv\("HOME"\))[^\n]{0,40})/?["' ,+/]*\.(?:ssh/(?:id_\w+|authorized_keys|\*)|ssh["'/]*[ ,]*["']id_\w+|aws/credentials|netrc|gnupg|docker/config\.json|kube/config|npmrc|pypirc|config/gcloud|git-credentials)|/etc/shadow\b|/\.ssh/id_(?:rsa|ed25519|ecdsa|dsa)\b|\bwallet\.dat\b|/Login Data\b`)
	metadataService  = doc.Pattern(`\b169\.254\.(?:169\.254|170\.2)\b|\bmetadata\.google\.internal\b|\[fd00:ec2::254\]`)
	sendsEnvironment = doc.Pattern(`(?:^|[^.\w/-])(?:env|printenv)[ \t]*\|[^\n]*\b(?:curl|wget|nc|ncat|base64)\b|\b(?:curl|wget)\b[^\n;]*(?:\$\(|` + "`" + `)[ \t]*(?:env|printenv)\b|\bJSON\.stringify\([ \t]*process\.env[ \t]*[,)]|\bjson\.dumps\([ \t]*(?:dict\([ \t]*)?(?:os\.)?environ\b[ \t]*[,)]|\bbody[ \t]*:[ \t]*process\.env\b[ \t]*[,}]`)
)
