package agentconfig

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
)

// The forms of the hook's command. Each exits with code 0, even if the program
// fails: Claude Code reads the decision from standard output, and exit code 2
// denies the tool call. A Go program also exits with 2 if it gets no memory or no
// thread before main, and so do dash and busybox if they cannot fork.
//
// None of them uses a list of arguments, which Claude Code before 2.1.139
// ignores.
const (
	// posixForm is for sh. The trap also covers a shell that cannot fork, unlike
	// "|| true" and "; exit 0". Measured, it costs nothing in dash, and 0.25 of
	// an empty program in bash, which would otherwise exec its last command.
	posixForm = "trap 'exit 0' EXIT; %s hook"
	// windowsForm is for Git Bash, or for PowerShell if Git Bash is missing.
	windowsForm = "%s hook; exit 0"
	// sharedForm is for files that are shared between systems. PowerShell reads
	// the text up to the second \" as one string and assigns it to x. For sh, \"
	// is an argument.
	sharedForm = `set x \"; trap 'exit 0' EXIT; : \"; %s hook; exit 0`
)

// commandForm returns the form of the hook's command for a scope.
func commandForm(s Scope) string {
	switch {
	case s == Project:
		return sharedForm
	case runtime.GOOS == "windows":
		return windowsForm
	}
	return posixForm
}

// An invocation is the way in which a client runs the hook.
type invocation struct {
	scope  Scope
	client string // value of --client; "" for Claude Code, which needs none
	// exitCode selects the bare command: the client reads the decision from the
	// exit code, so the command must pass it on.
	exitCode bool
	// cli is the word that runs docsearch in the agent's shell, if the agent has the
	// command line in place of the MCP server; otherwise "".
	cli string
}

// cliOption ends the hook's command if the agent has the command line.
const cliOption = " --cli"

// command returns the hook's command.
func (v invocation) command(program string) string { return v.form(quote(program) + " hook") }

// form returns the command for the part that runs the program.
func (v invocation) form(part string) string {
	if v.client != "" && !strings.Contains(part, " --client") {
		part += " --client " + v.client
	}
	part = strings.TrimSuffix(part, cliOption)
	if v.cli != "" {
		part += cliOption
	}
	if v.exitCode {
		return part
	}
	return strings.Replace(commandForm(v.scope), "%s hook", part, 1)
}

// HookCommand returns the hook's command for a scope of Claude Code.
func HookCommand(s Scope, program string) string { return invocation{scope: s}.command(program) }

// harmless reports whether a command always exits with code 0 on this system,
// that is, whether it has one of the forms above. It ignores variables before the
// program and arguments after "hook".
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

// programPart returns the part of a command that runs the program: the whole
// command, or the part in place of "%s hook" in one of the forms. ok is false for
// any other command.
func programPart(command string) (part string, ok bool) {
	for _, form := range []string{"%s hook", posixForm, windowsForm, sharedForm} {
		if part, ok := matchForm(command, form); ok {
			return part, true
		}
	}
	return "", false
}

// matchForm returns the part of a command in place of "%s hook" in a form.
func matchForm(command, form string) (part string, ok bool) {
	before, after, _ := strings.Cut(form, "%s hook")
	part, begins := strings.CutPrefix(command, before)
	part, ends := strings.CutSuffix(part, after)
	return part, begins && ends && isSimple(part)
}

// isSimple reports whether a shell command line is one simple command that runs
// docsearch's hook.
func isSimple(line string) bool {
	r, ok := findHook(line)
	return ok && r.end > 0 && r.via == "" && !slices.ContainsFunc(lex(line), func(t token) bool { return t.operator })
}

// A hookRun describes how a shell command line runs docsearch's hook.
type hookRun struct {
	program string // the word for docsearch: a path, a name, or a package
	// start and end are the position of that word in the line, with its quotes;
	// 0 if it is the value of a variable or part of a quoted script.
	start, end int
	// via is the launcher of the program, such as npx or sh, or an assignment
	// that makes the shell find another program ("PATH=..."); "" if none.
	via string
	// otherCommand is the first other command in the line; "" if none.
	otherCommand string
	// python reports that the program is the Python version of the hook.
	python bool
	// cli reports that the agent has the command line in place of the MCP server.
	cli bool
}

