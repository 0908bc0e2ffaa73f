package danger

import (
	"bytes"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

// switchRules find protections that a program switches off. Source: the
// documentation of each library.
func switchRules() []rule {
	return []rule{
		{
			name: "tls-off", in: programs, keyword: "\\bverify=|\\bverify |verify_none|insecureskipverify|rejectunauthorized|unverified|cert_none|check_hostname|accept_invalid|node_tls_reject|ssl_verify|sslverifymode|servercertificate|dangerousaccept|checkservertrusted|hostnameverifier|hostname_verifier|trustall|trustself|insecuretrust", reach: 256, find: tlsOff, also: switches,
			message: "certificates are not checked: anybody on the way can answer", remedy: "add the certificate to the trusted ones",
			asked: "insecure,self-signed,certificat verif,skip tls,skip verif,tls verif",
		},
		{
			name: "host-key-off", in: golang | python | java, keyword: "insecureignorehostkey|autoaddpolicy|stricthostkeychecking", reach: 64, find: hostKeyOff,
			message: "ssh does not check whom it talks to", remedy: "read the known hosts",
			asked: "host key,hostkey",
		},
		{
			name: "auth-off", in: programs, keyword: "csrf|\"none|'none|methodnone|allownone|verify_signature|verify_authenticity_token|permitall|ignoreexpiration|skip_forgery", find: authOff,
			message: "a check of who asks is switched off", remedy: "leave the check on, or say in the code why it is safe here",
			asked: "csrf,disable auth,without auth,public endpoint",
		},
		{
			name: "weak-crypto", in: programs, keyword: "/ecb|mode_ecb|\"des|createcipher|createdecipher|\\bmd5|\\bsha1|\"rc4|\"arcfour|newecb", reach: 128, find: weakCrypto,
			message: "a cipher or a password hash that is broken", remedy: "use AES-GCM, or Argon2 or bcrypt for passwords",
			asked: "ecb,des,md5,sha1,rc4",
		},
		{
			name: "html-unescaped", in: programs, keyword: "dangerouslysetinnerhtml|bypasssecuritytrust|v-html|template.|html_safe|mark_safe", reach: 64, find: htmlUnescaped,
			message: "text becomes part of a page unescaped", remedy: "let the template escape it",
			asked: "dangerouslysetinnerhtml,raw html,unescaped",
		},
	}
}

// switches reports whether a place sets what it names. To compare it or to define it
// is not to switch it off.
func switches(s *source, start, _ int) bool {
	before := bytes.TrimRight(s.text[max(0, start-40):start], " \t.abcdefghijklmnopqrstuvwxyz")
	line := s.text[bytes.LastIndexByte(s.text[:start], '\n')+1 : start]
	return !bytes.HasSuffix(before, []byte("!=")) && !bytes.HasSuffix(before, []byte("==")) && !bytes.HasSuffix(line, []byte("def "))
}

var (
	tlsOff        = doc.Pattern(`\bInsecureSkipVerify\s*[:=]\s*true\b|\brejectUnauthorized["']?\s*[:=]\s*false\b|\b(?:env\s*\[\s*["'])?NODE_TLS_REJECT_UNAUTHORIZED["'\]]*\s*[:=]\s*["']?0|\bverify\s*=\s*False\b|\b_create_unverified_context\b|\bCERT_NONE\b|\bcheck_hostname\s*=\s*False\b|\bdanger_accept_invalid_(?:certs|hostnames)\(\s*true|\bVERIFY_NONE\b|\bCURLOPT_SSL_VERIFY(?:PEER|HOST)\s*,\s*(?:0L?|false)|\bServerCertificate(?:Custom)?ValidationCallback\s*\+?=[^;\n]*(?:true|Dangerous)|\bDangerousAcceptAnyServerCertificateValidator\b|\bcheckServerTrusted\s*\([^)]*\)\s*(?:throws\s+[\w., ]+)?\{\s*\}|\b(?:NoopHostnameVerifier|ALLOW_ALL_HOSTNAME_VERIFIER|TrustAllStrategy|TrustSelfSignedStrategy|InsecureTrustManagerFactory)\b|\bssl_verify(?:peer)?\s*[:=]+>?\s*(?:false|0|:none)|\bSslVerifyMode::NONE\b`)
	hostKeyOff    = doc.Pattern(`\bssh\.InsecureIgnoreHostKey\(|\bAutoAddPolicy\b|\bStrictHostKeyChecking["']?\s*,\s*["']no\b`)
	authOff       = doc.Pattern(`@csrf_exempt\b|\.csrf\(\)\s*\.disable\(|\bcsrf\([^)\n]*(?:::disable|\.disable\(\))|\bskip_(?:before_action\s+:verify_authenticity_token|forgery_protection)\b|["']?\bverify_signature["']?\s*[:=]\s*(?:False|false)\b|\balgorithms?["']?\s*[:=]\s*\[?\s*["'](?i:none)["']|["']alg["']\s*[:,]\s*["']none["']|\banyRequest\(\)\s*\.permitAll\(|\bignoreExpiration["']?\s*:\s*true\b|\bSigningMethodNone\b|\bUnsafeAllowNoneSignatureType\b`)
	weakCrypto    = doc.Pattern(`\bgetInstance\(\s*"(?:AES/ECB|DES|DESede|RC4|ARCFOUR)\b|\bMODE_ECB\b|\bcreateCipher\(|\bcreate(?:Cipheriv|Decipheriv)\(\s*["'](?:des|rc4|[\w-]+-ecb)|\b(?:md5|sha1|MD5|SHA1)\w*\.?\w*\([^)\n]{0,40}(?i:passw)|\bcipher\.NewECB`)
	htmlUnescaped = doc.Pattern(`\bdangerouslySetInnerHTML["']?\s*(?:=\s*\{|:\s*\{)|\bbypassSecurityTrust\w+\(|\sv-html=|\btemplate\.(?:HTML|HTMLAttr|JS|JSStr|URL|CSS|Srcset)\(\s*[^"` + "`" + `\s)]|\bmark_safe\(\s*[^"'\s)]|[^"'\s)]\.html_safe\b`)
)
