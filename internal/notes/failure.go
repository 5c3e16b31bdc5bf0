package notes

import (
	"slices"
	"strings"
	"unicode"
)

const (
	// maxMessage limits the total size of a failure's messages in bytes, maxLines their
	// number, and maxLineLength the size of each.
	maxMessage    = 1200
	maxLines      = 12
	maxLineLength = 400
	// maxOutput is the part of a command's output that is read from each end, where
	// failures are reported.
	maxOutput = 16 << 10
	// maxNames limits the names and codes of a failure.
	maxNames = 12
)

// A Failure holds the error messages in a command's output.
type Failure struct {
	// Messages are the lines that report the error, the most informative first, without
	// text that is specific to this run: paths, numbers, times.
	Messages []string
	// Names are the names and codes in Messages, such as CMP0115, ERR_REQUIRE_ESM,
	// find_package and ImproperlyConfigured, in the same order.
	Names []string
	// TestFailed reports that a test of the user's own failed.
	TestFailed bool
}

// Grades of a line of output, the least informative first.
const (
	gradeNone      = iota
	gradeContext   // continues a message, or only reports that there was one
	gradeAdvice    // suggests a remedy
	gradeFailure   // contains a word that error messages use
	gradeError     // is marked as an error
	gradeException // starts with an exception
)

// An outputLine is a line of output.
type outputLine struct {
	text  string
	grade int
}

// ReadFailure extracts the failure from the output of a command.
func ReadFailure(output string) Failure {
	lines := failureLines(output)
	slices.SortStableFunc(lines, func(a, b outputLine) int { return b.grade - a.grade })
	f := Failure{TestFailed: strings.Contains(output, "--- FAIL: ") || strings.Contains(output, "\u25cf ")}
	size := 0
	for _, l := range lines {
		if l.grade == gradeNone || len(f.Messages) == maxLines || size > maxMessage {
			break
		}
		for _, name := range namesIn(l.text) {
			if len(f.Names) < maxNames && !slices.Contains(f.Names, name) {
				f.Names = append(f.Names, name)
			}
		}
		if text := generalize(l.text); strings.Contains(text, " ") && !slices.Contains(f.Messages, text) {
			f.Messages = append(f.Messages, text)
			size += len(text)
		}
	}
	return f
}

// failureLines returns the lines of output that may report the error.
func failureLines(output string) []outputLine {
	if len(output) > 2*maxOutput {
		output = output[:maxOutput] + "\n" + output[len(output)-maxOutput:]
	}
	r := outputReader{exception: -1}
	for line := range strings.Lines(strings.ToValidUTF8(output, "")) {
		r.read(strings.TrimRight(withoutEscapes(line), " \t\r\n"))
	}
	addLastLines(r.lines)
	return r.lines
}

// An outputReader collects the lines of output that may report the error.
type outputReader struct {
	lines     []outputLine
	inFrame   bool // the previous line is part of a stack trace
	inMessage int  // 0 outside a message; else one more than the empty lines that may still follow in it
	open      bool // the previous line ends with a colon
	exception int  // index of the last line with an exception, or -1
}

func (r *outputReader) read(raw string) {
	line, prefixed, least := withoutPrefix(strings.TrimSpace(raw))
	if r.skips(raw, line, prefixed) {
		return
	}
	line = strings.Trim(line[:min(len(line), maxLineLength)], "=_-!*# ")
	place, rest := cutPosition(line)
	grade := gradeOf(rest)
	if least > gradeContext || slices.ContainsFunc(namesIn(line), isCode) {
		grade = max(grade, least)
	}
	if place {
		line, grade = rest, max(grade, gradeError) // a compiler's
	}
	switch {
	case grade > gradeContext:
		r.inMessage = 2
	case r.inMessage > 0 && (prefixed || raw != line || r.open):
		grade = max(grade, gradeContext)
	case grade == gradeNone:
		r.inMessage = 0
	}
	if grade == gradeException {
		if r.exception >= 0 {
			r.lines[r.exception].grade-- // the earlier exception caused this one
		}
		r.exception = len(r.lines)
	}
	r.open = strings.HasSuffix(line, ":")
	r.lines = append(r.lines, outputLine{line, grade})
}

