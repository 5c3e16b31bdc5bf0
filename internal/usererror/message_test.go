package usererror

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/file/filelock"
	"github.com/docsearch/docsearch/internal/index/generation"
)

func TestMessage(t *testing.T) {
	dir := t.TempDir()
	_, absent := os.Open(filepath.Join(dir, "absent"))
	_, program := exec.LookPath("no-such-program")
	_, number := strconv.Atoi("x")
	_, refused := net.Dial("tcp", "127.0.0.1:1")
	separators := strings.NewReplacer("/x/docsearch", filepath.FromSlash("/x/docsearch"), "/x", filepath.FromSlash("/x"))
	for _, test := range []struct {
		err  error
		want string
	}{
		{errors.New("simple"), "simple"},
		{errors.New("first\nsecond"), "first"},
		{absent, "cannot read " + filepath.Join(dir, "absent") + ": no such file or folder"},
		{fmt.Errorf("docs: %w", absent), "docs: cannot read " + filepath.Join(dir, "absent") + ": no such file or folder"},
		{WithHint(absent, "hint"), "cannot read " + filepath.Join(dir, "absent") + ": no such file or folder"},
		{&fs.PathError{Op: "lstat", Path: "/x", Err: syscall.EACCES}, "cannot read /x: permission denied"},
		{&fs.PathError{Op: "GetFileAttributesEx", Path: "/x", Err: fs.ErrNotExist}, "cannot read /x: no such file or folder"},
		{&fs.PathError{Op: "mkdir", Path: "/x", Err: syscall.EEXIST}, "cannot create /x: already exists"},
		{&fs.PathError{Op: "unlinkat", Path: "/x", Err: syscall.EACCES}, "cannot remove /x: permission denied"},
		{&fs.PathError{Op: "write", Path: "/x", Err: errors.New("full")}, "cannot write /x: full"},
		{&os.LinkError{Op: "rename", Old: "/y", New: "/x", Err: syscall.EACCES}, "cannot write /x: permission denied"},
		{&fs.PathError{Op: "open", Path: "/x", Err: syscall.ENOSPC}, "cannot write /x: no space left on device"},
		{&fs.PathError{Op: "open", Path: "/x", Err: syscall.EROFS}, "cannot write /x: read-only file system"},
		{&fs.PathError{Op: "open", Path: "/x", Err: syscall.EIO}, "cannot read /x: input/output error"},
		{&fs.PathError{Op: "sync", Path: "/x/.", Err: syscall.EIO}, "cannot sync /x: input/output error"},
		{&generation.LateError{Err: &fs.PathError{Op: "sync", Path: "/x/docsearch", Err: syscall.EIO}}, "the new index is in use, but cannot sync /x/docsearch: input/output error"},
		{program, "no-such-program not found on PATH"},
		{number, `invalid number "x"`},
		{json.Unmarshal([]byte("hello"), new(any)), "invalid JSON: invalid character 'h' looking for beginning of value"},
	} {
		want := separators.Replace(test.want)
		if got := Message(test.err); got != want {
			t.Errorf("%v: %q, want %q", test.err, got, want)
		}
	}
	proxy := &net.OpError{Op: "proxyconnect", Net: "tcp", Err: refused}
	if got := Message(proxy); !strings.HasPrefix(got, "no answer of the proxy: cannot connect to 127.0.0.1:1: ") || !IsUnreachable(proxy) {
		t.Errorf("%v: %q", proxy, got)
	}
	if got := Message(refused); !strings.HasPrefix(got, "cannot connect to 127.0.0.1:1: ") || strings.Contains(got, "dial") {
		t.Errorf("%v: %q", refused, got)
	}
}

// Whatever prevents a file from being written, the message says so, and names that file.
func TestWriteErrors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	defer func() { atomicfile.Fault = nil }()
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EACCES, syscall.EIO} {
		for _, op := range []string{"create", "write", "sync", "rename"} {
			atomicfile.Fault = func(o, name string) error {
				if o == op {
					return errno
				}
				return nil
			}
			err := atomicfile.Write(path, nil, 0o600)
			atomicfile.Fault = nil
			if want := fmt.Sprintf("cannot write %s: %s", path, errnoReason(errno)); err == nil || Message(err) != want {
				t.Errorf("%s fails: %v, want %q", op, err, want)
			}
		}
	}
	absent := filepath.Join(dir, "absent", "f")
	for name, open := range map[string]func() error{
		"lock":   func() error { _, err := filelock.TryLock(absent); return err },
		"create": func() error { _, err := confined.In(dir).Join("absent/f").Create(0o600); return err },
		"edit":   func() error { _, err := confined.In(dir).Join("absent/f").Edit(0o600); return err },
		"append": func() error {
			_, err := confined.OpenFile(absent, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
			return err
		},
	} {
		if err := open(); err == nil || !strings.HasPrefix(Message(err), "cannot write ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
