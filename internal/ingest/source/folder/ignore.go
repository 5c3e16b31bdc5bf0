package folder

import (
	"bytes"
	"io"
	"os"
	"path"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// IgnoreFiles are the files with rules for excluded files, in Git's syntax. Later
// ones take precedence. Folders of notes may have that of Lore.
var IgnoreFiles = [...]string{".gitignore", ".loreignore", ".docsearchignore"}

// maxIgnore is the maximum size of an ignore file.
const maxIgnore = 1 << 20

// An ignoreRule is a line of an ignore file.
type ignoreRule struct {
	pattern     Pattern
	negated     bool // matching files are read again
	foldersOnly bool // matches only folders
}

// ignores holds the rules for a folder: those of its own ignore files and,
// through parent, those of the enclosing folders.
type ignores struct {
	parent *ignores
	dir    string // path of the folder, "." for the top
	rules  [len(IgnoreFiles)][]ignoreRule
}

// readIgnores reads the ignore files of a folder. It skips files that cannot be
// read.
func readIgnores(root *os.Root, dir string, parent *ignores) *ignores {
	var own *ignores
	for i, name := range IgnoreFiles {
		f, err := root.Open(path.Join(dir, name))
		if err != nil {
			continue
		}
		data, err := io.ReadAll(io.LimitReader(f, maxIgnore))
		f.Close()
		if rules := parseIgnore(data); err == nil && len(rules) > 0 {
			if own == nil {
				own = &ignores{parent: parent, dir: dir}
			}
			own.rules[i] = rules
		}
	}
	if own == nil {
		return parent
	}
	return own
}

// parseIgnore parses an ignore file. It skips invalid patterns.
func parseIgnore(data []byte) []ignoreRule {
	var rules []ignoreRule
	for raw := range bytes.Lines(bytes.TrimPrefix(document.FromUTF16(data), []byte("\xef\xbb\xbf"))) {
		line := strings.TrimRight(string(raw), "\r\n")
		for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
			line = line[:len(line)-1]
		}
		if line == "" || line[0] == '#' {
			continue
		}
		var r ignoreRule
		line, r.negated = strings.CutPrefix(line, "!")
		r.foldersOnly = strings.HasSuffix(line, "/")
		p, err := ParsePattern(strings.ReplaceAll(line, "[!", "[^"))
		if err != nil {
			continue
		}
		r.pattern = p
		rules = append(rules, r)
	}
	return rules
}

// ignored returns the name of the ignore file that excludes a path, or "". The
// last matching rule wins; rules of inner folders follow those of outer ones.
func (g *ignores) ignored(name string, isDir bool) string {
	for i := len(IgnoreFiles) - 1; i >= 0; i-- {
		for at := g; at != nil; at = at.parent {
			below := name
			if at.dir != "." {
				below = strings.TrimPrefix(name, at.dir+"/")
			}
			for k := len(at.rules[i]) - 1; k >= 0; k-- {
				r := &at.rules[i][k]
				if r.foldersOnly && !isDir || !r.pattern.matches(below) {
					continue
				}
				if r.negated {
					return ""
				}
				return IgnoreFiles[i]
			}
		}
	}
	return ""
}