// skips reports whether a line carries no information: empty lines, rules and headings,
// and stack traces with the source below them.
func (r *outputReader) skips(raw, line string, prefixed bool) bool {
	switch {
	case line == "":
		if !prefixed && r.inMessage > 0 {
			r.inMessage--
		}
		r.inFrame = false
	case strings.HasPrefix(line, "Exit code ") || isRule(line):
	case isFrame(line):
		r.inFrame = true
	case r.inFrame && raw != strings.TrimLeft(raw, " \t"):
	case isHeading(raw):
		r.inFrame, r.inMessage, r.open = false, 0, false
	default:
		r.inFrame = false
		return false
	}
	return true
}

// minWords is the number of words in the graded lines below which addLastLines adds
// others.
const minWords = 4

// addLastLines grades the last lines of the output, if the graded lines have too few
// words: programs tend to report the cause last.
func addLastLines(lines []outputLine) {
	words := 0
	count := func(l outputLine) {
		if n := len(strings.Fields(generalize(l.text))); n > 1 {
			words += n
		}
	}
	for _, l := range lines {
		if l.grade > gradeNone {
			count(l)
		}
	}
	for i := len(lines) - 1; i >= max(0, len(lines)-6) && words < minWords; i-- {
		if lines[i].grade == gradeNone {
			lines[i].grade = gradeContext
			count(lines[i])
		}
	}
}

// gradeOf returns the grade of a line on its own.
func gradeOf(line string) int {
	word, _, ok := strings.Cut(line, ":")
	if ok && isException(word) {
		return gradeException
	}
	folded := strings.ToLower(line)
	switch {
	case strings.HasPrefix(folded, "usage:"), strings.Contains(folded, " usage: "):
		return gradeNone
	case isSummary(folded):
		return gradeContext
	case isMarkedError(folded):
		return gradeError
	case isErrorLine(folded):
		return gradeFailure
	case isAdvice(folded), strings.HasPrefix(folded, "cmake warning"), strings.Contains(folded, "warning:"):
		return gradeAdvice
	}
	return gradeNone
}

// isMarkedError reports whether a line starts with the word error or the like, or has it
// after the name of a program.
func isMarkedError(line string) bool {
	return hasAnyPrefix(line, "fatal:", "error:", "error[", "fatal error", "panic:", "cmake error", "err!", "error ",
		"conflict", "thread '") ||
		containsAny(line, " error:", " fatal:", ": error ", "error: ", ": fatal:", ": error[")
}

// isAdvice reports whether a line suggests a remedy.
func isAdvice(line string) bool {
	return hasAnyPrefix(line,
		"hint:", "detail:", "help:", "note:", "please ", "use ", "try ", "run ", "see ", "consider ", "you can ",
		"you must ", "you need ", "you should ",
		"did you ", "to fix ", "to add ", "to use ", "add ", "set ", "make sure ",
	)
}

// isSummary reports whether a line reports that there were errors, but not which.
func isSummary(line string) bool {
	return containsAny(line,
		"errors occurred", "build stopped", "generate step failed", "build failed", "exit status", "exit code",
		"could not compile", "retry scheduled",
		"for more information about this error", "complete log of this run", "error during build", "problems (",
		"test summary", "aborted (core dumped)",
	)
}

// containsAny reports whether s contains one of the parts.
func containsAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(s, part) })
}

// hasAnyPrefix reports whether s starts with one of the prefixes.
func hasAnyPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(s, prefix) })
}

// hasAnySuffix reports whether s ends with one of the suffixes.
func hasAnySuffix(s string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(s, suffix) })
}

