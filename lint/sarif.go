package lint

import (
	"encoding/json"
	"io"
	"net/url"
	"strings"
)

// WriteSARIF writes findings in the Static Analysis Results Interchange Format,
// version 2.1.0 of OASIS, as code hosts read it. What was accepted is a suppressed
// result.
func WriteSARIF(w io.Writer, version string, all []Finding) error {
	run := sarifRun{Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "git-ftl", Version: strings.TrimPrefix(version, "git-ftl "), Rules: []sarifRule{}}
	known := map[string]bool{}
	for _, f := range all {
		if !known[f.Rule] {
			known[f.Rule] = true
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{ID: f.Rule, Short: sarifText{f.Message}, Help: sarifText{f.Remedy}})
		}
		run.Results = append(run.Results, sarifOf(f))
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool struct {
		Driver sarifDriver `json:"driver"`
	} `json:"tool"`
	Results []sarifResult `json:"results"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version,omitempty"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID    string    `json:"id"`
	Short sarifText `json:"shortDescription"`
	Help  sarifText `json:"help"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	Rule         string             `json:"ruleId"`
	Level        string             `json:"level"`
	Message      sarifText          `json:"message"`
	Locations    []sarifLocation    `json:"locations"`
	Fingerprints map[string]string  `json:"partialFingerprints"`
	Suppressed   []sarifSuppression `json:"suppressions,omitempty"`
}

type sarifLocation struct {
	Physical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region *sarifRegion `json:"region,omitempty"`
	} `json:"physicalLocation"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

type sarifSuppression struct {
	Kind          string `json:"kind"`
	Justification string `json:"justification"`
}

func sarifOf(f Finding) sarifResult {
	r := sarifResult{Rule: f.Rule, Level: "note", Message: sarifText{f.Message}, Fingerprints: map[string]string{"gitFtlFinding/v1": f.ID}}
	switch f.Severity {
	case Block:
		r.Level = "error"
	case Warn:
		r.Level = "warning"
	}
	var at sarifLocation
	at.Physical.Artifact.URI = (&url.URL{Path: f.Path}).EscapedPath()
	if f.Line > 0 {
		at.Physical.Region = &sarifRegion{f.Line}
	}
	r.Locations = []sarifLocation{at}
	if f.Waived != "" {
		r.Suppressed = []sarifSuppression{{"external", "accepted by " + f.Waived}}
	}
	return r
}
