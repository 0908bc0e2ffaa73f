package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/shadow"
)

// hostVariables adds the variables of the user's own environment that their
// settings name to what they keep. A value of the vault goes before one of the
// environment; what is said of a name holds wherever its value comes from.
func (r *run) hostVariables(kept []Kept) []Kept {
	kept = r.withVariables(kept)
	for _, name := range r.Config.HostSecrets() {
		if !slices.ContainsFunc(kept, func(k Kept) bool { return k.Name == name && !k.Value.IsZero() }) {
			r.note(fmt.Sprintf("%s is set nowhere, so the agent has none: ftl.secrets names it", name))
		}
	}
	return kept
}

// withVariables is hostVariables without a word about those that are not set.
func (s *Session) withVariables(kept []Kept) []Kept {
	kept = slices.Clone(kept)
	for _, name := range s.Config.HostSecrets() {
		value, _ := s.variable(name)
		i := slices.IndexFunc(kept, func(k Kept) bool { return k.Name == name })
		switch {
		case value == "", i >= 0 && !kept[i].Value.IsZero():
		case i < 0:
			kept = append(kept, Kept{Name: name, Value: shadow.NewSecret(value)})
		default:
			kept[i].Value = shadow.NewSecret(value)
		}
	}
	return kept
}

// agentVariables are the variables that the agent gets as they are. One that looks
// like a secret it gets a shadow of.
func (r *run) agentVariables(kept []Kept) []Kept {
	for _, name := range r.Config.AgentEnv {
		value, set := r.variable(name)
		switch {
		case slices.ContainsFunc(kept, func(k Kept) bool { return k.Name == name && !k.Value.IsZero() }):
		case ownVariable(name):
			r.note(fmt.Sprintf("%s is the sandbox's own: ftl.agentEnv cannot set it", name))
		case !set:
			r.note(fmt.Sprintf("%s is set nowhere, so the agent has none: ftl.agentEnv names it", name))
		case shadow.Plain(name, value):
			r.secret.env = append(r.secret.env, name+"="+value)
		default:
			r.note(fmt.Sprintf("%s of ftl.agentEnv looks like a secret: the agent gets a shadow of it", name))
			kept = append(kept, Kept{Name: name, Value: shadow.NewSecret(value)})
		}
	}
	return kept
}

// variable is one of the user's own environment; the last of several counts.
func (s *Session) variable(name string) (value string, set bool) {
	for _, kv := range s.Env {
		if text, ok := strings.CutPrefix(kv, name+"="); ok {
			value, set = text, true
		}
	}
	return value, set
}

// ownVariable reports whether a sandbox sets a variable itself.
func ownVariable(name string) bool {
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "FTL_") ||
		slices.Contains([]string{"PATH", "HOME", "USER", "LOGNAME", "PWD", "SHELL", "TERM", "LANG"}, name)
}
