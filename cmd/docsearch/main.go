// Docsearch makes a coding agent answer from documentation on the user's own
// disk: as a hook that denies a web search with the local answer, as the MCP
// server that the denial points at, and as the commands that make, check and
// query the indexes of both.
package main

import (
	"context"
	"os"

	_ "github.com/docsearch/docsearch/internal/hook/crashguard" // keeps its crashes from being denials
	_ "github.com/docsearch/docsearch/internal/hook/startup"    // answers "docsearch hook" before main begins
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "hook" { // a signal ends it at once
		os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	ctx, interrupted := watchSignals()
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	os.Exit(interrupted(code))
}
