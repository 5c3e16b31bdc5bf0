package main

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
)

func TestPlain(t *testing.T) {
	dir := t.TempDir()
	_, absent := os.Open(filepath.Join(dir, "absent"))
	_, program := exec.LookPath("no-such-program")
	_, number := strconv.Atoi("x")
	_, refused := net.Dial("tcp", "127.0.0.1:1")
	for _, test := range []struct {
		err  error
		want string
	}{
		{errors.New("simple"), "simple"},
		{errors.New("first\nsecond"), "first"},
		{absent, "cannot read " + filepath.Join(dir, "absent") + ": no such file or folder"},
		{fmt.Errorf("docs: %w", absent), "docs: cannot read " + filepath.Join(dir, "absent") + ": no such file or folder"},
		{withHint(absent, "hint"), "cannot read " + filepath.Join(dir, "absent") + ": no such file or folder"},
		{&fs.PathError{Op: "lstat", Path: "/x", Err: syscall.EACCES}, "cannot read /x: permission denied"},
		{&fs.PathError{Op: "mkdir", Path: "/x", Err: syscall.EEXIST}, "cannot create /x: already exists"},
		{&fs.PathError{Op: "unlinkat", Path: "/x", Err: syscall.EACCES}, "cannot remove /x: permission denied"},
		{&fs.PathError{Op: "write", Path: "/x", Err: errors.New("full")}, "cannot write /x: full"},
		{&os.LinkError{Op: "rename", Old: "/y", New: "/x", Err: syscall.EACCES}, "cannot write /x: permission denied"},
		{program, "no-such-program not found on PATH"},
		{number, `invalid number "x"`},
		{json.Unmarshal([]byte("hello"), new(any)), "invalid JSON: invalid character 'h' looking for beginning of value"},
	} {
		if got := userMessage(test.err); got != test.want {
			t.Errorf("%v: %q, want %q", test.err, got, test.want)
		}
	}
	if got := userMessage(refused); !strings.HasPrefix(got, "cannot connect to 127.0.0.1:1: ") || strings.Contains(got, "dial") {
		t.Errorf("%v: %q", refused, got)
	}
}
