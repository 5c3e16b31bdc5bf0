package folder

import (
	"bytes"
	"io"
	"os"
	"path"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// IgnoreFiles are the files that say what of their folder is not to be read, in
// the form of Git's. What the second says counts more.
var IgnoreFiles = [...]string{".gitignore", ".docsearchignore"}

// maxIgnore is how long such a file may be.
const maxIgnore = 1 << 20

// An ignoreRule is a line of an ignore file.
type ignoreRule struct {
	pattern Pattern
	again   bool // what matches is read all the same
	folders bool // only folders match
}

// ignores are the rules that hold in a folder and below: those of its own files
// and, by parent, those of the folders that it is in.
type ignores struct {
	parent *ignores
	dir    string // path of the folder, "." for the first
	rules  [len(IgnoreFiles)][]ignoreRule
}

// readIgnores reads the ignore files of a folder. What cannot be read says
// nothing.
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

// parseIgnore reads an ignore file. Lines that are no pattern say nothing.
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
		line, r.again = strings.CutPrefix(line, "!")
		r.folders = strings.HasSuffix(line, "/")
		p, err := ParsePattern(strings.ReplaceAll(line, "[!", "[^"))
		if err != nil {
			continue
		}
		r.pattern = p
		rules = append(rules, r)
	}
	return rules
}

// ignored is the name of the file that says that the path is not to be read, ""
// if it may be. The last rule that matches counts, and those of a folder further
// down come after those of one above.
func (g *ignores) ignored(name string, isDir bool) string {
	for i := len(IgnoreFiles) - 1; i >= 0; i-- {
		for at := g; at != nil; at = at.parent {
			below := name
			if at.dir != "." {
				below = strings.TrimPrefix(name, at.dir+"/")
			}
			for k := len(at.rules[i]) - 1; k >= 0; k-- {
				r := &at.rules[i][k]
				if r.folders && !isDir || !r.pattern.matches(below) {
					continue
				}
				if r.again {
					return ""
				}
				return IgnoreFiles[i]
			}
		}
	}
	return ""
}
