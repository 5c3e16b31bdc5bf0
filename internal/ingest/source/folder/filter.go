package folder

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// A Pattern matches paths within a folder, with the syntax of .gitignore: * and
// ? match within a name, ** matches any number of folders, [...] a set of
// characters. A pattern without a slash matches names at any depth; one with a
// slash matches paths from the top. A match of a folder includes everything in
// it.
type Pattern struct {
	elements []string // begins with ** if the pattern matches at any depth
}

// ParsePattern parses a pattern.
func ParsePattern(s string) (Pattern, error) {
	anywhere := !strings.Contains(strings.TrimSuffix(s, "/"), "/")
	var p Pattern
	if anywhere {
		p.elements = []string{"**"}
	}
	for element := range strings.SplitSeq(strings.Trim(s, "/"), "/") {
		if _, err := path.Match(element, ""); err != nil || element == "" {
			return Pattern{}, fmt.Errorf("invalid path pattern %q", s)
		}
		if n := len(p.elements); element == "**" && n > 0 && p.elements[n-1] == "**" {
			continue
		}
		p.elements = append(p.elements, element)
	}
	return p, nil
}

// Match reports whether the pattern matches the path or one of its folders.
func (p Pattern) Match(name string) bool {
	return matchElements(p.elements, strings.Split(name, "/"), false)
}

// matches reports whether the pattern matches the path itself.
func (p Pattern) matches(name string) bool {
	return matchElements(p.elements, strings.Split(name, "/"), true)
}

// matchElements matches names with backtracking to the last ** only, which is
// sufficient: anything that an earlier ** could match instead, the later one
// can match too. The pattern must match all names, or if all is false a prefix.
func matchElements(pattern, names []string, all bool) bool {
	retry, from := -1, 0
	for i, k := 0, 0; ; {
		switch {
		case i == len(pattern) && (!all || k == len(names)):
			return true
		case i == len(pattern):
			// Only a later start can match to the end.
		case pattern[i] == "**" && i+1 == len(pattern):
			return !all || k < len(names)
		case pattern[i] == "**":
			i++
			retry, from = i, k
			continue
		case k == len(names):
			return false
		default:
			if ok, _ := path.Match(pattern[i], names[k]); ok {
				i, k = i+1, k+1
				continue
			}
		}
		if retry < 0 {
			return false
		}
		from++
		i, k = retry, from
	}
}

// A Filter decides which files of a folder are read.
type Filter struct {
	include, exclude []Pattern
	useIgnoreFiles   bool // obey ignore files
	KeepSecrets      bool
	Root             string
}

func NewFilter(opt Options) (f Filter, err error) {
	if f.include, err = parsePatterns(opt.Include); err != nil {
		return Filter{}, err
	}
	f.exclude, err = parsePatterns(opt.Exclude)
	f.useIgnoreFiles, f.KeepSecrets, f.Root = !opt.NoIgnore, opt.KeepSecrets, opt.Root
	return f, err
}

func parsePatterns(list []string) ([]Pattern, error) {
	var patterns []Pattern
	for _, s := range list {
		p, err := ParsePattern(s)
		if err != nil {
			return nil, err
		}
		patterns = append(patterns, p)
	}
	return patterns, nil
}

func (f Filter) Excluded(name string) bool { return matchesAny(f.exclude, name) }

func (f Filter) Included(name string) bool {
	return len(f.include) == 0 || matchesAny(f.include, name)
}

// IncludedFolder returns the folder that contains all included files, "" for the source's.
func (f Filter) IncludedFolder() string {
	var common []string
	for i, p := range f.include {
		n := slices.IndexFunc(p.elements, func(s string) bool { return strings.ContainsAny(s, "*?[") })
		folders := p.elements[:max(n, 0)]
		if i == 0 {
			common = folders
		}
		for len(common) > len(folders) || !slices.Equal(common, folders[:len(common)]) {
			common = common[:len(common)-1]
		}
	}
	return strings.Join(common, "/")
}

// SkipReason returns the reason why the patterns exclude a file, or "".
func (f Filter) SkipReason(name string) string {
	switch {
	case f.Excluded(name):
		return "excluded"
	case !f.Included(name) && !slices.Contains(IgnoreFiles[:], path.Base(name)):
		return "not included"
	}
	return ""
}

// reaches reports whether a file below the folder may be included.
func (f Filter) reaches(folder string) bool {
	if len(f.include) == 0 || matchesAny(f.include, folder) {
		return true
	}
	names := strings.Split(folder, "/")
	return slices.ContainsFunc(f.include, func(p Pattern) bool { return p.reaches(names) })
}

// reaches reports whether the pattern may match below the folder with these
// names.
func (p Pattern) reaches(names []string) bool {
	for i, name := range names {
		if i == len(p.elements) || p.elements[i] == "**" {
			return true
		}
		if ok, _ := path.Match(p.elements[i], name); !ok {
			return false
		}
	}
	return true
}

func matchesAny(patterns []Pattern, name string) bool {
	return slices.ContainsFunc(patterns, func(p Pattern) bool { return p.Match(name) })
}

// Options select the files of a folder. They are stored in the manifest with
// the build's options, so that ingest.Changed knows them.
type Options struct {
	// Include and Exclude are patterns of paths within the folder or site; see
	// ParsePattern. A file is read if no pattern of Exclude matches it and, if
	// Include is not empty, one of its patterns does.
	Include []string `json:"include,omitempty"`
	Exclude []string `json:"exclude,omitempty"`
	// NoIgnore reads files that .gitignore or .docsearchignore excludes.
	NoIgnore bool `json:"no_ignore,omitempty"`
	// KeepSecrets keeps suspected secrets: key files, and tokens in texts.
	KeepSecrets bool `json:"keep_secrets,omitempty"`
	// Root is the folder whose files are the pages below the database's URL prefix; "":
	// derived from the site's configuration, its links or Include.
	Root string `json:"root,omitempty"`
}
