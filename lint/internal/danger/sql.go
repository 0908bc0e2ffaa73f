package danger

import (
	"bytes"
	"strings"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

// sqlRules find statements that lose data. Source: the SQL standard and the
// manuals of PostgreSQL and MySQL.
func sqlRules() []rule {
	return []rule{
		{
			name: "sql-drop", in: sql, quoted: true, keyword: "drop", find: sqlDrop, also: opensStatement,
			message: "a table, schema or database is dropped with all that is in it", remedy: "make sure of what holds the data, or rename it first",
			asked: "drop table,drop schema,drop database,drop collection,delet table,remov table,down migrat,delet database",
		},
		{
			name: "sql-truncate", in: sql, quoted: true, keyword: "truncate", find: sqlTruncate, also: truncates,
			message: "all rows of a table are removed", remedy: "add a condition, or make sure that all are meant",
			asked: "truncat,empty table,clear table",
		},
		{
			name: "sql-delete-all", in: sql, quoted: true, keyword: "delete", find: sqlDelete, also: withoutWhere,
			message: "DELETE without WHERE removes all rows", remedy: "add a condition, or make sure that all are meant",
			asked: "delet all,delet every,empty table,clear table,remov all",
		},
		{
			name: "sql-update-all", in: sql, quoted: true, keyword: "update", find: sqlUpdate, also: withoutWhere,
			message: "UPDATE without WHERE changes all rows", remedy: "add a condition, or make sure that all are meant",
			asked: "updat all,updat every,backfill,all rows",
		},
		{
			name: "sql-grant-all", in: sql, quoted: true, keyword: "grant", find: sqlGrant, also: opensStatement,
			message: "every right is given away", remedy: "grant what is needed",
			asked: "grant all,all privileg",
		},
	}
}

var (
	sqlDrop     = doc.Pattern("(?i)\\bDROP\\s+(?:TABLE|DATABASE|SCHEMA|KEYSPACE)\\s+(?:IF\\s+EXISTS\\s+)?[\\w.\"`\\[\\]$%{}?:]+\\s*(?:CASCADE\\b|RESTRICT\\b|[;,\"'`)]|\\n|$)")
	sqlTruncate = doc.Pattern("(?i)\\bTRUNCATE\\s+(?:TABLE\\s+)?(?:ONLY\\s+)?[\\w.\"`\\[\\]$%{}?]+\\s*(?:[;,\"'`]|\\n|$|CASCADE\\b|RESTART\\b|CONTINUE\\b)")
	sqlDelete   = doc.Pattern("(?i)\\bDELETE\\s+(?:\\w+\\s+)?FROM\\s+(?:ONLY\\s+)?[\\w.\"`\\[\\]$%{}?:]+")
	sqlUpdate   = doc.Pattern("(?i)\\bUPDATE\\s+(?:ONLY\\s+)?[\\w.\"`\\[\\]$%{}?:]+\\s+SET\\s+[\\w.\"`\\[\\]$%{}?:]+\\s*=")
	sqlGrant    = doc.Pattern(`(?i)\bGRANT\s+ALL(?:\s+PRIVILEGES)?\s+ON\s+\S+`)
)

// truncates reports whether TRUNCATE is a statement where TABLE does not say so:
// style sheets have a word of the same letters.
func truncates(s *source, start, end int) bool {
	words := bytes.Fields(s.text[start:end])
	if s.lang&sql == 0 && string(words[0]) != "TRUNCATE" && (len(words) < 3 || !bytes.EqualFold(words[1], []byte("table"))) {
		return false
	}
	return opensStatement(s, start, end)
}

// maxStatement is how far a statement is followed to its end, in bytes.
const maxStatement = 4 << 10

// opensStatement reports whether a statement begins at a place: at the beginning
// of its string or line, or behind another. Prose about SQL seldom does.
func opensStatement(s *source, start, _ int) bool {
	if s.lang&sql == 0 && isUpper(s.text[start]) && !isUpper(s.text[start+1]) {
		return false // "Drop table failed"
	}
	for i := start - 1; i >= max(0, start-200); i-- {
		switch c := s.text[i]; {
		case c == ' ' || c == '\t':
			continue
		case s.lang&sql != 0 && (isWord(c) || c == ')'):
			return true // BEGIN DELETE FROM, THEN UPDATE
		}
		return strings.IndexByte(";\n\r('\"`=>", s.text[i]) >= 0
	}
	return true
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || isUpper(c) || c >= '0' && c <= '9' || c == '_'
}

// withoutWhere reports whether a statement ends before a condition: at its
// semicolon, whatever lines it takes, or at the end of the string that holds it,
// unless that goes on in another.
func withoutWhere(s *source, start, end int) bool {
	if !opensStatement(s, start, end) {
		return false
	}
	rest := s.text[end:min(len(s.text), end+maxStatement)]
	inString := s.kind[start] == quoted
	for i, c := range rest {
		switch {
		case c == ';' && (!inString || s.kind[end+i] == quoted):
			return !conditional(rest[:i])
		case inString && s.kind[end+i] == code:
			return !conditional(rest[:i]) && !goesOn(rest[i:])
		}
	}
	return !conditional(rest) && len(rest) < maxStatement
}

// conditional reports whether the rest of a statement says which rows are meant.
// What is put in at run time may say it.
func conditional(rest []byte) bool {
	rest = always().ReplaceAll(bytes.ToLower(rest), nil)
	for _, word := range []string{"where", "limit", "using", "join", "${", "%s", "{}", "#{", "current of", "%v"} {
		if bytes.Contains(rest, []byte(word)) {
			return true
		}
	}
	return false
}

// always is a condition that every row meets.
var always = doc.Pattern(`\bwhere\s+(?:1\s*=\s*1|'1'\s*=\s*'1'|true|1)\s*$`)

// goesOn reports whether a string is put together with what follows it.
func goesOn(rest []byte) bool {
	rest = bytes.TrimLeft(rest[1:min(len(rest), 300)], " \t\r\n\\")
	return len(rest) > 0 && strings.IndexByte("+.%\"'`&|f", rest[0]) >= 0
}
