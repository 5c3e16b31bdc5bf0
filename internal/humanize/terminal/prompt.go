package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/docsearch/docsearch/internal/safetext"
	"github.com/docsearch/docsearch/internal/usererror"
)

// ErrInterrupted is returned when the user interrupts a prompt.
var ErrInterrupted = errors.New("interrupted")

// A Prompter prompts the user at a terminal. A nil prompter returns the default
// of each prompt.
type Prompter struct {
	In  *bufio.Reader
	Out io.Writer
}

// NewPrompter returns nil unless in is a terminal.
func NewPrompter(in io.Reader, out io.Writer) *Prompter {
	f, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &Prompter{bufio.NewReader(f), out}
}

// Ask prompts for a line. An empty line selects the proposed answer; "-"
// selects the empty one.
func (a *Prompter) Ask(ctx context.Context, question, proposed string) (string, error) {
	if a == nil {
		return proposed, nil
	}
	if proposed != "" {
		question += " [" + safetext.Printable(proposed) + "]"
	}
	fmt.Fprintf(a.Out, "%s: ", question)
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
func (a *Prompter) Confirm(ctx context.Context, question string, proposed bool) (bool, error) {
	if a == nil {
		return proposed, nil
	}
	choice := "[y/N]"
	if proposed {
		choice = "[Y/n]"
	}
	for {
		fmt.Fprintf(a.Out, "%s %s ", question, choice)
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

// MayAsk returns an error if there is no terminal to ask the question at, unless the user has
// agreed beforehand with --yes.
func (a *Prompter) MayAsk(question string, agreed bool) error {
	if a != nil || agreed {
		return nil
	}
	return usererror.WithHint(fmt.Errorf("cannot ask %q: stdin is not a terminal; nothing was downloaded or written",
		question), "pass --yes to agree")
}

// Agree is Confirm for what must not be done without the user's consent; see MayAsk.
func (a *Prompter) Agree(ctx context.Context, question string, agreed bool) (bool, error) {
	if err := a.MayAsk(question, agreed); err != nil {
		return false, err
	}
	return a.Confirm(ctx, question, true)
}

// readLine reads a line, or returns errInterrupted as soon as ctx is done. In
// that case the reading goroutine runs until the process exits.
func (a *Prompter) readLine(ctx context.Context) (string, error) {
	type result struct {
		line string
		err  error
	}
	read := make(chan result, 1)
	go func() {
		line, err := a.In.ReadString('\n')
		read <- result{line, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(a.Out)
		return "", ErrInterrupted
	case r := <-read:
		if r.err != nil {
			fmt.Fprintln(a.Out)
			return "", ErrInterrupted
		}
		return strings.TrimSpace(r.line), nil
	}
}
