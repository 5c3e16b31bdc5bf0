package notes

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/docsearch/docsearch/internal/index/passage"
)

const (
	// maxIdentifiers limits the identifiers of a text to its most frequent ones, which
	// show its subject.
	maxIdentifiers = 12
	// maxCommands limits the commands of a line, and maxWords the words of each.
	maxCommands = 8
	maxWords    = 3
	maxLine     = 4 << 10
	maxName     = 80 // bytes of an identifier
)

// A Query is the query for a call.
type Query struct {
	Text     string
	Keywords []string
	// Keys select the documents whose conditions the call may meet.
	Keys []string
}

// String returns the query on one line.
func (q Query) String() string {
	return strings.TrimSpace(strings.Join(append([]string{q.Text}, q.Keywords...), " "))
}

// Query returns the query of a call, with the end of the user's last message. For a file,
// it contains the file name, its language, and the identifiers in the new text. For a
// command, it contains the programs, their languages, and the description. For a failed
// call, it contains the error messages only.
func (c *Call) Query() Query {
	var text []string
	var q Query
	switch {
	case c.Failure != "":
		return c.failureQuery()
	case c.Path != "":
		text = append(text, c.pathWords()...)
		if l := Language(c.Path); l != "" {
			text = append(text, l)
			q.Keys = languageKeys(l)
		}
		q.Keywords = identifiers(c.Text, isProse(c.Path))
		q.Keys = append(q.Keys, passage.PathKeys(c.Path)...)
	default:
		text = append(text, c.programs()...)
		text = append(text, c.Description)
		q.Keys = c.commandKeys()
	}
	q.Text = PlainQuery(strings.Join(append(text, c.UserText), " "))
	return q
}

