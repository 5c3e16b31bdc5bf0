package main

import (
	"fmt"

	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/library"
)

// askerOf returns a prompter as an asker, or nil for a nil prompter.
func askerOf(p *terminal.Prompter) library.Asker {
	if p == nil {
		return nil
	}
	return p
}

// A console shows messages of the rooms on stderr.
type console struct{ *app }

func (c console) Warn(format string, args ...any) { c.warn(format, args...) }

func (c console) Report(err error) { report(c.stderr, err) }

func (c console) Say(format string, args ...any) { fmt.Fprintf(c.stderr, format+"\n", args...) }
