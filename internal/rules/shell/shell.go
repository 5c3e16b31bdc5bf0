// Package shell finds the commands in a line of shell.
//
// The hook's fast path does not use it, because initializing the parser takes as long as
// the hook.
package shell

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxDepth limits the parser's recursion, which could otherwise overflow the stack and
// crash the program.
const maxDepth = 1000

// Commands returns the simple commands in a line of shell: in lists, pipelines and
// functions, in subshells and substitutions. Each is returned as written, with its
// redirections and without preceding variable assignments. Quoted text and comments are
// not commands.
func Commands(line string) ([]string, error) {
	if strings.Count(line, "(")+strings.Count(line, "{")+strings.Count(line, "`") > maxDepth {
		return nil, errors.New("too many parentheses, braces, and backquotes")
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, err
	}
	var commands []string
	syntax.Walk(file, func(n syntax.Node) bool {
		statement, ok := n.(*syntax.Stmt)
		if !ok {
			return true
		}
		call, ok := statement.Cmd.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		start, end := call.Args[0].Pos().Offset(), call.Args[len(call.Args)-1].End().Offset()
		for _, r := range statement.Redirs {
			end = max(end, r.Word.End().Offset())
		}
		commands = append(commands, line[start:end])
		return true
	})
	return commands, nil
}
