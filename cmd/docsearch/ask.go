package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/docsearch/docsearch/internal/library"
)

// errInterrupted is returned when the user interrupts a prompt.
var errInterrupted = errors.New("interrupted")

// A prompter prompts the user at a terminal. A nil prompter returns the default
// of each prompt.
type prompter struct {
	in  *bufio.Reader
	out io.Writer
}

// newPrompter returns nil unless in is a terminal.
func newPrompter(in io.Reader, out io.Writer) *prompter {
	f, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &prompter{bufio.NewReader(f), out}
}

// orNil returns the prompter, or no asker for a nil prompter.
func (a *prompter) orNil() library.Asker {
	if a == nil {
		return nil
	}
	return a
}

// ask prompts for a line. An empty line selects the proposed answer; "-"
// selects the empty one.
func (a *prompter) ask(ctx context.Context, question, proposed string) (string, error) {
	if a == nil {
		return proposed, nil
	}
	if proposed != "" {
		question += " [" + printable(proposed) + "]"
	}
	fmt.Fprintf(a.out, "%s: ", question)
	answer, err := a.readLine(ctx)
	switch {
	case err != nil:
		return "", err
	case answer == "":
		return proposed, nil
	case answer == "-":
		return "", nil
	}
	return answer, nil
}

// Confirm prompts until the answer is yes or no.
func (a *prompter) Confirm(ctx context.Context, question string, proposed bool) (bool, error) {
	if a == nil {
		return proposed, nil
	}
	choice := "[y/N]"
	if proposed {
		choice = "[Y/n]"
	}
	for {
		fmt.Fprintf(a.out, "%s %s ", question, choice)
		answer, err := a.readLine(ctx)
		if err != nil {
			return false, err
		}
		switch strings.ToLower(answer) {
		case "":
			return proposed, nil
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
	}
}

// readLine reads a line, or returns errInterrupted as soon as ctx is done. In
// that case the reading goroutine runs until the process exits.
func (a *prompter) readLine(ctx context.Context) (string, error) {
	type result struct {
		line string
		err  error
	}
	read := make(chan result, 1)
	go func() {
		line, err := a.in.ReadString('\n')
		read <- result{line, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(a.out)
		return "", errInterrupted
	case r := <-read:
		if r.err != nil {
			fmt.Fprintln(a.out)
			return "", errInterrupted
		}
		return strings.TrimSpace(r.line), nil
	}
}

// A console shows messages of the rooms on stderr.
type console struct{ *app }

func (c console) Warn(format string, args ...any) { c.warn(format, args...) }

func (c console) Report(err error) { report(c.stderr, err) }

func (c console) Say(format string, args ...any) { fmt.Fprintf(c.stderr, format+"\n", args...) }
