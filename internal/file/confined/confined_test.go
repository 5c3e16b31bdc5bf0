package confined

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/file/filetest"
)

// A place has a folder to work in, and a folder next to it that must stay
// unchanged.
type place struct {
	*testing.T
	in, out string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	dir := t.TempDir()
	p := &place{t, filepath.Join(dir, "in"), filepath.Join(dir, "out")}
	for _, dir := range []string{p.in, filepath.Join(p.in, "sub"), p.out} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.write(filepath.Join(p.in, "file"), "inside")
	p.write(filepath.Join(p.out, "file"), "outside")
	p.link(p.out, "folder-link")
	p.link(filepath.Join(p.out, "file"), "file-link")
	p.link(filepath.Join("..", "out", "absent"), "dangling-link")
	p.link("file", "inner-link")
	return p
}

func (p *place) write(path, contents string) {
	p.Helper()
	if err := os.WriteFile(path, []byte(contents), 0o644); err != nil {
		p.Fatal(err)
	}
}

func (p *place) link(target, name string) {
	p.Helper()
	filetest.Symlink(p, target, filepath.Join(p.in, name))
}

// untouched fails the test unless the outside is as it was.
func (p *place) untouched() {
	p.Helper()
	entries, err := os.ReadDir(p.out)
	if err != nil || len(entries) != 1 {
		p.Fatalf("outside: %v, %v", entries, err)
	}
	if data, err := os.ReadFile(filepath.Join(p.out, "file")); err != nil || string(data) != "outside" {
		p.Fatalf("outside: %q, %v", data, err)
	}
}

func TestNothingLeadsOut(t *testing.T) {
	for name, op := range map[string]func(Path) error{
		"Open": func(p Path) error {
			f, err := p.Open()
			if err == nil {
				f.Close()
			}
			return err
		},
		"Read":       func(p Path) error { _, err := p.Read(100); return err },
		"Create":     func(p Path) error { _, err := p.Create(0o644); return err },
		"Edit":       func(p Path) error { _, err := p.Edit(0o644); return err },
		"ReadDir":    func(p Path) error { _, err := p.ReadDir(); return err },
		"OpenFolder": func(p Path) error { _, err := p.OpenFolder(); return err },
		"MakeFolder": func(p Path) error { return p.MakeFolder(0o755) },
		"Sync":       Path.Sync,
		"Chmod":      func(p Path) error { return p.Chmod(0o600) },
	} {
		for _, link := range []string{"folder-link", "file-link", "dangling-link", "folder-link/file", "folder-link/new"} {
			t.Run(name+" "+link, func(t *testing.T) {
				p := newPlace(t)
				if err := op(In(p.in).Join(link)); err == nil {
					t.Error("no error")
				}
				p.untouched()
			})
		}
	}
}

func TestLinksAreNamed(t *testing.T) {
	p := newPlace(t)
	for name, want := range map[string]string{"folder-link/file": "folder-link", "file-link": "file-link"} {
		_, err := In(p.in).Join(name).Read(100)
		var path *fs.PathError
		if !errors.Is(err, ErrLink) || !errors.As(err, &path) || path.Path != filepath.Join(p.in, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// An error of the system contains the path of the file.
	if _, err := In(p.in).Join("sub/absent").Open(); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), filepath.Join(p.in, "sub", "absent")) {
		t.Error(err)
	}
}

