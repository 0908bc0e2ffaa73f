package credential

import (
	"strings"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

// A trigger is what a word starts looking for, other than rows. Those from
// assigned on are only likely: the words that start them are common.
type trigger uint8

const (
	noTrigger trigger = iota
	privateKey
	puttyKey
	webToken
	assigned
	userinfo
	header
	dataSource
	userOption
	passOption
	loginCall
)

// table is the rows with what finds them.
type table struct {
	rows   []Row
	anchor []int   // by row: the part whose text is its word; -1 where words stand near
	byWord [][]int // by word: rows
	fires  []trigger
	size   []int // by word
	words  *automaton
}

// triggers are the words of each.
func triggers() map[trigger][]string {
	return map[trigger][]string{
		privateKey: {"private key"},
		puttyKey:   {"putty-user-key-file-"},
		webToken:   {"eyj"},
		assigned: {
			"secret", "token", "api_key", "apikey", "api-key", "access_key", "accesskey", "access-key", "auth_key", "authkey",
			"private_key", "privatekey", "signing_key", "signingkey", "encryption_key", "encryptionkey", "master_key", "masterkey",
			"shared_key", "sharedkey", "accountkey", "credential", "creds", "pass", "pwd", "key", "identified by", "securestring",
		},
		userinfo:   {"://"},
		header:     {"bearer ", "basic ", "authorization"},
		dataSource: {"@tcp("},
		userOption: {" -u", "--user", "--proxy-user"},
		passOption: {" -p"},
		loginCall:  {"networkcredential(", "getconnection(", ".login("},
	}
}

func newTable() *table {
	t := &table{rows: Rows()}
	t.anchor = make([]int, len(t.rows))
	id := map[string]int{}
	var words []string
	word := func(w string) int {
		w = strings.ToLower(w)
		i, ok := id[w]
		if !ok {
			i = len(words)
			id[w] = i
			words = append(words, w)
			t.byWord = append(t.byWord, nil)
			t.fires = append(t.fires, noTrigger)
			t.size = append(t.size, len(w))
		}
		return i
	}
	for i, r := range t.rows {
		part, ok := r.Shape.anchor()
		if len(r.Near) > 0 || !ok {
			t.anchor[i] = -1
			for _, w := range r.Near {
				n := word(w)
				t.byWord[n] = append(t.byWord[n], i)
			}
			continue
		}
		t.anchor[i] = part
		n := word(r.Shape[part].Literal)
		t.byWord[n] = append(t.byWord[n], i)
	}
	for fire, list := range triggers() {
		for _, w := range list {
			t.fires[word(w)] = fire
		}
	}
	t.words = newAutomaton(words)
	return t
}

// hit is a finding of a row.
func (r *Row) hit(start, end int, s doc.Severity, message string) doc.Hit {
	return doc.Hit{
		Rule: "credential/" + r.Name, Severity: s, Start: start, End: end, Secret: true, Message: message,
		Remedy: "revoke it at " + r.Provider + " and keep the new one with git ftl auth set " + r.variable(),
	}
}

// variable is a name to keep a token under: GITHUB_PAT.
func (r *Row) variable() string {
	return strings.ToUpper(strings.ReplaceAll(r.Name, "-", "_"))
}

func (r *Row) title() string { return r.Provider + " " + r.What }
