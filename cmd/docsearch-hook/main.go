// Docsearch-hook handles hook events as "docsearch hook" does. It is a sixth of the size
// of docsearch, so it starts faster: of a large program, the Go runtime reads more pages.
//
//	docsearch-hook hook [--client NAME]
//
// Package startup answers before main. For the events that it leaves to main, and for all
// other commands, docsearch-hook runs the docsearch in its own folder. Without one, and if
// docsearch crashes, the tool call runs as usual. "docsearch-hook version" prints the
// version of docsearch-hook itself.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/docsearch/docsearch/internal/buildversion"
	"github.com/docsearch/docsearch/internal/hook"
	_ "github.com/docsearch/docsearch/internal/hook/crashguard" // keeps its crashes from denying tool calls
	"github.com/docsearch/docsearch/internal/hook/startup"      // handles most events before main
)

// version is set by release builds, as that of docsearch.
var version string

func main() {
	if len(os.Args) == 2 && os.Args[1] == "version" {
		fmt.Println("docsearch-hook", buildversion.Of(version))
		return
	}
	code, err := runDocsearch()
	if err != nil {
		fmt.Fprintf(os.Stderr, "docsearch: %v; the call runs as usual; install docsearch-hook and docsearch in the same folder\n", err)
	}
	os.Exit(code)
}

// runDocsearch runs docsearch with the arguments and the event of this process, and
// returns its exit code. With an error, the code is 0, because others may deny the call.
func runDocsearch() (code int, err error) {
	program, err := hook.Program()
	if err != nil {
		return 0, fmt.Errorf("cannot find docsearch: %w", err)
	}
	if isThisProgram(program) {
		return 0, fmt.Errorf("cannot run %s: it is docsearch-hook", program)
	}
	cmd := exec.Command(program, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if p := startup.Pending(); p != nil {
		p.Deadline.Stop() // docsearch has its own
		if p.Event != nil {
			cmd.Stdin = bytes.NewReader(p.Input)
		}
	}
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 0, fmt.Errorf("cannot run %s: %w", program, err)
	}
	return 0, nil
}

// isThisProgram reports whether a path leads to the file of this process, which would run
// itself without end.
func isThisProgram(path string) bool {
	own, err := os.Executable()
	if err != nil {
		return false
	}
	a, errA := os.Stat(own)
	b, errB := os.Stat(path)
	return errA == nil && errB == nil && os.SameFile(a, b)
}
