// Package llm has a model write tests for a task, review a change, and answer
// questions about it.
//
// What a model is shown of a repository or a change is fenced as data, and what
// it says is foreign text: bounded, of a checked shape, with checked paths, and
// never run, applied or believed here. A fault is an error for a note; nothing
// waits longer than the time of one question.
package llm

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/llm/chat"
)

// Model does this package's work with one model. It is safe for concurrent use
// if Random is.
type Model struct {
	Client *chat.Client
	// Random is where fences come from, crypto/rand by default.
	Random io.Reader
	// Budget bounds the bytes of patch in one question, 120,000 by default: some
	// 40,000 tokens. A model with a small window needs less.
	Budget int
}

// Finding is something at a place in a change. Line is of the new file, 0 where
// there is none. Rule is empty in what a model found. Text from a model is to be
// escaped when it is shown.
type Finding struct {
	Rule     string `json:"rule,omitempty"`
	Severity string `json:"severity"` // a model's: high, medium or low
	Path     string `json:"path"`
	Line     int    `json:"line"`
	Message  string `json:"message"`
}

// FileChange is the change of one file as a git patch.
type FileChange struct {
	Path  string
	Patch string // empty of what has no text
}

// fence is what marks data: 128 random bits, so that no data can end itself.
func (m Model) fence() (fence, error) {
	source := m.Random
	if source == nil {
		source = rand.Reader
	}
	b := make([]byte, 16)
	if _, err := io.ReadFull(source, b); err != nil {
		return "", fmt.Errorf("make fence: %w", err)
	}
	return fence(hex.EncodeToString(b)), nil
}
