package surface

import (
	"regexp"
	"strings"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

// ciRules are the rules on pipelines. A token counts wherever it stands outside
// of a comment line, so that no way of writing YAML hides it. Source: GitHub's
// "Security hardening for GitHub Actions" and the reference of each other system.
func ciRules() []lineRule {
	return []lineRule{
		{
			name: "ci/pull-request-target", severity: doc.Block, find: pullRequestTarget,
			message: "pull_request_target runs with the repository's secrets on anybody's pull request", remedy: "use pull_request",
		},
		{
			name: "ci/workflow-run", severity: doc.Block, find: workflowRun,
			message: "workflow_run runs with the repository's rights after a workflow of anybody's pull request", remedy: "run it in the first workflow",
		},
		{
			name: "ci/write-all", severity: doc.Block, find: writeAll,
			message: "the pipeline's token may write everything", remedy: "name the one permission that a job needs",
		},
		{
			name: "ci/write-permission", severity: doc.Warn, find: writePermission,
			message: "the pipeline's token may write", remedy: "make sure that the job needs it",
		},
		{
			name: "ci/secrets", severity: doc.Block, find: secretUse, but: jobToken,
			message: "a new use of a pipeline's secret", remedy: "see where the value goes, then waive the finding",
		},
		{
			name: "ci/token", severity: doc.Warn, find: jobToken,
			message: "a new use of the job's own token", remedy: "see where the value goes",
		},
		{
			name: "ci/remote-include", severity: doc.Block, find: remoteInclude,
			message: "a pipeline's definition comes from another place, which can change it at will", remedy: "copy it here, or pin it to a commit",
		},
		{
			name: "ci/event-text", severity: doc.Warn, find: eventText,
			message: "text that a stranger writes is pasted into the pipeline", remedy: "pass it through an environment variable",
		},
		{
			name: "ci/self-hosted", severity: doc.Warn, find: selfHosted,
			message: "a job on the project's own machine", remedy: "make sure that no stranger's code gets there",
		},
	}
}

var (
	pullRequestTarget = doc.Pattern(`(?i)pull_request_target`)
	workflowRun       = doc.Pattern(`(?i)workflow_run\b`)
	writeAll          = doc.Pattern(`(?i)\bwrite-all\b`)
	writePermission   = doc.Pattern(`(?i)\b(?:contents|actions|packages|deployments|id-token|attestations|pull-requests|issues|checks|statuses|pages|security-events|discussions|repository-projects)["']?\s*:\s*["']?write\b`)
	secretUse         = doc.Pattern(`(?i)\bsecrets["']?\s*(?:\.\s*[\w*-]+|\[[^\]\n]*\]?|\)|:\s*["']?inherit\b)|\bfrom_secret\b|\bcredentials\s*\(|\bwithCredentials\b|^\s*-?\s*secure\s*:|\bsecretKeyRef\b|\bsecretEnv\b|\bsecrets-manager\s*:|\bparameter-store\s*:|\bvault\s*:\s*\S`)
	jobToken          = doc.Pattern(`(?i)\bsecrets\s*(?:\.\s*GITHUB_TOKEN\b|\[\s*["']GITHUB_TOKEN["']\s*\])|\bgithub\.token\b`)
	remoteInclude     = doc.Pattern(`(?i)\bremote["']?\s*:\s*["']?https?:|\binclude["']?\s*:\s*(?:-\s*)?["']?https?:`)
	eventText         = doc.Pattern(`(?i)\bgithub\.(?:head_ref\b|event\.(?:issue|pull_request|comment|review|review_comment|discussion|head_commit|commits|pages|workflow_run)[\w.*\[\]]*\.(?:title|body|message|ref|label|name|email|page_name|head_branch|default_branch)\b)`)
	selfHosted        = doc.Pattern(`(?i)\bself-hosted\b`)
)

// uses matches the action or image that a step runs, in any style of YAML.
var uses = doc.Pattern(`(?i)\buses["']?\s*:\s*(?:[>|][-+0-9]*\s+)?(?:[&!][^\s,}\]]*\s+)*["']?([^\s"',}\]#]+)`)

var commitRef = doc.Pattern(`^[0-9a-f]{40}$|^[0-9a-f]{64}$`)

// actions blocks an action that its owner, or whoever takes their account, can
// change at will. One that the base's file uses unpinned already was the user's
// choice; another tag of it warns.
func (s *scan) actions(now, was understood) {
	had, trusted := map[string]bool{}, map[string]bool{}
	for _, m := range uses().FindAllSubmatchIndex(was.text, -1) {
		action := string(was.text[m[2]:m[3]])
		had[action] = true
		if name, pinned := pin(action, commitRef()); !pinned {
			trusted[name] = true
		}
	}
	for _, m := range uses().FindAllSubmatchIndex(now.text, -1) {
		action := string(now.text[m[2]:m[3]])
		name, pinned := pin(action, commitRef())
		if _, comment := now.around(m[0], m[1]); comment || pinned || had[action] {
			continue
		}
		h := doc.Hit{
			Rule: "ci/unpinned-action", Severity: doc.Block, Anywhere: true,
			Start: now.at[m[2]], End: now.at[m[3]], Match: []byte(action),
			Message: "an action that is not pinned to a commit: its owner can change what runs", Remedy: "write the full hash of a commit after the @",
		}
		if trusted[name] {
			h.Severity, h.Message = doc.Warn, "another version of an action that is not pinned to a commit"
		}
		s.list.Add(h)
	}
}

// pin returns an action without its version, and whether it can change: one of
// this tree cannot, nor one at a commit or an image by its digest.
func pin(action string, commit *regexp.Regexp) (name string, pinned bool) {
	if image, ok := strings.CutPrefix(action, "docker://"); ok {
		name, digest, _ := strings.Cut(image, "@sha256:")
		return name, commit.MatchString(digest)
	}
	if strings.HasPrefix(action, "./") && !strings.Contains(action, "..") {
		return action, true
	}
	name, ref, _ := strings.Cut(action, "@")
	return strings.ToLower(name), commit.MatchString(ref)
}
