//go:build linux || netbsd || openbsd

package vault

import (
	"errors"
	"fmt"
	"strings"

	"github.com/godbus/dbus/v5"
)

// reachable gives ErrNoBus where there is no session bus. Asking first keeps the
// library from starting a bus of its own, which nobody would end and where every
// keyring is empty.
func reachable() error {
	bus, err := dbus.SessionBusPrivateNoAutoStartup()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoBus, err)
	}
	defer bus.Close()
	if err := errors.Join(bus.Auth(nil), bus.Hello()); err != nil {
		return fmt.Errorf("%w: %w", ErrNoBus, err)
	}
	return nil
}

// sealed reports whether a keyring could only be read by way of a prompt. It asks
// for the collections that the library may read from, in its order.
func sealed() bool {
	bus, err := dbus.SessionBusPrivateNoAutoStartup()
	if err != nil {
		return false
	}
	defer bus.Close()
	if bus.Auth(nil) != nil || bus.Hello() != nil {
		return false
	}
	for _, path := range []dbus.ObjectPath{"/org/freedesktop/secrets/collection/login", "/org/freedesktop/secrets/aliases/default"} {
		v, err := bus.Object("org.freedesktop.secrets", path).GetProperty("org.freedesktop.Secret.Collection.Locked")
		if err == nil {
			locked, _ := v.Value().(bool)
			return locked
		}
	}
	return false
}

// unanswered reports whether an error of the bus says that no Secret Service
// with a collection is there, by its D-Bus name.
func unanswered(err error) bool {
	var e dbus.Error
	if !errors.As(err, &e) {
		return false
	}
	name := strings.TrimPrefix(e.Name, "org.freedesktop.")
	for _, gone := range []string{
		"DBus.Error.ServiceUnknown", "DBus.Error.NameHasNoOwner", "DBus.Error.Spawn.",
		"DBus.Error.UnknownObject", "DBus.Error.UnknownMethod", "Secret.Error.NoSuchObject",
	} {
		if strings.HasPrefix(name, gone) {
			return true
		}
	}
	return false
}
