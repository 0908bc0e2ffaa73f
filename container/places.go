package container

import "github.com/git-ftl/git-ftl/container/internal/wire"

// Places and the user of the agent inside every sandbox.
const (
	Workspace = wire.Workspace
	Home      = wire.Home
	User      = wire.User
)
