package proxy

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/shadow"
)

const (
	awsRealID, awsRealSecret = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
	awsShadID, awsShadSecret = "AKIAFTLSHADOW2345ABC", "ftl_shadow_aws_secret_access_key_00112233445566778899aabbccddeeff"
	awsRealToken             = "FwoGZXIvYXdzEXAMPLETOKENvalue1234567890"
	awsShadToken             = "ftl_shadow_aws_session_token_ffeeddccbbaa99887766554433221100"
	emptyHash                = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
)

// TestSignature takes the examples of Amazon's documentation.
func TestSignature(t *testing.T) {
	iam := request(t, "GET", "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08", "",
		"Content-Type", "application/x-www-form-urlencoded; charset=utf-8", "X-Amz-Date", "20150830T123600Z")
	object := request(t, "GET", "https://examplebucket.s3.amazonaws.com/test.txt", "",
		"Range", "bytes=0-9", "X-Amz-Content-Sha256", emptyHash, "X-Amz-Date", "20130524T000000Z")
	const putHash = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"
	put := request(t, "PUT", "https://examplebucket.s3.amazonaws.com/test$file.text", "Welcome to Amazon S3.",
		"Date", "Fri, 24 May 2013 00:00:00 GMT", "X-Amz-Date", "20130524T000000Z", "X-Amz-Storage-Class", "REDUCED_REDUNDANCY", "X-Amz-Content-Sha256", putHash)
	list := request(t, "GET", "https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J", "",
		"X-Amz-Content-Sha256", emptyHash, "X-Amz-Date", "20130524T000000Z")
	presigned := request(t, "GET", "https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential="+
		"AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host", "")
	s3 := []string{"20130524", "us-east-1", "s3", "aws4_request"}
	for _, test := range []struct {
		name, secret  string
		r             *http.Request
		scope         []string
		headers, hash string
		want          string
	}{
		{"IAM", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", iam, []string{"20150830", "us-east-1", "iam", "aws4_request"}, "content-type;host;x-amz-date", emptyHash, "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"},
		{"S3 GET", awsRealSecret, object, s3, "host;range;x-amz-content-sha256;x-amz-date", emptyHash, "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
		{"S3 PUT", awsRealSecret, put, s3, "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class", putHash, "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
		{"S3 list", awsRealSecret, list, s3, "host;x-amz-content-sha256;x-amz-date", emptyHash, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
		{"S3 presigned", awsRealSecret, presigned, s3, "host", "UNSIGNED-PAYLOAD", "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"},
	} {
		t.Run(test.name, func(t *testing.T) {
			date := test.r.Header.Get("X-Amz-Date")
			if date == "" {
				date = test.r.URL.Query().Get("X-Amz-Date")
			}
			sig := signature{scope: test.scope, headers: strings.Split(test.headers, ";"), date: date}
			if diff := cmp.Diff(test.want, sig.sign(test.secret, test.r, test.r.URL.Host, test.hash)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// awsWorld has a server that verifies under the real key, and says how it went.
func awsWorld(t *testing.T, temporary bool) *world {
	t.Helper()
	binding := shadow.Binding{Hosts: []string{"*.amazonaws.test"}, Kind: shadow.SigV4}
	all := []shadow.Credential{
		{Name: "AWS_ACCESS_KEY_ID", Shadow: awsShadID, Real: shadow.NewSecret(awsRealID), Binding: binding},
		{Name: "AWS_SECRET_ACCESS_KEY", Shadow: awsShadSecret, Real: shadow.NewSecret(awsRealSecret), Binding: binding},
	}
	if temporary {
		all = append(all, shadow.Credential{Name: "AWS_SESSION_TOKEN", Shadow: awsShadToken, Real: shadow.NewSecret(awsRealToken), Binding: binding})
	}
	w := newWorld(t, Policy{Credentials: all})
	w.host("s3.amazonaws.test", func(rw http.ResponseWriter, r *http.Request) {
		token := r.Header.Get(tokenHeader) + r.URL.Query().Get(tokenHeader)
		sig, ok := parseSignature(r)
		s := &spending{r: r}
		hash, refused := s.payload(sig)
		if !ok || refused != nil || sig.id != awsRealID || sig.sign(awsRealSecret, r, r.Host, hash) != sig.value || temporary != (token == awsRealToken) {
			http.Error(rw, "SignatureDoesNotMatch", http.StatusForbidden)
			return
		}
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(rw, "verified %s %s range=%q", sig.id, body, r.Header.Get("Range"))
	})
	return w
}

// sign puts a signature of the sandbox on a request.
func sign(r *http.Request, id, secret, hash string, headers ...string) *http.Request {
	r.Header.Set("X-Amz-Date", "20260102T030405Z")
	sig := signature{scope: []string{"20260102", "eu-west-1", "s3", "aws4_request"}, headers: append([]string{"host", "x-amz-date"}, headers...), date: "20260102T030405Z"}
	r.Header.Set("Authorization", sigAlgorithm+" Credential="+id+"/"+strings.Join(sig.scope, "/")+", SignedHeaders="+strings.Join(sig.headers, ";")+", Signature="+sig.sign(secret, r, r.URL.Host, hash))
	return r
}

func presign(r *http.Request, id, secret string) *http.Request {
	sig := signature{scope: []string{"20260102", "eu-west-1", "s3", "aws4_request"}, headers: []string{"host"}, date: "20260102T030405Z"}
	r.URL.RawQuery += "&X-Amz-Algorithm=" + sigAlgorithm + "&X-Amz-Credential=" + id + "%2F" + strings.Join(sig.scope, "%2F") + "&X-Amz-Date=" + sig.date + "&X-Amz-Expires=300&X-Amz-SignedHeaders=host"
	r.URL.RawQuery += "&X-Amz-Signature=" + sig.sign(secret, r, r.URL.Host, "UNSIGNED-PAYLOAD")
	return r
}

func TestResign(t *testing.T) {
	const url = "https://s3.amazonaws.test/bucket/a%20b?prefix=x%2Fy&a-b=1&a=2"
	const bodyHash = "9a7c3f0a7a4bcc0eb8d5a3ed36b5f4a5b7b0f7e3d3c4b5a6978877665544332f" // any: the header is what is signed
	withHash := func(method, body, hash string, header ...string) *http.Request {
		return request(t, method, url, body, append(header, "X-Amz-Content-Sha256", hash)...)
	}
	for _, test := range []struct {
		name      string
		temporary bool
		r         *http.Request
		status    int
	}{
		{"header form", false, sign(withHash("GET", "", emptyHash), awsShadID, awsShadSecret, emptyHash, "x-amz-content-sha256"), 200},
		{"with a body", false, sign(withHash("PUT", "data", bodyHash), awsShadID, awsShadSecret, bodyHash, "x-amz-content-sha256"), 200},
		{"signed range is taken out", false, sign(withHash("GET", "", emptyHash, "Range", "bytes=0-3"), awsShadID, awsShadSecret, emptyHash, "range", "x-amz-content-sha256"), 200},
		{"signed encoding is changed", false, sign(withHash("GET", "", emptyHash, "Accept-Encoding", "gzip"), awsShadID, awsShadSecret, emptyHash, "accept-encoding", "x-amz-content-sha256"), 200},
		{"unsigned chunks", false, sign(withHash("PUT", "4\r\ndata\r\n0\r\n\r\n", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"), awsShadID, awsShadSecret, "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "x-amz-content-sha256"), 200},
		{"presigned", false, presign(request(t, "GET", url, ""), awsShadID, awsShadSecret), 200},
		{"temporary", true, sign(withHash("GET", "", emptyHash, tokenHeader, awsShadToken), awsShadID, awsShadSecret, emptyHash, "x-amz-content-sha256", "x-amz-security-token"), 200},
		{"temporary, presigned", true, presign(request(t, "GET", url+"&"+tokenHeader+"="+awsShadToken, ""), awsShadID, awsShadSecret), 200},

		{"wrong secret", false, sign(withHash("GET", "", emptyHash), awsShadID, "wrong", emptyHash), 403},
		{"foreign id", false, sign(withHash("GET", "", emptyHash), "AKIAATTACKER00000000", "theirs", emptyHash), 403},
		{"foreign and presigned", false, presign(request(t, "GET", url, ""), "AKIAATTACKER00000000", "theirs"), 403},
		{"both forms", false, presign(sign(withHash("GET", "", emptyHash), awsShadID, awsShadSecret, emptyHash), "AKIAATTACKER00000000", "theirs"), 403},
		{"signed chunks", false, sign(withHash("PUT", "x", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"), awsShadID, awsShadSecret, "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"), 403},
		{"foreign token", true, sign(withHash("GET", "", emptyHash, tokenHeader, "attacker"), awsShadID, awsShadSecret, emptyHash, "x-amz-security-token"), 403},
		{"token left out", true, sign(withHash("GET", "", emptyHash), awsShadID, awsShadSecret, emptyHash), 403},
		{"token where there is none", false, sign(withHash("GET", "", emptyHash, tokenHeader, "attacker"), awsShadID, awsShadSecret, emptyHash), 403},
		{"cookie beside", false, sign(withHash("GET", "", emptyHash, "Cookie", "a=b"), awsShadID, awsShadSecret, emptyHash), 403},
		{"the id as a bearer", false, request(t, "GET", url, "", "Authorization", "Bearer "+awsShadID), 403},
		{"another algorithm", false, request(t, "GET", url, "", "Authorization", "AWS4-ECDSA-P256-SHA256 Credential="+awsShadID+"/20260102/s3/aws4_request, SignedHeaders=host, Signature=00"), 403},
		{"nothing", false, request(t, "GET", url, ""), 403},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := awsWorld(t, test.temporary)
			got := do(t, w.client(), test.r)
			if got.Status != test.status {
				t.Errorf("%d %s", got.Status, got.Body)
			}
			if test.status == 200 && !strings.Contains(got.Body, `verified `+awsShadID) || strings.Contains(got.Body, awsRealID) || !strings.Contains(got.Body, "git-ftl") && !strings.Contains(got.Body, `range=""`) {
				t.Errorf("body %q", got.Body)
			}
		})
	}
}

// TestResignCurl: a client with a signer of its own, which does not send the hash
// of the body.
func TestResignCurl(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	w := awsWorld(t, false)
	out, err := exec.Command("curl", "-sS", "--cacert", w.caFile(), "--connect-to", "::"+w.listeners[443].Addr().String(), "--aws-sigv4", "aws:amz:eu-west-1:dynamodb",
		"-u", awsShadID+":"+awsShadSecret, "-d", `{"TableName":"t"}`, "https://s3.amazonaws.test/").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), `verified AKIAFTLSHADOW2345ABC {"TableName":"t"}`) {
		t.Errorf("%v: %s", err, out)
	}
}
