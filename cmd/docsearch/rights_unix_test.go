//go:build !windows

package main

import (
	"archive/zip"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A user who may not read the source of a database may not read the database
// either.
func TestRights(t *testing.T) {
	usualUmask(t)
	const secret = "# Passphrase\n\nThe passphrase of the kettle is a long one, and nobody else's business.\n"
	write := func(t *testing.T, path string, perm fs.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(secret), perm); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		source func(t *testing.T, dir string) string
		want   fs.FileMode
	}{
		"for all": {func(t *testing.T, dir string) string { write(t, filepath.Join(dir, "a.md"), 0o644); return dir }, 0o644},
		"one file of many": {func(t *testing.T, dir string) string {
			write(t, filepath.Join(dir, "a.md"), 0o644)
			write(t, filepath.Join(dir, "b", "c.md"), 0o600)
			return dir
		}, 0o600},
		"a single file": {func(t *testing.T, dir string) string {
			write(t, filepath.Join(dir, "a.md"), 0o600)
			return filepath.Join(dir, "a.md")
		}, 0o600},
		"the user's group": {func(t *testing.T, dir string) string { write(t, filepath.Join(dir, "a.md"), 0o640); return dir }, 0o640},
		"a folder within": {func(t *testing.T, dir string) string {
			write(t, filepath.Join(dir, "b", "c.md"), 0o644)
			if err := os.Chmod(filepath.Join(dir, "b"), 0o700); err != nil {
				t.Fatal(err)
			}
			return dir
		}, 0o600},
		"the folder": {func(t *testing.T, dir string) string {
			write(t, filepath.Join(dir, "a.md"), 0o644)
			if err := os.Chmod(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			return dir
		}, 0o600},
		"an archive": {func(t *testing.T, dir string) string {
			path := filepath.Join(dir, "docs.zip")
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			z := zip.NewWriter(f)
			w, err := z.Create("docs/a.md")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write([]byte(secret)); err != nil {
				t.Fatal(err)
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			return path
		}, 0o600},
	} {
		t.Run(name, func(t *testing.T) {
			root, data := t.TempDir(), t.TempDir()
			for _, dir := range []string{root, data} { // parent folders, which MkdirTemp creates with 0700
				if err := os.Chmod(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			dir := filepath.Join(root, "docs")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			source := tt.source(t, dir)
			b := newBuilder(t, source, filepath.Join(data, "db"), "DOCSEARCH_DATA="+data)
			run := func(args ...string) {
				t.Helper()
				if out, err := b.docsearch(t.Context(), args...).CombinedOutput(); err != nil {
					t.Fatalf("%v: %v\n%s", args, err, out)
				}
			}
			run("index", "build", source, "--name", "db")
			b.checkPermissions(t, tt.want)
			write(t, filepath.Join(dir, "more.md"), 0o644)
			run("update", "db")
			b.checkPermissions(t, tt.want)
		})
	}
}

// checkPermissions fails the test unless each file of the database that
// contains source text has these permissions, and no other file has more.
func (b *builder) checkPermissions(t *testing.T, want fs.FileMode) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files++
		if have := info.Mode().Perm(); have != want && !strings.HasSuffix(path, ".lock") || have&^want != 0 {
			t.Errorf("%s has %v, want %v", path, have, want)
		}
		return nil
	})
	if err != nil || files < 6 {
		t.Errorf("%d files, %v", files, err)
	}
}

// If the source becomes private, so does the database, even if its text is
// unchanged.
func TestRightsAreRevoked(t *testing.T) {
	usualUmask(t)
	b := folderBuilder(t)
	b.writeEdition(t, 0)
	if err := os.Chmod(filepath.Dir(b.source), 0o755); err != nil {
		t.Fatal(err)
	}
	b.build(t)
	b.checkPermissions(t, 0o644)
	if err := os.Chmod(filepath.Join(b.source, "3.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := b.docsearch(t.Context(), "update", b.dir).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "no changes") {
		t.Fatalf("%v\n%s", err, out)
	}
	b.checkPermissions(t, 0o600)
	if err := os.Chmod(filepath.Join(b.source, "3.md"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.writeEdition(t, 1)
	if out, err := b.docsearch(t.Context(), "update", b.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b.checkPermissions(t, 0o644)
	b.check(t)
}

// The files that docsearch adds to LEANN's passages have the same permissions,
// and at most those that the umask allows.
func TestRightsOfLEANN(t *testing.T) {
	usualUmask(t)
	b := leannBuilder(t)
	b.writeEdition(t, 0)
	passages := filepath.Join(b.dir, "passages.jsonl")
	if err := os.Chmod(passages, 0o600); err != nil {
		t.Fatal(err)
	}
	b.build(t)
	b.checkPermissions(t, 0o600)
	if err := os.Chmod(passages, 0o644); err != nil {
		t.Fatal(err)
	}
	syscall.Umask(0o027)
	b.build(t)
	if err := os.Chmod(passages, 0o640); err != nil {
		t.Fatal(err)
	}
	b.checkPermissions(t, 0o640)
}

// usualUmask sets the common default umask.
func usualUmask(t *testing.T) {
	old := syscall.Umask(0o022)
	t.Cleanup(func() { syscall.Umask(old) })
}
