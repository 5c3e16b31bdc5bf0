package shell

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A wrapper is a program that runs another one.
type wrapper struct {
	valued      string // short options with a value in the next word
	positionals int    // words before the command
}

// wrappers are the programs whose arguments are a command. Their options are those of GNU
// coreutils, findutils, sudo and OpenBSD's doas.
var wrappers = map[string]wrapper{
	"builtin": {}, "command": {}, "nohup": {}, "setsid": {}, "unbuffer": {},
	"chroot":  {positionals: 1},
	"doas":    {valued: "uC"},
	"env":     {valued: "uC"},
	"exec":    {valued: "a"},
	"ionice":  {valued: "cn"},
	"nice":    {valued: "n"},
	"stdbuf":  {valued: "ioe"},
	"sudo":    {valued: "ughpCTrtUDR"},
	"time":    {valued: "fo"},
	"timeout": {valued: "sk", positionals: 1},
	"watch":   {valued: "n"},
	"xargs":   {valued: "nILPsadE"},
}

// commandName returns the name of the program that a word runs, without its folder. It
// returns false if the word has other expansions than $(which NAME).
func commandName(word *syntax.Word) (string, bool) {
	if name, ok := lookedUp(word); ok {
		return name, true
	}
	text, ok := literal(word)
	if !ok || text == "" || strings.HasSuffix(text, "/") {
		return "", false
	}
	return path.Base(text), true
}

// lookedUp returns NAME for $(which NAME) and $(command -v NAME).
func lookedUp(word *syntax.Word) (string, bool) {
	parts := word.Parts
	if len(parts) == 1 {
		if quoted, ok := parts[0].(*syntax.DblQuoted); ok {
			parts = quoted.Parts
		}
	}
	if len(parts) != 1 {
		return "", false
	}
	substitution, ok := parts[0].(*syntax.CmdSubst)
	if !ok || len(substitution.Stmts) != 1 {
		return "", false
	}
	call, ok := substitution.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok {
		return "", false
	}
	var words []string
	for _, arg := range call.Args {
		text, ok := literal(arg)
		if !ok {
			return "", false
		}
		words = append(words, text)
	}
	switch {
	case len(words) == 2 && (words[0] == "which" || words[0] == "type"):
		return path.Base(words[1]), true
	case len(words) == 3 && (words[0] == "command" && words[1] == "-v" || words[0] == "type" && words[1] == "-p"):
		return path.Base(words[2]), true
	}
	return "", false
}

// wrapped returns the script or the command that a command runs. It returns "" and nil
// if it runs none.
func wrapped(name string, args []*syntax.Word) (script string, inner []*syntax.Word) {
	switch name {
	case "sh", "bash", "dash", "ksh", "zsh":
		return shellScript(args), nil
	case "eval":
		return joined(args), nil
	case "find":
		return "", executed(args)
	}
	w, ok := wrappers[name]
	if !ok {
		return "", nil
	}
	positionals := w.positionals
	for i := 0; i < len(args); i++ {
		text, ok := literal(args[i])
		switch {
		case ok && text == "--":
		case ok && name == "env" && (text == "-S" || text == "--split-string") && i+1 < len(args):
			return joined(args[i+1:]), nil
		case ok && strings.HasPrefix(text, "-"):
			if len(text) == 2 && strings.Contains(w.valued, text[1:]) {
				i++
			}
		case ok && (name == "env" || name == "sudo") && strings.Contains(text, "="):
		case positionals > 0:
			positionals--
		default:
			return "", args[i:]
		}
	}
	return "", nil
}

// shellScript returns the script of sh -c, also with other options, as in bash -lc.
func shellScript(args []*syntax.Word) string {
	for i, arg := range args {
		text, ok := literal(arg)
		if !ok || !strings.HasPrefix(text, "-") {
			return ""
		}
		if !strings.HasPrefix(text, "--") && strings.Contains(text, "c") && i+1 < len(args) {
			script, _ := literal(args[i+1])
			return script
		}
	}
	return ""
}

// executed returns the command of find -exec.
func executed(args []*syntax.Word) []*syntax.Word {
	for i, arg := range args {
		switch text, _ := literal(arg); text {
		case "-exec", "-execdir", "-ok", "-okdir":
			command := args[i+1:]
			for k, word := range command {
				if end, ok := literal(word); ok && (end == ";" || end == "+") {
					return command[:k]
				}
			}
			return command
		}
	}
	return nil
}

// joined returns the text of all words, or "" if one has an expansion.
func joined(args []*syntax.Word) string {
	var words []string
	for _, arg := range args {
		text, ok := literal(arg)
		if !ok {
			return ""
		}
		words = append(words, text)
	}
	return strings.Join(words, " ")
}

// literal returns the text of a word after the removal of quotes and backslashes. It
// returns false if the word has an expansion.
func literal(word *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, part := range word.Parts {
		if !addLiteral(&b, part, false) {
			return "", false
		}
	}
	return b.String(), true
}

func addLiteral(b *strings.Builder, part syntax.WordPart, quoted bool) bool {
	switch part := part.(type) {
	case *syntax.Lit:
		addUnescaped(b, part.Value, quoted)
		return true
	case *syntax.SglQuoted:
		b.WriteString(part.Value)
		return !part.Dollar
	case *syntax.DblQuoted:
		for _, p := range part.Parts {
			if !addLiteral(b, p, true) {
				return false
			}
		}
		return true
	}
	return false
}

// addUnescaped adds text without its escaping backslashes. In double quotes, a backslash
// escapes only some characters.
func addUnescaped(b *strings.Builder, text string, quoted bool) {
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (!quoted || strings.IndexByte("$`\"\\\n", text[i+1]) >= 0) {
			if i++; text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
}
