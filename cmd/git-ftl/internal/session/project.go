package session

import "context"

// Project is the random name of this repository on this machine, which secrets
// and trust are kept under. A clone or a copy has another one.
func (s *Session) Project(ctx context.Context) (string, error) { return s.owner(ctx) }
