package snapshot

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
)

// Letters of an ID: none is a hexadecimal digit or a number, so that no ID can
// be taken for a commit.
const letters = "klmnopqrstuvwxyz"

// minID is the shortest ID, maxID the longest one that is looked for.
const (
	minID = 4
	maxID = 32
)

// NewID returns a random ID of four letters k to z for which taken is false, a
// longer one where short ones are rare. Errors: no randomness, or all taken.
func NewID(taken func(string) bool) (string, error) {
	for n := minID; n <= maxID; n++ {
		for range 4 {
			raw := make([]byte, n)
			if _, err := rand.Read(raw); err != nil {
				return "", fmt.Errorf("draw id: %w", err)
			}
			for i, b := range raw {
				raw[i] = letters[int(b)%len(letters)]
			}
			if id := string(raw); !taken(id) {
				return id, nil
			}
		}
	}
	return "", errors.New("draw id: all are taken")
}

func validID(id string) bool {
	return len(id) >= minID && len(id) <= maxID && strings.Trim(id, letters) == ""
}