// Replacing or removing a link does not change its target.
func TestLinksAreReplaced(t *testing.T) {
	for name, op := range map[string]func(Path) error{
		"Write":      func(p Path) error { return p.Write([]byte("new"), 0o644) },
		"WriteCache": func(p Path) error { return p.WriteCache([]byte("new"), 0o644) },
		"Remove":     Path.Remove,
		"RemoveAll":  Path.RemoveAll,
		"Rename":     func(p Path) error { return In(p.Dir).Join("file").Rename(p) },
	} {
		for _, link := range []string{"folder-link", "file-link", "dangling-link"} {
			t.Run(name+" "+link, func(t *testing.T) {
				p := newPlace(t)
				if err := op(In(p.in).Join(link)); err != nil {
					t.Error(err)
				}
				if st, err := os.Lstat(filepath.Join(p.in, link)); err == nil && st.Mode()&fs.ModeSymlink != 0 {
					t.Error("the link is still there")
				}
				p.untouched()
			})
		}
	}
	p := newPlace(t)
	p.link(p.out, filepath.Join("sub", "link"))
	if err := In(p.in).Join("sub").RemoveAll(); err != nil {
		t.Error(err)
	}
	p.untouched()
}

func TestEdit(t *testing.T) {
	p := newPlace(t)
	f, err := In(p.in).Join("new").Edit(0o600)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if st, err := os.Stat(filepath.Join(p.in, "new")); err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st, err)
	}
	if f, err = In(p.in).Join("file").Edit(0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("INS"), 0); err != nil {
		t.Error(err)
	}
	f.Close()
	if data, err := os.ReadFile(filepath.Join(p.in, "file")); err != nil || string(data) != "INSide" {
		t.Errorf("%q, %v", data, err)
	}
	for _, name := range []string{"inner-link", "sub"} {
		if f, err := In(p.in).Join(name).Edit(0o600); err == nil {
			f.Close()
			t.Errorf("%s was opened for writing", name)
		}
	}
}

func TestOpenFile(t *testing.T) {
	p := newPlace(t)
	for _, name := range []string{"folder-link", "file-link", "dangling-link", "inner-link", "sub"} {
		for _, flag := range []int{os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_APPEND | os.O_CREATE, os.O_WRONLY} {
			if f, err := OpenFile(filepath.Join(p.in, name), flag, 0o600); err == nil {
				f.Close()
				t.Errorf("%s was opened", name)
			}
		}
	}
	p.untouched()
	// A link in the path to the folder is the user's own.
	f, err := OpenFile(filepath.Join(p.in, "folder-link", "new"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

// A named pipe does not block, wherever it is.
func TestNamedPipes(t *testing.T) {
	p := newPlace(t)
	pipe := filepath.Join(p.in, "pipe")
	if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, out)
	}
	for name, op := range map[string]func() (*os.File, error){
		"Open":               In(p.in).Join("pipe").Open,
		"Edit":               func() (*os.File, error) { return In(p.in).Join("pipe").Edit(0o600) },
		"Open below":         In(pipe).Join("file").Open,
		"Create below":       func() (*os.File, error) { return In(pipe).Join("file").Create(0o600) },
		"OpenFile to read":   func() (*os.File, error) { return OpenFile(pipe, os.O_RDONLY, 0) },
		"OpenFile to append": func() (*os.File, error) { return OpenFile(pipe, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600) },
		"OpenFile for both":  func() (*os.File, error) { return OpenFile(pipe, os.O_RDWR, 0) },
	} {
		if f, err := op(); err == nil {
			f.Close()
			t.Errorf("%s: no error", name)
		}
	}
}

func TestReadTooLong(t *testing.T) {
	p := newPlace(t)
	file := In(p.in).Join("file")
	if data, err := file.Read(6); err != nil || string(data) != "inside" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := file.Read(5); !errors.Is(err, atomicfile.ErrTooLong) {
		t.Errorf("%v, want ErrTooLong", err)
	}
}

func TestPaths(t *testing.T) {
	p := In("dir").Join("a").Join("b.txt")
	if p != (Path{"dir", "a/b.txt"}) || p.Parent() != (Path{"dir", "a"}) || p.Parent().Parent() != In("dir") || p.Base() != "b.txt" || In("dir").Base() != "." {
		t.Errorf("%+v", p)
	}
	if got, want := p.String(), filepath.Join("dir", "a", "b.txt"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Of("file"); got != (Path{".", "file"}) {
		t.Errorf("%+v", got)
	}
}
