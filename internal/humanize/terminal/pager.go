package terminal

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"golang.org/x/term"

	"github.com/docsearch/docsearch/internal/safetext"
)

// defaultPager ends at once if the text fits on the screen, keeps colors, and leaves
// the text on the screen.
const defaultPager = "less -FRX"

// ShowPaged writes a text to w. If w is a terminal with fewer lines, the text goes
// through the program in PAGER. If that program cannot run, the text is written as it
// is. To turn paging off, a user sets PAGER to "" or to cat.
func ShowPaged(w, stderr io.Writer, text []byte) error {
	if f, ok := terminalOf(w); ok && isLong(f, text) {
		if pager := pagerCommand(os.LookupEnv); pager != nil {
			shown := text
			if safe, ok := w.(*safetext.Writer); ok {
				shown = safe.Clean(text)
			}
			pager.Stdin, pager.Stdout, pager.Stderr = bytes.NewReader(shown), f, Stream(stderr)
			if err := pager.Start(); err == nil {
				// A user who leaves the pager early has seen enough.
				if err := pager.Wait(); !isMissingProgram(err) {
					return nil
				}
			}
		}
	}
	_, err := w.Write(text)
	return err
}

// isLong reports whether the text does not fit on the terminal f.
func isLong(f *os.File, text []byte) bool {
	if os.Getenv("TERM") == "dumb" {
		return false
	}
	_, height, err := term.GetSize(int(f.Fd()))
	return err == nil && height > 0 && bytes.Count(text, []byte("\n")) >= height
}

// pagerCommand returns the command in PAGER, or the default; nil if the user wants
// none. Like git, it runs PAGER in a shell, because it may have arguments.
func pagerCommand(lookup func(string) (string, bool)) *exec.Cmd {
	pager, isSet := lookup("PAGER")
	if pager = strings.TrimSpace(pager); isSet && (pager == "" || pager == "cat") {
		return nil
	}
	pager = cmp.Or(pager, defaultPager)
	var cmd *exec.Cmd
	if runtime.GOOS == "windows" {
		words := strings.Fields(pager)
		cmd = exec.Command(words[0], words[1:]...)
	} else {
		cmd = exec.Command("sh", "-c", pager)
	}
	if _, isSet := lookup("LESS"); !isSet {
		cmd.Env = append(os.Environ(), "LESS=FRX") // for PAGER=less
	}
	return cmd
}

// isMissingProgram reports whether a shell did not find or could not run the program.
func isMissingProgram(err error) bool {
	const notExecutable, notFound = 126, 127
	exit, ok := err.(*exec.ExitError)
	return ok && (exit.ExitCode() == notFound || exit.ExitCode() == notExecutable)
}
