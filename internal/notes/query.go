package notes

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/docsearch/docsearch/internal/index/passage"
)

const (
	// maxIdentifiers is how many names of a text are asked for: its most
	// frequent ones say what it is about.
	maxIdentifiers = 12
	// maxCommands is how many of a line's commands are looked at, and
	// maxWords how many words of each.
	maxCommands = 8
	maxWords    = 3
	maxLine     = 4 << 10
	maxName     = 80 // length of a name
)

// A Query is what the databases are asked for a call.
type Query struct {
	Text     string
	Keywords []string
	// Keys are those of the documents whose conditions the call may meet.
	Keys []string
}

// String is the query on one line.
func (q Query) String() string {
	return strings.TrimSpace(strings.Join(append([]string{q.Text}, q.Keywords...), " "))
}

// Query makes the query of a call: of a file its name, its language and the
// names in what is written; of a command the programs, their languages and the
// description; and how the user's last message ends. Of a call that failed, what
// it said.
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
	q.Text = withoutOperators(strings.Join(append(text, c.UserText), " "))
	return q
}

// commandKeys are the keys of a command's programs and their languages.
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

// withoutOperators takes out of a text what would be an operator in a query.
func withoutOperators(s string) string {
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

// pathWords are the words of the file's name and of the folder's that has it,
// each once. The name of the folder that the session works in says nothing of
// the file.
func (c *Call) pathWords() []string {
	path := slashed(c.Path)
	at := strings.LastIndexByte(path, '/')
	folder, name := path[:max(at, 0)], path[at+1:]
	if folder == strings.TrimRight(slashed(c.Folder), "/") {
		folder = ""
	}
	if i := strings.IndexByte(strings.TrimLeft(name, "."), '.'); i > 0 {
		name = strings.TrimLeft(name, ".")[:i]
	}
	folder = folder[strings.LastIndexByte(folder, '/')+1:]
	words := strings.FieldsFunc(folder+" "+name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	var list []string
	for _, w := range words {
		if len(w) > 1 && !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	return list
}

// isProse reports whether a file holds text for people.
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

// identifiers are the names in a program's text, the most frequent first. Of
// prose, whose words are in notes of every kind, they are only those that are
// written as no word is.
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

// isCommonIdentifier reports whether a name is in programs of every kind, and tells
// nothing of what one is about.
func isCommonIdentifier(name string) bool {
	switch name {
	case "and", "any", "args", "array", "async", "await", "bool", "boolean", "break", "byte", "case", "catch", "char", "class", "const",
		"continue", "ctx", "data", "def", "default", "defer", "del", "dict", "double", "elif", "else", "end", "enum", "err", "error",
		"except", "export", "extends", "false", "final", "finally", "float", "fmt", "for", "from", "func", "function", "get", "global",
		"goto", "if", "impl", "implements", "import", "in", "index", "init", "int", "int64", "interface", "isinstance", "item", "items",
		"key", "keys", "lambda", "len", "let", "list", "long", "main", "make", "map", "match", "mut", "name", "new", "nil", "none", "not",
		"null", "num", "number", "object", "package", "pass", "print", "println", "printf", "private", "protected", "pub", "public",
		"raise", "range", "require", "result", "return", "self", "set", "short", "static", "str", "string", "struct", "super", "switch",
		"template", "test", "the", "this", "throw", "throws", "true", "try", "type", "typeof", "undefined", "use", "using", "val", "value",
		"values", "var", "void", "while", "with", "yield":
		return true
	}
	return false
}

// programs are the programs of the call's command line, with what they are
// told to do: "kubectl rollout restart" of "kubectl rollout restart deploy/x".
func (c *Call) programs() []string {
	var list []string
	for _, words := range simpleCommands(c.Command) {
		switch words[0] {
		case "cd", "echo", "export", "printf", "set", "source", ".", "true":
			continue // of the shell's housekeeping
		}
		for i, w := range words[:min(len(words), maxWords)] {
			if i > 0 && !isSubcommand(w) {
				break
			}
			w = w[strings.LastIndexByte(slashed(w), '/')+1:]
			if !slices.Contains(list, w) {
				list = append(list, w)
			}
		}
	}
	return list
}

// isSubcommand reports whether a command's word can be one of its own, and is no
// option, path or value.
func isSubcommand(w string) bool {
	for i := range len(w) {
		if c := w[i]; !('a' <= c && c <= 'z' || i > 0 && (c == '-' || c == '_' || c == ':' || isDigit(c))) {
			return false
		}
	}
	return w != ""
}

// simpleCommands cuts a shell's command line into its commands, and these into
// words, as far as that can be told without being a shell: quotes are minded,
// and what is within them is one word. Variables set for a command, and the
// programs that only run others, are left out.
//
// A shell's parser takes longer to initialize than the hook has, and package
// client cuts lines that PowerShell may read, in which a backslash quotes nothing.
func simpleCommands(line string) [][]string {
	l := commandSplitter{line: line[:min(len(line), maxLine)]}
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

// A commandSplitter is where in a line simpleCommands is.
type commandSplitter struct {
	line     string
	commands [][]string
	words    []string // of the command
	word     strings.Builder
	inWord   bool // word has begun, which may be empty
}

// add adds to the word a byte of the line, or a quoted text, and returns the place
// behind it.
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
	if words := withoutWrappers(l.words); len(words) > 0 && len(l.commands) < maxCommands {
		l.commands = append(l.commands, words)
	}
	l.words = nil
}

func hasHeredoc(before string) bool {
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return strings.Contains(line, "<<") && !strings.Contains(line, "<<<")
}

// withoutWrappers is a command without variables before it and without programs that
// run another.
func withoutWrappers(words []string) []string {
	for len(words) > 0 {
		w := words[0]
		name, _, assigns := strings.Cut(w, "=")
		switch {
		case assigns && name != "" && !strings.ContainsAny(name, "-/. "):
		case w == "sudo", w == "env", w == "time", w == "nohup", w == "exec", w == "command", w == "then", w == "do", w == "else", w == "!", w == "{", w == "if":
		default:
			return words
		}
		words = words[1:]
	}
	return nil
}

// launchedCommands are the commands that a command is: itself, and the one that its program
// runs, as "pytest" of "uv run pytest" and of "python -m pytest".
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

// launcherWords is the number of words in front of the command that the first of
// them runs, 0 if it runs none.
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
	case second == "run" && (program == "uv" || program == "poetry" || program == "pipenv" || program == "hatch" || program == "pdm"),
		second == "exec" && (program == "bundle" || program == "npm" || program == "pnpm" || program == "yarn"),
		second == "dlx" && (program == "pnpm" || program == "yarn"):
		return 2
	}
	return 0
}

// failureQuery makes the query of what a call failed with: its messages, and the
// names and codes in them.
func (c *Call) failureQuery() Query {
	f := ReadFailure(c.Failure)
	return Query{Text: withoutOperators(strings.Join(append(c.programs(), f.Messages...), " ")), Keywords: f.Names}
}

// isErrorLine reports whether a line is one of those that say what went wrong.
func isErrorLine(line string) bool {
	for _, word := range [...]string{
		"error", "fail", "fatal", "cannot", "can't", "could not", "couldn't", "unable to", "denied", "not found", "no such", "invalid", "undefined",
		"unknown", "exception", "unexpected", "missing", "refus", "timed out", "forbidden", "unauthorized", "panic", "abort", "reject", "conflict",
		"mismatch", "unsupported", "not supported", "incompatible", "not allowed", "not permitted", "not set", "not a ", "not the same", "isn't",
		"aren't", "does not", "doesn't", "did not", "didn't", "already in use", "already exists", "too many", "exceed", "deadlock", "corrupt",
		"malformed", "must be", "must not", "required", "no tests", "ambiguous", "unresolved", "unreachable", "segmentation fault",
		"out of memory", "not installed", "recognized", "illegal", "violat", "expired", "locked", "overwritten",
	} {
		if strings.Contains(line, word) {
			return true
		}
	}
	return false
}

// isCode recognises capitals with digits or underscores, and the names of
// errors: E0382, ORA-00942, ERR_MODULE_NOT_FOUND, ECONNREFUSED.
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

// isIdentifier recognises names that have a sign or capitals within.
func isIdentifier(w string) bool {
	for i := 1; i < len(w)-1; i++ {
		c := w[i]
		if c == '_' || c == '.' && isLetter(w[i+1]) || 'A' <= c && c <= 'Z' && 'a' <= w[i-1] && w[i-1] <= 'z' {
			return true
		}
	}
	return false
}
