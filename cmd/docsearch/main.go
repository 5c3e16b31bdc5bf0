//go:build !generate

// Docsearch makes a coding agent use documentation on the user's own disk. It
// is a hook that denies a web search with the local answer, an MCP server that
// the denial refers to, and a set of commands that build, check and search the
// indexes of both.
package main

import (
	"context"
	"os"

	_ "github.com/docsearch/docsearch/internal/hook/crashguard" // keeps its crashes from denying tool calls
	_ "github.com/docsearch/docsearch/internal/hook/startup"    // handles "docsearch hook" before main
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "hook" { // a signal ends it immediately
		os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	ctx, interrupted := watchSignals()
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	os.Exit(interrupted(code))
}
