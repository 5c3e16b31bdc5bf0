package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// userMessage is the first line of an error's message, with the errors of Go's
// library that are in it as a user reads them: what failed, on what, and why.
func userMessage(err error) string {
	message, _, _ := strings.Cut(err.Error(), "\n")
	replace := func(inner error, text string) {
		message = strings.Replace(message, inner.Error(), text, 1)
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		replace(path, fmt.Sprintf("cannot %s %s: %s", syscallVerb(path.Op), path.Path, errnoReason(path.Err)))
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		replace(link, fmt.Sprintf("cannot write %s: %s", link.New, errnoReason(link.Err)))
	}
	var start *exec.Error
	if errors.As(err, &start) && errors.Is(start, exec.ErrNotFound) {
		replace(start, start.Name+" not found on PATH")
	}
	var connection *net.OpError
	if errors.As(err, &connection) && connection.Addr != nil {
		switch connection.Op {
		case "dial":
			replace(connection, fmt.Sprintf("cannot connect to %s: %s", connection.Addr, errnoReason(connection.Err)))
		case "listen":
			replace(connection, fmt.Sprintf("cannot listen on %s: %s", connection.Addr, errnoReason(connection.Err)))
		}
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && !strings.Contains(message, "invalid JSON") {
		replace(syntax, "invalid JSON: "+syntax.Error())
	}
	var number *strconv.NumError
	if errors.As(err, &number) {
		replace(number, fmt.Sprintf("invalid number %q", number.Num))
	}
	return message
}

// shortReason is the reason in an error of a file that the message names otherwise.
func shortReason(err error) string {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return errnoReason(path.Err)
	case errors.As(err, &link):
		return errnoReason(link.Err)
	}
	return userMessage(err)
}

// syscallVerb is what a system call was to do with a file.
func syscallVerb(op string) string {
	switch op {
	case "open", "openat", "read", "stat", "fstat", "lstat", "statat", "readlink", "readdir", "readdirent", "fdopendir", "GetFileInformationByHandle", "CreateFile", "FindFirstFile":
		return "read"
	case "mkdir", "mkdirat":
		return "create"
	case "remove", "unlink", "unlinkat", "rmdir":
		return "remove"
	case "lock":
		return "lock"
	}
	return "write"
}

// errnoReason says why a system call failed.
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
	var call *os.SyscallError
	if errors.As(err, &call) {
		return call.Err.Error()
	}
	return err.Error()
}