// commandKeys returns the keys of a command's programs and their languages.
func (c *Call) commandKeys() []string {
	var keys []string
	for _, words := range simpleCommands(c.Command) {
		for _, run := range launchedCommands(words) {
			if k := passage.CommandKey(run[0]); !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
	}
	for _, l := range c.languages() {
		keys = append(keys, languageKeys(l)...)
	}
	return keys
}

// PlainQuery removes query operators from a text.
func PlainQuery(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '"' || r == ':' || unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	words := strings.Fields(s)
	for i, w := range words {
		words[i] = strings.TrimLeft(w, "-")
	}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

// pathWords returns the distinct words of the file's name and its folder's name. The name
// of the session's folder is omitted, because it is the same for all its files.
func (c *Call) pathWords() []string {
	path := toSlash(c.Path)
	at := strings.LastIndexByte(path, '/')
	folder, name := path[:max(at, 0)], path[at+1:]
	if folder == strings.TrimRight(toSlash(c.Folder), "/") {
		folder = ""
	}
	if i := strings.IndexByte(strings.TrimLeft(name, "."), '.'); i > 0 {
		name = strings.TrimLeft(name, ".")[:i]
	}
	folder = folder[strings.LastIndexByte(folder, '/')+1:]
	words := strings.FieldsFunc(folder+" "+name,
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	var list []string
	for _, w := range words {
		if len(w) > 1 && !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	return list
}

// isProse reports whether a file contains text for people.
func isProse(path string) bool {
	if Language(path) == "markdown" {
		return true
	}
	name := strings.ToLower(baseName(path))
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "txt", "rst", "adoc", "asciidoc", "org", "tex":
		return true
	}
	return false
}

// identifiers returns the identifiers in a program's text, the most frequent first. In
// prose, whose words are in all kinds of notes, only words with an internal sign or
// capital count.
func identifiers(text string, prose bool) []string {
	type name struct {
		text  string
		count int
	}
	var names []name
	index := map[string]int{}
	add := func(s string) {
		s = strings.Trim(s, "._")
		if len(s) < 3 || len(s) > maxName || isCommonIdentifier(strings.ToLower(s)) || prose && !isIdentifier(s) {
			return
		}
		i, ok := index[s]
		if !ok {
			i = len(names)
			index[s] = i
			names = append(names, name{text: s})
		}
		names[i].count++
	}
	start := -1
	for i := 0; i <= len(text); i++ {
		inName := i < len(text) && (isLetter(text[i]) || start >= 0 && (text[i] == '.' || isDigit(text[i])))
		switch {
		case inName && start < 0:
			start = i
		case !inName && start >= 0:
			add(text[start:i])
			start = -1
		}
	}
	slices.SortStableFunc(names, func(a, b name) int { return cmp.Compare(b.count, a.count) })
	var list []string
	for _, n := range names[:min(len(names), maxIdentifiers)] {
		list = append(list, n.text)
	}
	return list
}

func isLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= 0x80
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isCommonIdentifier reports whether a name occurs in programs of every kind, so that it
// carries no information about the subject.
func isCommonIdentifier(name string) bool {
	switch name {
	case "and", "any", "args", "array", "async", "await", "bool", "boolean", "break", "byte", "case", "catch", "char",
		"class", "const",
		"continue", "ctx", "data", "def", "default", "defer", "del", "dict", "double", "elif", "else", "end", "enum",
		"err", "error",
		"except", "export", "extends", "false", "final", "finally", "float", "fmt", "for", "from", "func", "function",
		"get", "global",
		"goto", "if", "impl", "implements", "import", "in", "index", "init", "int", "int64", "interface", "isinstance",
		"item", "items",
		"key", "keys", "lambda", "len", "let", "list", "long", "main", "make", "map", "match", "mut", "name", "new",
		"nil", "none", "not",
		"null", "num", "number", "object", "package", "pass", "print", "println", "printf", "private", "protected",
		"pub", "public",
		"raise", "range", "require", "result", "return", "self", "set", "short", "static", "str", "string", "struct",
		"super", "switch",
		"template", "test", "the", "this", "throw", "throws", "true", "try", "type", "typeof", "undefined", "use",
		"using", "val", "value",
		"values", "var", "void", "while", "with", "yield":
		return true
	}
	return false
}

// programs returns the programs of the call's command line with their subcommands:
// "kubectl rollout restart" for "kubectl rollout restart deploy/x".
func (c *Call) programs() []string {
	var list []string
	for _, words := range simpleCommands(c.Command) {
		switch words[0] {
		case "cd", "echo", "export", "printf", "set", "source", ".", "true":
			continue // shell housekeeping
		}
		for i, w := range words[:min(len(words), maxWords)] {
			if i > 0 && !isSubcommand(w) {
				break
			}
			w = w[strings.LastIndexByte(toSlash(w), '/')+1:]
			if !slices.Contains(list, w) {
				list = append(list, w)
			}
		}
	}
	return list
}

// isSubcommand reports whether a word of a command can be a subcommand, and not an option,
// path or value.
func isSubcommand(w string) bool {
	for i := range len(w) {
		if c := w[i]; !('a' <= c && c <= 'z' || i > 0 && (c == '-' || c == '_' || c == ':' || isDigit(c))) {
			return false
		}
	}
	return w != ""
}

// simpleCommands splits a shell command line into its commands and their words, as far as
// possible without a shell: quoted text is one word. Variable assignments before a command
// and wrapper programs such as sudo are removed, and the script of sh -c replaces it.
//
// A full shell parser takes longer to initialize than the hook has. Package agentconfig
// also splits lines that PowerShell may read, in which a backslash does not quote.
func simpleCommands(line string) [][]string { return commandsAt(line, 0) }

// maxScripts limits the nesting of scripts in a line.
const maxScripts = 3

// commandsAt is simpleCommands for a line at a depth of nested scripts.
func commandsAt(line string, depth int) [][]string {
	l := commandSplitter{line: line[:min(len(line), maxLine)], depth: depth}
	for i := 0; i < len(l.line); {
		switch c := l.line[i]; {
		case c == ' ' || c == '\t':
			l.endWord()
			i++
		case c == '&' && i > 0 && l.line[i-1] == '>': // 2>&1
			i++
		case strings.IndexByte("\n;|&()`", c) >= 0:
			l.endCommand()
			if c == '\n' && hasHeredoc(l.line[:i]) {
				return l.commands // text follows
			}
			i++
		case c == '#' && !l.inWord: // a comment
			end := strings.IndexByte(l.line[i:], '\n')
			if end < 0 {
				end = len(l.line) - i
			}
			i += end
		default:
			i = l.add(i)
		}
	}
	l.endCommand()
	return l.commands
}

// A commandSplitter is the state of simpleCommands.
type commandSplitter struct {
	line     string
	depth    int // number of scripts that the line is in
	commands [][]string
	words    []string // of the current command
	word     strings.Builder
	inWord   bool // the current word has begun; it may be empty
}

// add appends the byte or quoted text at i to the current word, and returns the position
// after it.
func (l *commandSplitter) add(i int) int {
	c := l.line[i]
	switch {
	case c == '\\' && i+1 == len(l.line):
		return i + 1
	case c == '\\' && l.line[i+1] == '\n':
		return i + 2
	case c == '\\':
		i++
		c = l.line[i]
	case c == '\'' || c == '"':
		l.inWord = true
		for i++; i < len(l.line) && l.line[i] != c; i++ {
			if l.line[i] == '\\' && c == '"' && i+1 < len(l.line) {
				i++
			}
			l.word.WriteByte(l.line[i])
		}
		return i + 1
	}
	l.inWord = true
	l.word.WriteByte(c)
	return i + 1
}

func (l *commandSplitter) endWord() {
	if l.inWord {
		l.words = append(l.words, l.word.String())
	}
	l.word.Reset()
	l.inWord = false
}

func (l *commandSplitter) endCommand() {
	l.endWord()
	words := withoutWrappers(l.words)
	l.words = nil
	commands := [][]string{words}
	if script, ok := shellScript(words); ok && l.depth < maxScripts {
		commands = commandsAt(script, l.depth+1)
	}
	for _, words := range commands {
		if len(words) > 0 && len(l.commands) < maxCommands {
			l.commands = append(l.commands, words)
		}
	}
}

// shellScript returns the script of a command such as sh -c, also with other options, as in bash
// -lc.
func shellScript(words []string) (script string, ok bool) {
	if len(words) == 0 {
		return "", false
	}
	switch baseName(words[0]) {
	case "sh", "bash", "dash", "ksh", "zsh":
	default:
		return "", false
	}
	for i, w := range words[1:] {
		if !strings.HasPrefix(w, "-") {
			break
		}
		if !strings.HasPrefix(w, "--") && strings.Contains(w, "c") && i+2 < len(words) {
			return words[i+2], true
		}
	}
	return "", false
}

func hasHeredoc(before string) bool {
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return strings.Contains(line, "<<") && !strings.Contains(line, "<<<")
}

// withoutWrappers removes variable assignments and wrapper programs such as sudo, with their
// options, from the start of a command.
func withoutWrappers(words []string) []string {
	for len(words) > 0 {
		w := words[0]
		name, _, assigns := strings.Cut(w, "=")
		valued, wraps := wrapperOptions(w)
		switch {
		case assigns && name != "" && !strings.ContainsAny(name, "-/. "):
			words = words[1:]
		case wraps:
			words = withoutOptions(words[1:], valued)
		default:
			return words
		}
	}
	return nil
}

// wrapperOptions reports whether a word precedes a command, and returns the short options of such a
// program whose value is in the next word.
func wrapperOptions(w string) (valued string, ok bool) {
	switch w {
	case "sudo":
		return "ughpCTrtUDR", true
	case "env":
		return "uC", true
	case "exec":
		return "a", true
	case "time":
		return "fo", true
	case "nohup", "command", "then", "do", "else", "!", "{", "if":
		return "", true
	}
	return "", false
}

// withoutOptions removes the options of a wrapper program.
func withoutOptions(words []string, valued string) []string {
	for len(words) > 0 && len(words[0]) > 1 && words[0][0] == '-' {
		n := 1
		if len(words[0]) == 2 && strings.Contains(valued, words[0][1:]) {
			n = 2
		}
		words = words[min(n, len(words)):]
	}
	return words
}

// launchedCommands returns a command and the commands that it launches, such as "pytest"
// for "uv run pytest" and "python -m pytest".
func launchedCommands(words []string) [][]string {
	list := [][]string{words}
	for len(list) < maxCommands {
		n := launcherWords(words)
		if n == 0 || n >= len(words) {
			return list
		}
		words = words[n:]
		list = append(list, words)
	}
	return list
}

// launcherWords returns the number of words before the command that the first word
// launches, or 0 if it launches none.
func launcherWords(words []string) int {
	second := ""
	if len(words) > 1 {
		second = words[1]
	}
	program := baseName(words[0])
	switch {
	case program == "npx" || program == "bunx" || program == "uvx":
		n := 1
		for n < len(words) && strings.HasPrefix(words[n], "-") {
			n++
		}
		return n
	case second == "-m" && slices.Contains(languagesOf(program), "python"):
		return 2
	case second == "run" && (program == "uv" || program == "poetry" || program == "pipenv" || program == "hatch" ||
		program == "pdm"),
		second == "exec" && (program == "bundle" || program == "npm" || program == "pnpm" || program == "yarn"),
		second == "dlx" && (program == "pnpm" || program == "yarn"):
		return 2
	}
	return 0
}

// failureQuery returns the query of a failed call: its error messages, with the
// identifiers and codes in them as keywords.
func (c *Call) failureQuery() Query {
	f := ReadFailure(c.Failure)
	return Query{Text: PlainQuery(strings.Join(append(c.programs(), f.Messages...), " ")), Keywords: f.Names}
}

// isErrorLine reports whether a lower-case line contains a word that error messages use.
func isErrorLine(line string) bool {
	return containsAny(line,
		"error", "fail", "fatal", "cannot", "can't", "could not", "couldn't", "unable to", "denied", "not found",
		"no such", "invalid", "undefined",
		"unknown", "exception", "unexpected", "missing", "refus", "timed out", "forbidden", "unauthorized", "panic",
		"abort", "reject", "conflict",
		"mismatch", "unsupported", "not supported", "incompatible", "not allowed", "not permitted", "not set", "not a ",
		"not the same", "isn't",
		"aren't", "does not", "doesn't", "did not", "didn't", "already in use", "already exists", "too many", "exceed",
		"deadlock", "corrupt",
		"malformed", "must be", "must not", "required", "no tests", "ambiguous", "unresolved", "unreachable",
		"segmentation fault",
		"out of memory", "not installed", "recognized", "illegal", "violat", "expired", "locked", "overwritten",
	)
}

// isCode reports whether w is an error code: capitals with digits or underscores, or an
// errno name, such as E0382, ORA-00942, ERR_MODULE_NOT_FOUND, ECONNREFUSED.
func isCode(w string) bool {
	capitals, others := 0, 0
	for i := range len(w) {
		switch c := w[i]; {
		case 'A' <= c && c <= 'Z':
			capitals++
		case isDigit(c), c == '_', c == '-':
			others++
		default:
			return false
		}
	}
	return capitals > 0 && (others > 0 && strings.Trim(w, "_-0123456789") != "" || w[0] == 'E' && capitals >= 5)
}

// isIdentifier reports whether w has an underscore, a dot or a capital inside.
func isIdentifier(w string) bool {
	for i := 1; i < len(w)-1; i++ {
		c := w[i]
		if c == '_' || c == '.' && isLetter(w[i+1]) || 'A' <= c && c <= 'Z' && 'a' <= w[i-1] && w[i-1] <= 'z' {
			return true
		}
	}
	return false
}