// isException reports whether s is the name of an exception, as before its message:
// KeyError, django.core.exceptions.ImproperlyConfigured, TypeError [ERR_X].
func isException(s string) bool {
	s, _, _ = strings.Cut(s, " [")
	name := s[strings.LastIndexByte(s, '.')+1:]
	if len(name) < 4 || name[0] < 'A' || name[0] > 'Z' || strings.ContainsAny(s, " /\\(") {
		return false
	}
	for i := range len(name) {
		if !isLetter(name[i]) && !isDigit(name[i]) {
			return false
		}
	}
	if len(s) > len(name) {
		return true // in a module
	}
	return name == "Error" || name == "Exception" ||
		hasAnySuffix(name[1:], "Error", "Exception", "Warning", "Exit", "Interrupt", "Failure")
}

// isFrame reports whether a line is part of a stack trace or points to source.
func isFrame(line string) bool {
	switch {
	case hasAnyPrefix(line, `File "`, "--> ", "Traceback (", "Call Stack (", "goroutine "):
		return true
	case strings.HasPrefix(line, "at "):
		return strings.ContainsAny(line, "(/:")
	}
	// "41 |     code" and "   |   ^^^ note"
	gutter, _, ok := strings.Cut(line, "|")
	return ok && strings.Trim(gutter, " 0123456789") == ""
}

// isRule reports whether a line is a rule or a mark below source.
func isRule(line string) bool {
	return strings.Trim(line, "-=_~^*#<>!.| ") == ""
}

// isHeading reports whether a line is a heading between rules, such as ==== ERRORS ====.
func isHeading(line string) bool {
	for _, rule := range [...]string{"===", "___", "---", "!!!", "***"} {
		if strings.HasPrefix(line, rule) && strings.HasSuffix(line, rule) {
			return true
		}
	}
	return false
}

// cutPosition removes the file position that a line starts with, such as main.go:4:2: or
// src/a.ts(9,21):
func cutPosition(line string) (had bool, rest string) {
	place, rest, ok := strings.Cut(line, ": ")
	if ok && (place == "vet" || place == "ld" || strings.HasSuffix(place, "/ld")) { // the program's name
		place, rest, ok = strings.Cut(rest, ": ")
	}
	if !ok || strings.Contains(place, " ") {
		return false, line
	}
	name := strings.TrimRight(place, "0123456789:,)")
	name = strings.TrimSuffix(name, "(")
	if len(name) == len(place) || !strings.Contains(baseName(name), ".") {
		return false, line
	}
	return true, rest
}

// withoutEscapes removes terminal escape sequences.
func withoutEscapes(s string) string {
	for {
		before, after, ok := strings.Cut(s, "\x1b[")
		if !ok {
			return s
		}
		end := strings.IndexFunc(after, func(r rune) bool { return r >= '@' && r <= '~' })
		if end < 0 {
			return before
		}
		s = before + after[end+1:]
	}
}

// withoutPrefix removes the prefix that a program puts before each line, and returns the
// grade that the prefix implies.
func withoutPrefix(line string) (rest string, prefixed bool, grade int) {
	for _, p := range [...]struct {
		text  string
		grade int
	}{
		{"npm ERR!", gradeContext}, {"npm error", gradeContext}, {"npm WARN", gradeNone}, {"npm warn", gradeNone},
		{"remote:", gradeNone},
		{"E  ", gradeContext}, {"yarn error", gradeContext}, {"hint:", gradeAdvice}, {"\u2502", gradeNone},
	} {
		if rest, ok := strings.CutPrefix(line, p.text); ok {
			return strings.TrimSpace(rest), true, p.grade
		}
	}
	return line, false, 0
}

// generalize removes text that is specific to this run.
func generalize(line string) string {
	var words []string
	for w := range strings.FieldsSeq(line) {
		bare := strings.Trim(w, "'\"`()[]{}<>,;:.!?=_-*#|~^")
		if bare == "" || isRunSpecific(bare) {
			continue
		}
		words = append(words, w)
	}
	return PlainQuery(strings.Join(words, " "))
}

