package credential

import (
	"slices"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

// Row is what is known of one kind of token. Matching and the samples of tests
// both follow from it.
type Row struct {
	Name     string // "github-pat": its rule is "credential/github-pat"
	Provider string
	What     string // "personal access token"
	Shape    Shape
	Near     []string                  // lower case: one of them stands before the token; nil where the shape is enough
	Seal     func(token string) string // the token with its checksum right; nil where none is documented
	Severity doc.Severity
	Example  string // what documented examples have in them
	Source   string // the provider's word on it
}

// Rows are the tokens of every provider.
func Rows() []Row {
	return slices.Concat(cloudRows(), platformRows(), regionalRows(), azureRows(), hostRows(), ciRows(), toolRows(), registryRows(),
		modelRows(), smallModelRows(), newModelRows(), agentRows(), paymentRows(), checkoutRows(), messageRows(), customerRows(), monitorRows(), logRows(),
		dataRows(), placeRows(), officeRows(), contentRows(), socialRows(), securityRows(), identityRows())
}

// provider makes the rows of one provider.
func provider(name, source string, rows ...Row) []Row {
	for i := range rows {
		rows[i].Provider, rows[i].Source = name, source
	}
	return rows
}

func kind(name, what string, s Shape) Row {
	return Row{Name: name, What: what, Shape: s, Severity: doc.Block}
}

func (r Row) near(words ...string) Row {
	r.Near = words
	return r
}

func (r Row) sealed(seal func(string) string) Row {
	r.Seal = seal
	return r
}

// mild is for what opens a sandbox of a provider, or only names an account.
func (r Row) mild() Row {
	r.Severity = doc.Warn
	return r
}

func (r Row) example(end string) Row {
	r.Example = end
	return r
}
