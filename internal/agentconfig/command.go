package agentconfig

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// The forms of the hook's command. The exit code of each is 0, whatever
// becomes of the program: clients read a decision from standard output, while
// exit code 2 denies the tool call, and it is also the code with which a Go
// program ends that gets no memory or no thread before main begins, and with
// which dash and busybox end that cannot fork.
//
// None of them has a list of arguments, which Claude Code ignored before
// 2.1.139.
const (
	// posixForm is for sh. The trap also ends a shell that cannot fork, which
	// "|| true" and "; exit 0" do not. Measured, it costs nothing in dash, and
	// .25 of an empty program in bash, which would otherwise exec its last
	// command.
	posixForm = "trap 'exit 0' EXIT; %s hook"
	// windowsForm is for Git Bash and, where that is missing, PowerShell.
	windowsForm = "%s hook; exit 0"
	// sharedForm is for a file that people on several systems use. PowerShell
	// takes all up to the second \" for one string and assigns it to x. To sh,
	// \" is an argument.
	sharedForm = `set x \"; trap 'exit 0' EXIT; : \"; %s hook; exit 0`
)

// commandForm is the form of the hook's command in the settings of a scope.
func commandForm(s Scope) string {
	switch {
	case s == Project:
		return sharedForm
	case runtime.GOOS == "windows":
		return windowsForm
	}
	return posixForm
}

// HookCommand is the command of the hook in the settings of a scope.
func HookCommand(s Scope, program string) string {
	return strings.Replace(commandForm(s), "%s", quote(program), 1)
}

// harmless reports whether the exit code of a command is always 0 on this
// system: whether it is of one of the forms for it. Variables that are set
// before the program do not count, nor does what follows its "hook".
func harmless(command string) bool {
	forms := []string{posixForm, sharedForm}
	if runtime.GOOS == "windows" {
		forms = append(forms, windowsForm)
	}
	return slices.ContainsFunc(forms, func(form string) bool {
		_, ok := matchForm(command, form)
		return ok
	})
}

// programPart is what of a command runs the program: all of it, or what stands
// for it in one of the forms; false if the command is neither.
func programPart(command string) (part string, ok bool) {
	for _, form := range []string{"%s hook", posixForm, windowsForm, sharedForm} {
		if part, ok := matchForm(command, form); ok {
			return part, true
		}
	}
	return "", false
}

// matchForm is what stands for "%s hook" in a command of the form.
func matchForm(command, form string) (part string, ok bool) {
	before, after, _ := strings.Cut(form, "%s hook")
	part, begins := strings.CutPrefix(command, before)
	part, ends := strings.CutSuffix(part, after)
	return part, begins && ends && isSimple(part)
}

// isSimple reports whether a line of shell is one simple command that runs
// docsearch's hook.
func isSimple(line string) bool {
	r, ok := findHook(line)
	return ok && r.end > 0 && r.via == "" && !slices.ContainsFunc(lex(line), func(t token) bool { return t.operator })
}

// A hookRun is how a line of shell runs docsearch's hook.
type hookRun struct {
	program string // the word that names docsearch: a path, a name, a package
	// start and end are where that word stands in the line, quotes included; 0
	// if it does not stand there itself, but in a variable or in a script
	// within quotes.
	start, end int
	// via is what runs the program in place of the shell, as npx or sh, or
	// has the shell find another, as "PATH=..."; "" if nothing does.
	via string
	// otherCommand is another command that the line runs; "" if it runs none.
	otherCommand string
	// python says that the program is the hook that was written in Python.
	python bool
}

// findHook finds the run of docsearch's hook in a line for sh or PowerShell. It
// does not parse either language: it looks for a word that names docsearch and
// is followed by the word hook, in lists, pipelines, subshells and quoted
// scripts, with variables replaced that the line itself sets.
func findHook(line string) (hookRun, bool) { return findHookIn(line, 0) }

// maxNested is how many scripts within scripts are looked into.
const maxNested = 4

func findHookIn(line string, nested int) (found hookRun, ok bool) {
	variables := map[string]string{}
	beside := ""
	for _, command := range splitCommands(lex(line)) {
		words := expand(command, variables)
		run, runs := hookOf(words, nested)
		switch {
		case runs && !ok:
			if path, set := variables["PATH"]; set && run.via == "" && isBareName(run.program) {
				run.via = "PATH=" + path
			}
			found, ok = run, true
		case !runs && beside == "" && len(words) > 0 && !hasNoEffect(words):
			beside = words[0].text
		}
	}
	if ok && found.otherCommand == "" {
		found.otherCommand = beside
	}
	return found, ok
}

