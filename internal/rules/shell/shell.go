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

const (
	// maxNesting limits the parser's recursion, which could otherwise overflow the stack
	// and crash the program.
	maxNesting = 1000
	// maxWrappers limits the commands within commands, such as sudo sh -c.
	maxWrappers = 8
)

// Commands returns the simple commands in a line of shell: in lists, pipelines and
// functions, in subshells and substitutions. Each is returned as written, with its
// redirections and without preceding variable assignments. Quoted text and comments are
// not commands.
//
// The commands that others run follow them: those after sudo, env or xargs, and those in
// the script of sh -c. A command whose name is quoted, escaped, a path or $(which NAME)
// is followed by a copy with the plain name.
func Commands(line string) ([]string, error) {
	var f finder
	if err := f.parse(line, 0); err != nil {
		return nil, err
	}
	return f.commands, nil
}

// A finder collects the commands in a line and in the scripts of its shells.
type finder struct {
	commands []string
}

// parse collects the commands in a line that is within depth other commands.
func (f *finder) parse(line string, depth int) error {
	if strings.Count(line, "(")+strings.Count(line, "{")+strings.Count(line, "`") > maxNesting {
		return errors.New("too many parentheses, braces, and backquotes")
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return err
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		statement, ok := n.(*syntax.Stmt)
		if !ok {
			return true
		}
		call, ok := statement.Cmd.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		end := call.Args[len(call.Args)-1].End().Offset()
		for _, r := range statement.Redirs {
			end = max(end, r.Word.End().Offset())
		}
		f.add(line[:end], call.Args, depth)
		return true
	})
	return nil
}

// add collects the command with the words args, which ends with the line, and the commands
// that it runs.
func (f *finder) add(line string, args []*syntax.Word, depth int) {
	written := line[args[0].Pos().Offset():]
	f.commands = append(f.commands, written)
	name, ok := commandName(args[0])
	if !ok {
		return
	}
	if rest := line[args[0].End().Offset():]; name+rest != written {
		f.commands = append(f.commands, name+rest)
	}
	if depth == maxWrappers {
		return
	}
	script, inner := wrapped(name, args[1:])
	if len(inner) > 0 {
		end := inner[len(inner)-1].End().Offset()
		if inner[len(inner)-1] == args[len(args)-1] {
			end = uint(len(line)) // with the redirections
		}
		f.add(line[:end], inner, depth+1)
	}
	if script != "" {
		// A script with a syntax error runs nothing, and is in the command as written.
		_ = f.parse(script, depth+1)
	}
}
