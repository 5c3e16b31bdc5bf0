// Package shell finds the commands in a line of shell.
//
// No part of the hook's quick path: to initialise the parser takes as long as
// the hook.
package shell

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxDepth bounds what the parser's recursion can take of the stack, of which
// too much would end the program.
const maxDepth = 1000

// Commands cuts a line of shell into its simple commands, each as it is
// written, with its redirections and without the variables set before it: in
// lists, pipelines and functions, in subshells and substitutions. What is
// quoted or commented out is no command.
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