// hookOf finds the run of the hook in one simple command.
func hookOf(words []token, nested int) (hookRun, bool) {
	via := ""
	for i, w := range words {
		switch {
		case isDocsearch(w.text) && firstArgument(words[i+1:]) == "hook":
			return hookRun{program: w.text, start: w.start, end: w.end, via: via}, true
		case strings.EqualFold(filepath.Base(filepath.ToSlash(w.text)), "docsearch.py"):
			return hookRun{program: w.text, via: via, python: true}, true
		case strings.ContainsAny(w.text, " \t\n;") && nested < maxNested:
			if run, ok := findHookIn(w.text, nested+1); ok {
				run.start, run.end, run.via = 0, 0, words[0].text
				return run, true
			}
		}
		if via == "" && (!isCommandPrefix(w.text) || strings.HasPrefix(w.text, "PATH=")) {
			via = w.text
		}
	}
	return hookRun{}, false
}

// isBareName reports whether a program is looked up on PATH.
func isBareName(program string) bool { return !strings.ContainsAny(program, `/\`) }

// firstArgument is the first of words that is not an option.
func firstArgument(words []token) string {
	for _, w := range words {
		if !strings.HasPrefix(w.text, "-") {
			return w.text
		}
	}
	return ""
}

// isCommandPrefix reports whether a word before a command leaves it what it is.
func isCommandPrefix(word string) bool {
	switch word {
	case "exec", "command", "env", "nohup", ".", "{", "}", "!", "if", "then", "else", "do", "time":
		return true
	}
	return assignment(word) || strings.HasPrefix(word, "-")
}

// hasNoEffect reports whether a command is one of the shell's own that does
// nothing to the machine.
func hasNoEffect(words []token) bool {
	if slices.ContainsFunc(words, func(w token) bool { return strings.HasPrefix(w.text, ">") }) {
		return false
	}
	switch words[0].text {
	case "trap", "exit", "true", "false", ":", "set", "cd", "export", "unset", "umask", "[", "test", "return", "wait", "then", "else", "fi", "if", "do", "done", "{", "}", "!":
		return true
	}
	return strings.HasPrefix(words[0].text, "$env:")
}

// expand drops the variables that are set before a command, and replaces those
// that the line has set.
func expand(command []token, variables map[string]string) []token {
	words := make([]token, 0, len(command))
	for _, w := range command {
		if name, value, _ := strings.Cut(w.text, "="); len(words) == 0 && assignment(w.text) {
			variables[name] = value
			continue
		}
		if name, ok := strings.CutPrefix(w.text, "$"); ok {
			if value, ok := variables[strings.Trim(name, "{}")]; ok {
				w = token{text: value}
			}
		}
		words = append(words, w)
	}
	return words
}

// A token is a word of a line of shell, or an operator between commands.
type token struct {
	text       string // without quotes
	start, end int    // in the line, quotes included
	operator   bool
}

// splitCommands cuts tokens into simple commands.
func splitCommands(tokens []token) [][]token {
	var commands [][]token
	begun := 0
	for i, t := range tokens {
		if t.operator {
			commands = append(commands, tokens[begun:i])
			begun = i + 1
		}
	}
	return append(commands, tokens[begun:])
}

// lex cuts a line of shell into tokens. A backslash that quotes nothing stands
// for itself, as in a path on Windows.
func lex(line string) []token {
	const operators, blanks = ";&|()`\n", " \t\r"
	var tokens []token
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case strings.IndexByte(blanks, c) >= 0:
			i++
		case strings.IndexByte(operators, c) >= 0:
			tokens = append(tokens, token{line[i : i+1], i, i + 1, true})
			i++
		case c == '#':
			if n := strings.IndexByte(line[i:], '\n'); n >= 0 {
				i += n
			} else {
				i = len(line)
			}
		default:
			t := wordAt(line, i, operators+blanks)
			tokens = append(tokens, t)
			i = t.end
		}
	}
	return tokens
}

// wordAt reads the word that begins at start, up to one of the bytes in stop or
// a redirection.
func wordAt(line string, start int, stop string) token {
	var b strings.Builder
	quoted := byte(0)
	i := start
	for ; i < len(line); i++ {
		c := line[i]
		switch {
		case quoted == 0 && (strings.IndexByte(stop, c) >= 0 || i > start && (c == '<' || c == '>')):
			return token{b.String(), start, i, false}
		case quoted == 0 && (c == '"' || c == '\''):
			quoted = c
		case quoted != 0 && c == quoted:
			quoted = 0
		case c == '\\' && quoted != '\'' && i+1 < len(line) && strings.IndexByte("\\\"$` '", line[i+1]) >= 0:
			i++
			b.WriteByte(line[i])
		default:
			b.WriteByte(c)
		}
	}
	return token{b.String(), start, i, false}
}

// assignment recognises NAME=value before a command.
func assignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}) < 0
}

// isDocsearch recognises the program by its file name.
func isDocsearch(program string) bool {
	base := program[strings.LastIndexAny(program, `/\#`)+1:]
	return strings.HasPrefix(base, "docsearch")
}

// quote makes one word of a path, for the shell that runs hooks: sh, on Windows
// the one that comes with Git, which reads slashes.
func quote(path string) string {
	if runtime.GOOS == "windows" {
		path = strings.ReplaceAll(plainPath(path), `\`, "/")
	}
	plain := func(r rune) bool {
		return r > 0x7f || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("/._-+:@%,=", r)
	}
	if path != "" && strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(path) + `"`
}
