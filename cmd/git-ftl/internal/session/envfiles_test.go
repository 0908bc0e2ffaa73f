package session

import (
	"os"
	"path/filepath"
	"testing"
)

// TestReadEnv: what an agent gets shadows of is an env file of the repository, in
// whatever encoding and behind a link, and no other file.
func TestReadEnv(t *testing.T) {
	dir := t.TempDir()
	top := filepath.Join(dir, "top")
	for name, text := range map[string]string{
		"outside/.env": "A=1\n", "top/.env.real": "A=1\n", "top/sub/.env.deep": "A=1\n", "top/id_rsa": "A=1\n", "top/config/x": "",
		"top/.env.wide": "\xff\xfeA\x00=\x001\x00\n\x00", "top/.env.big-end": "\xfe\xff\x00A\x00=\x001\x00\n", "top/.env.odd": "\xff\xfeA",
		"top/.env.bom": "\xef\xbb\xbfA=1\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, test := range []struct {
		name, link, want string
		ok               bool
	}{
		{".env.real", "", "A=1\n", true},
		{".env.wide", "", "A=1\n", true},
		{".env.big-end", "", "A=1\n", true},
		{".env.odd", "", "", true},
		{".env.bom", "", "\ufeffA=1\n", true},
		{".env", ".env.real", "A=1\n", true},
		{"sub/.env", "../.env.real", "A=1\n", true},
		{".env.below", "sub/.env.deep", "A=1\n", true},
		{".env.twice", ".env", "", false},
		{".env.out", "../outside/.env", "", false},
		{".env.absolute", filepath.Join(top, ".env.real"), "", false},
		{".env.key", "id_rsa", "", false},
		{".env.folder", "config", "", false},
		{".env.gone", ".env.nowhere", "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.link != "" {
				if err := os.Symlink(filepath.FromSlash(test.link), filepath.Join(top, test.name)); err != nil {
					t.Skip("NOT RUN: no links here: ", err)
				}
			}
			got, ok := readEnv(root, test.name)
			if ok != test.ok || ok && string(got) != test.want {
				t.Errorf("%q %v, want %q %v", got, ok, test.want, test.ok)
			}
		})
	}
}
