package openapi

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Limits of the files to which a description refers.
const (
	maxFiles = 5000
	maxOther = 16 << 20 // bytes
	maxNodes = 2_000_000
)

// files are the file that is parsed and those to which it refers. References in them are
// made absolute when a file is read: "#/…" is a place in the parsed file, "dir/a.yaml#/…" one
// in another.
type files struct {
	root    *yaml.Node
	path    string
	read    func(path string) (string, error)
	trees   map[string]*yaml.Node // nil: not read
	size    int                   // bytes of the other files
	nodes   int                   // visited
	missing []string
}

// newFiles reads the files to which the parsed one refers, and those to which they refer.
func newFiles(path string, root *yaml.Node, read func(path string) (string, error)) *files {
	f := &files{root: root, path: path, read: read, trees: map[string]*yaml.Node{}}
	for next := f.link(root, path); len(next) > 0; next = next[1:] {
		if _, known := f.trees[next[0]]; known {
			continue
		}
		n := f.parse(next[0])
		f.trees[next[0]] = n
		if n == nil {
			f.missing = append(f.missing, next[0])
			continue
		}
		next = append(next, f.link(n, next[0])...)
	}
	return f
}

// load returns the content of a file; nil if it was not read.
func (f *files) load(path string) *yaml.Node {
	if path == "" {
		return f.root
	}
	return f.trees[path]
}

// parse reads a file. Its values have no lines: those of the result are lines of the parsed
// file.
func (f *files) parse(path string) *yaml.Node {
	if f.read == nil || len(f.trees) >= maxFiles || strings.Contains(path, ":") {
		return nil
	}
	text, err := f.read(path)
	if f.size += len(text); err != nil || f.size > maxOther {
		return nil
	}
	n, err := parseTree([]byte(text))
	if err != nil {
		return nil
	}
	return deref(n)
}

// link makes the references in a file absolute and returns the files to which they lead.
func (f *files) link(n *yaml.Node, in string) (others []string) {
	if f.nodes++; f.nodes > maxNodes {
		return nil
	}
	if in != f.path {
		n.Line = 0
	}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == "$ref" && c.Kind == yaml.ScalarNode {
			to, pointer, hasPointer := strings.Cut(c.Value, "#")
			switch {
			case to == "":
				to = in
			case !strings.Contains(to, ":"):
				to = path.Join(path.Dir(in), to)
			}
			switch {
			case to == f.path:
				c.Value = "#" + pointer
			case hasPointer:
				c.Value = to + "#" + pointer
			default:
				c.Value = to
			}
			if to != f.path && !slices.Contains(others, to) {
				others = append(others, to)
			}
		}
		others = append(others, f.link(c, in)...)
	}
	return others
}

// notes reports the files that were not read.
func (f *files) notes() []string {
	const most = 3
	switch n := len(f.missing); {
	case n == 0:
		return nil
	case n <= most:
		return []string{fmt.Sprintf("files of references not found (%d): %s", n, strings.Join(f.missing, ", "))}
	default:
		return []string{fmt.Sprintf("files of references not found (%d): %s, and %d more", n, strings.Join(f.missing[:most], ", "), n-most)}
	}
}
