package danger

import "github.com/git-ftl/git-ftl/lint/internal/doc"

// hostRules find what opens a machine, from a shell or in its configuration, or
// stays on it.
func hostRules() []rule {
	return []rule{
		{
			name: "privileged-container", in: shell, quoted: true, keyword: "--privileged|privileged:|docker.sock|docker|podman|nerdctl", find: privileged,
			message: "a container with rights over its host", remedy: "give the one capability or folder that is needed",
			asked: "privileg,docker socket,docker.sock",
		},
		{
			name: "persistence", in: shell, quoted: true, keyword: "crontab|cron.|systemctl|launchctl|schtasks|bashrc|zshrc|.profile|bash_profile|authorized_keys|autostart|currentversion\\run", find: persistence,
			message: "something is made to run again later, or somebody to get in", remedy: "make sure that the task asks for it",
			asked: "cron,systemd,servic,autostart,authorized_keys,bashrc,zshrc",
		},
		{
			name: "sudoers", in: shell, quoted: true, keyword: "sudoers|nopasswd", find: sudoers,
			message: "rights of root without a password", remedy: "make sure that the task asks for it",
			asked: "sudo",
		},
		{
			name: "hides-tracks", in: shell, quoted: true, keyword: "histfile|history -c|_history", find: hidesTracks,
			message: "what was done is kept out of the shell's history", remedy: "remove it",
		},
		{
			name: "firewall-off", in: shell, quoted: true, keyword: "iptables|ip6tables|\\bufw|setenforce|\\bnft|systemctl|netsh|firewalld", find: firewallOff,
			message: "a firewall or another protection of the machine is switched off", remedy: "open the one port that is needed",
			asked: "firewall,iptables,ufw,selinux",
		},
		{
			name: "ssh-open", in: shell, quoted: true, keyword: "permitrootlogin|permitemptypasswords|stricthostkeychecking|userknownhostsfile", find: sshOpen,
			message: "ssh does not check whom it talks to, or lets anybody in", remedy: "add the host's key to known_hosts",
			asked: "host key,hostkey,stricthostkeychecking,root login",
		},
		{
			name: "tls-off-shell", in: shell, quoted: true, keyword: "curl|wget|sslverify|ssl_no_verify|tls_reject|pythonhttpsverify|strict-ssl", find: tlsOffShell,
			message: "certificates are not checked: anybody on the way can answer", remedy: "add the certificate to the trusted ones",
			asked: "insecure,self-signed,certificat verif,skip tls,no-check-certificate",
		},
	}
}

var (
	privileged  = doc.Pattern(`\b(?:docker|podman|nerdctl)\b[^\n]*(?:--privileged\b|(?:-v|--volume)[ =]?["']?/:|--pid[ =]host\b|--cap-add[ =](?:ALL|SYS_ADMIN)\b)|/var/run/docker\.sock["']?:/|\bprivileged["']?[ \t]*:[ \t]*["']?true\b`)
	persistence = doc.Pattern(`\bcrontab[ \t]+(?:-(?:[ \t\n)]|$)|-[rei]\b|-u[ \t]|[^-\s|;&<>"')][^\s]*)|/etc/cron\.\w+/|\bsystemctl\b[^\n;&|]*\benable\b|\blaunchctl[ \t]+(?:load|bootstrap|enable)\b|\bschtasks\b[^\n]*/create\b|(?:>>?|\btee\b(?:[ \t]+-a)?)[ \t]*["']?(?:~|\$HOME|\$\{HOME\}|/root|/home/[^/\s]+)/\.(?:bashrc|zshrc|zshenv|profile|bash_profile|ssh/authorized_keys|config/autostart)|(?i:currentversion\\+run)`)
	sudoers     = doc.Pattern(`/etc/sudoers(?:\.d)?\b|\bNOPASSWD\b`)
	hidesTracks = doc.Pattern(`\bunset[ \t]+HISTFILE\b|\bHISTFILE=(?:/dev/null|["']{2})|\bhistory[ \t]+-c\b|>[ \t]*~/\.\w+_history\b`)
	firewallOff = doc.Pattern(`\bip6?tables\b[^\n;&|]*[ \t](?:-F|--flush|-P[ \t]+INPUT[ \t]+ACCEPT)\b|\bufw[ \t]+(?:--force[ \t]+)?(?:disable|reset)\b|\bsetenforce[ \t]+(?:0|[Pp]ermissive)|\bnft[ \t]+flush[ \t]+ruleset\b|\bsystemctl\b[^\n;&|]*\b(?:stop|disable|mask)\b[^\n;&|]*\b(?:firewalld|ufw|apparmor|auditd|fail2ban|nftables|falcon-sensor)\b|(?i:\bnetsh\b[^\n]*firewall[^\n]*\boff\b)`)
	sshOpen     = doc.Pattern(`\bPermitRootLogin[ \t]+yes\b|\bPermitEmptyPasswords[ \t]+yes\b|\bStrictHostKeyChecking["']?[ \t]*[=: \t][ \t]*["']?(?:no|off|false)\b|\bUserKnownHostsFile[ =]/dev/null`)
	tlsOffShell = doc.Pattern(`\bcurl\b[^\n;|]*[ \t](?:-[a-zA-Z]*k[a-zA-Z]*|--insecure)(?:[ \t"'\n]|$)|\bwget\b[^\n;|]*--no-check-certificate\b|\bGIT_SSL_NO_VERIFY=["']?(?:1|true)|\bsslVerify["']?[ \t]*[= \t][ \t]*["']?(?:false|0)\b|\bNODE_TLS_REJECT_UNAUTHORIZED["']?\]?[ \t]*[=:][ \t]*["']?0|\bPYTHONHTTPSVERIFY["']?\]?[ \t]*[=:][ \t]*["']?0|\bstrict-ssl[= \t]+["']?false\b`)
)