// findHook finds the run of docsearch's hook in a command line of sh or
// PowerShell. It does not parse either language. It looks for a word for
// docsearch that is followed by the word hook, in lists, pipelines, subshells and
// quoted scripts. It expands variables that the line itself sets.
func findHook(line string) (hookRun, bool) { return findHookIn(line, 0) }

// maxNested limits the nesting of quoted scripts.
const maxNested = 4

func findHookIn(line string, nested int) (found hookRun, ok bool) {
	variables := map[string]string{}
	other := ""
	for _, command := range splitCommands(lex(line)) {
		words := expand(command, variables)
		run, runs := hookOf(words, nested)
		switch {
		case runs && !ok:
			if path, set := variables["PATH"]; set && run.via == "" && isBareName(run.program) {
				run.via = "PATH=" + path
			}
			found, ok = run, true
		case !runs && other == "" && len(words) > 0 && !hasNoEffect(words):
			other = words[0].text
		}
	}
	if ok && found.otherCommand == "" {
		found.otherCommand = other
	}
	return found, ok
}

// hookOf finds the run of the hook in one simple command.
func hookOf(words []token, nested int) (hookRun, bool) {
	via := ""
	for i, w := range words {
		switch {
		case isDocsearch(w.text) && firstArgument(words[i+1:]) == "hook":
			cli := slices.ContainsFunc(words[i+1:], func(t token) bool { return t.text == strings.TrimSpace(cliOption) })
			return hookRun{program: w.text, start: w.start, end: w.end, via: via, cli: cli}, true
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

// isBareName reports whether a program is searched on PATH.
func isBareName(program string) bool { return !strings.ContainsAny(program, `/\`) }

// firstArgument returns the first word that is not an option.
func firstArgument(words []token) string {
	for _, w := range words {
		if !strings.HasPrefix(w.text, "-") {
			return w.text
		}
	}
	return ""
}

// isCommandPrefix reports whether a word may precede a command without running
// another program.
func isCommandPrefix(word string) bool {
	switch word {
	case "exec", "command", "env", "nohup", ".", "{", "}", "!", "if", "then", "else", "do", "time":
		return true
	}
	return assignment(word) || strings.HasPrefix(word, "-")
}

// hasNoEffect reports whether a command is a shell builtin that changes nothing
// on the machine.
func hasNoEffect(words []token) bool {
	if slices.ContainsFunc(words, func(w token) bool { return strings.HasPrefix(w.text, ">") }) {
		return false
	}
	switch words[0].text {
	case "trap", "exit", "true", "false", ":", "set", "cd", "export", "unset", "umask", "[", "test", "return", "wait",
		"then", "else", "fi", "if", "do", "done", "{", "}", "!":
		return true
	}
	return strings.HasPrefix(words[0].text, "$env:")
}

// expand removes the assignments before a command and expands the variables that
// the line sets.
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

// A token is a word of a command line, or an operator between commands.
type token struct {
	text       string // without quotes
	start, end int    // position in the line, with quotes
	operator   bool
}

// splitCommands splits tokens into simple commands.
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

// lex splits a command line into tokens. A backslash that escapes nothing is
// kept, as in a Windows path.
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

// wordAt reads the word at start. It ends before a byte in stop or a redirection.
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

// assignment reports whether a word has the form NAME=value.
func assignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}) < 0
}

// isDocsearch reports whether a program is docsearch, by its file name.
func isDocsearch(program string) bool {
	base := program[strings.LastIndexAny(program, `/\#`)+1:]
	return strings.HasPrefix(base, "docsearch")
}

// quote quotes a path for the shell that runs hooks.
func quote(path string) string { return config.ShellPath(plainPath(path)) }