// isRunSpecific reports whether a word is specific to a run, so that documentation does
// not contain it: paths, addresses, numbers, package versions, hashes.
func isRunSpecific(w string) bool {
	switch {
	case strings.ContainsAny(w, "/\\@"):
		// Kind is joined by one slash may be a pair of words: read/write.
		left, right, _ := strings.Cut(w, "/")
		return !(allLetters(left) && allLetters(right))
	case isNumber(w), isHost(w):
		return true
	}
	if len(w) >= 7 && strings.Trim(w, "0123456789abcdef") == "" && strings.ContainsAny(w, "0123456789") {
		return true
	}
	// file.c:12:5
	if name, line, ok := strings.Cut(w, ":"); ok && line != "" && strings.Trim(line, "0123456789:") == "" {
		return strings.Contains(name, ".")
	}
	return false
}

// isNumber reports whether w is a number, with or without a unit, or a version.
func isNumber(w string) bool {
	if !strings.ContainsAny(w, "0123456789") {
		return false
	}
	w = strings.TrimPrefix(w, "v")
	rest := strings.TrimLeft(w, "0123456789.:,-+x%")
	switch strings.ToLower(rest) {
	case "", "s", "ms", "us", "ns", "m", "h", "b", "k", "kb", "mb", "gb", "kib", "mib", "gib":
		return true
	}
	return false
}

// isHost reports whether w is a host name.
func isHost(w string) bool {
	w, _, _ = strings.Cut(w, ":")
	return w == "localhost" || hasAnySuffix(w, ".com", ".org", ".net", ".io", ".dev", ".test", ".local", ".internal",
		".example", ".edu", ".cloud")
}

func allLetters(s string) bool {
	for _, r := range s {
		if !unicode.IsLetter(r) {
			return false
		}
	}
	return s != ""
}

// namesIn returns the names and codes in a line, which documentation contains verbatim.
func namesIn(line string) []string {
	var names []string
	add := func(w string) {
		if len(w) >= 3 && len(w) <= maxName && !slices.Contains(names, w) {
			names = append(names, w)
		}
	}
	for w := range strings.FieldsFuncSeq(line,
		func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("'\"`()[]{},;=", r) }) {
		w = strings.Trim(w, ".:<>!?*")
		if strings.ContainsAny(w, "/\\@") || isRunSpecific(w) {
			continue
		}
		if isException(w) && !isGenericName(w[strings.LastIndexByte(w, '.')+1:]) {
			add(w[strings.LastIndexByte(w, '.')+1:])
		}
		switch {
		case isGenericName(w[strings.LastIndexByte(w, '.')+1:]):
		case isCode(w), isIdentifier(w):
			add(w)
		case strings.HasPrefix(w, "--") && isSubcommand(w[2:]):
			add(w)
		}
	}
	return names
}

// isGenericName reports whether a name is an exception that indicates a bug in the program
// itself, or a word that programs print in capitals.
func isGenericName(name string) bool {
	switch name {
	case "Error", "Exception", "Warning", "TypeError", "ValueError", "KeyError", "IndexError", "AttributeError",
		"NameError", "AssertionError",
		"RuntimeError", "ImportError", "ModuleNotFoundError", "SyntaxError", "IndentationError", "ReferenceError",
		"RangeError", "LookupError",
		"OSError", "IOError", "FileNotFoundError", "NotImplementedError", "ZeroDivisionError", "StopIteration",
		"SystemExit", "KeyboardInterrupt",
		"UserWarning", "RuntimeWarning", "DeprecationWarning", "NullPointerException", "RuntimeException",
		"IllegalArgumentException",
		"IllegalStateException", "IndexOutOfBoundsException", "ClassCastException", "NoMethodError", "StandardError",
		"ERROR", "ERRORS", "EXCEPTION", "EXPECTED", "EXIT", "EMPTY", "ENDED", "JavaScript", "GitHub", "e.g", "i.e":
		return true
	}
	return false
}
