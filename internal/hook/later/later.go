// Package later answers the events of `docsearch hook` for which a rule needs
// a line of shell cut into its commands.
//
// The parser takes longer to initialise than the hook to run, but not as long
// as the rest of the program. As soon as the parser is ready, so is this
// package, by the order that package fast relies on, too.
package later

import (
	"os"

	"github.com/docsearch/docsearch/internal/hook/fast"
	"github.com/docsearch/docsearch/internal/hook/route/shell"
)

func init() {
	p := fast.Unfinished()
	if p == nil || !p.Left {
		return
	}
	p.Commands = shell.Commands
	if code, done := fast.Answer(p); done {
		os.Exit(code)
	}
}
