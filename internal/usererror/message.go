package usererror

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Message returns the first line of the error's message. It rewrites errors
// of Go's standard library for users: the failed operation, its object, and the
// reason.
func Message(err error) string {
	message, _, _ := strings.Cut(err.Error(), "\n")
	replace := func(inner error, text string) {
		message = strings.Replace(message, inner.Error(), text, 1)
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		replace(path, fmt.Sprintf("cannot %s %s: %s", syscallVerb(path.Op, path.Err), filepath.Clean(path.Path),
			errnoReason(path.Err)))
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		replace(link, fmt.Sprintf("cannot write %s: %s", filepath.Clean(link.New), errnoReason(link.Err)))
	}
	if start, ok := errors.AsType[*exec.Error](err); ok && errors.Is(start, exec.ErrNotFound) {
		replace(start, start.Name+" not found on PATH")
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		replace(request, request.Err.Error()) // callers name the server
	}
	connection, ok := errors.AsType[*net.OpError](err)
	if ok && connection.Op == "proxyconnect" {
		if dial, isDial := errors.AsType[*net.OpError](connection.Err); isDial {
			replace(connection, "no answer of the proxy: "+dial.Error())
			connection = dial
		}
	}
	if ok && connection.Addr != nil {
		switch connection.Op {
		case "dial":
			replace(connection, fmt.Sprintf("cannot connect to %s: %s", connection.Addr, errnoReason(connection.Err)))
		case "listen":
			replace(connection, fmt.Sprintf("cannot listen on %s: %s", connection.Addr, errnoReason(connection.Err)))
		}
	}
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		replace(lookup, fmt.Sprintf("cannot find the address of %s: %s", lookup.Name, lookup.Err))
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok && !strings.Contains(message, "invalid JSON") {
		replace(syntax, "invalid JSON: "+syntax.Error())
	}
	if number, ok := errors.AsType[*strconv.NumError](err); ok {
		replace(number, fmt.Sprintf("invalid number %q", number.Num))
	}
	return message
}

// IsUnreachable reports whether an error is that of a machine without a connection to the server:
// its name has no address, or it cannot be connected to.
func IsUnreachable(err error) bool {
	connection, ok := errors.AsType[*net.OpError](err)
	if ok && (connection.Op == "dial" || connection.Op == "proxyconnect") {
		return true
	}
	_, ok = errors.AsType[*net.DNSError](err)
	return ok
}

// Reason returns the reason of an error without the file name, for
// messages that already contain it.
func Reason(err error) string {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return errnoReason(path.Err)
	case errors.As(err, &link):
		return errnoReason(link.Err)
	}
	return Message(err)
}

// syscallVerb returns a verb for the operation of a system call that failed.
func syscallVerb(op string, err error) string {
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS} {
		if op == "open" && errors.Is(err, full) {
			return "write" // opening creates the file
		}
	}
	switch op {
	case "open", "openat", "read", "stat", "fstat", "lstat", "statat", "readlink", "readdir", "readdirent", "fdopendir",
		// os.Stat and os.ReadDir on Windows
		"CreateFile", "FindFirstFile", "GetFileAttributesEx", "GetFileInformationByHandle", "GetFileInformationByHandleEx",
		"GetFileType":
		return "read"
	case "mkdir", "mkdirat":
		return "create"
	case "remove", "unlink", "unlinkat", "rmdir":
		return "remove"
	case "lock", "sync":
		return op
	}
	return "write"
}

// errnoReason returns the reason why a system call failed.
func errnoReason(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no such file or folder"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case errors.Is(err, syscall.ENOTDIR):
		return "a part of the path is not a folder"
	case errors.Is(err, syscall.EISDIR):
		return "is a folder"
	case errors.Is(err, fs.ErrExist):
		return "already exists"
	}
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		return call.Err.Error()
	}
	return err.Error()
}
