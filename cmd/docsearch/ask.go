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
)

// errInterrupted is of a user who has had enough.
var errInterrupted = errors.New("interrupted")

// An asker asks a person at a terminal. A nil asker takes every answer as it is
// proposed.
type prompter struct {
	in  *bufio.Reader
	out io.Writer
}

// newPrompter is nil unless a person is at the other end of in.
func newPrompter(in io.Reader, out io.Writer) *prompter {
	f, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &prompter{bufio.NewReader(f), out}
}

// ask asks for a line. An empty one is the proposed answer, and "-" is none.
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

// confirm asks for yes or no, until the answer is one of them.
func (a *prompter) confirm(ctx context.Context, question string, proposed bool) (bool, error) {
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

// readLine reads a line. It does not wait for one when the user interrupts the
// program; the goroutine that does ends with the process.
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
