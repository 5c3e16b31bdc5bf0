// Command changelog moves the entries in changelog/unreleased to CHANGELOG.md, each to the end
// of its section of "Unreleased". With a version, that part gets its name. Run it in the
// folder of the repository:
//
//	go run ./test/release/changelog [VERSION]
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const (
	changelog  = "CHANGELOG.md"
	unreleased = "## Unreleased\n"
)

func main() {
	if err := run(strings.Join(os.Args[1:], " ")); err != nil {
		fmt.Fprintln(os.Stderr, "changelog:", err)
		os.Exit(1)
	}
}

func run(version string) error {
	text, err := os.ReadFile(changelog)
	if err != nil {
		return err
	}
	files, err := filepath.Glob("changelog/unreleased/*.md")
	if err != nil {
		return err
	}
	gathered := string(text)
	for _, file := range files {
		entries, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if gathered, err = add(gathered, string(entries)); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	if version != "" {
		gathered = strings.Replace(gathered, unreleased, "## "+version+"\n", 1)
	}
	if err := os.WriteFile(changelog, []byte(gathered), 0o644); err != nil {
		return err
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	return nil
}

var form = regexp.MustCompile(`^### .+\n\n(- .+\n(  \S.*\n)*)+$`)

// add adds the entries of a file to the text of the changelog.
func add(text, file string) (string, error) {
	if !form.MatchString(file) {
		return "", fmt.Errorf("want a line %q, an empty line, and entries that start with %q", "### SECTION", "- ")
	}
	heading, entries, _ := strings.Cut(file, "\n\n")
	if !strings.Contains(text, unreleased) {
		title, versions, _ := strings.Cut(text, "\n")
		text = title + "\n\n" + unreleased + versions
	}
	start := strings.Index(text, unreleased) + len(unreleased)
	end := next(text, "\n## ", start)
	if i := strings.Index(text[start:end], "\n"+heading+"\n"); i >= 0 {
		end = min(end, next(text, "\n### ", start+i+len(heading)))
	} else {
		entries = "\n" + heading + "\n\n" + entries
	}
	above, below := strings.TrimRight(text[:end], "\n")+"\n", strings.TrimLeft(text[end:], "\n")
	if below != "" {
		below = "\n" + below
	}
	return above + entries + below, nil
}

// next returns the place of the next line that starts with a heading's mark, or the end.
func next(text, mark string, from int) int {
	if i := strings.Index(text[from:], mark); i >= 0 {
		return from + i
	}
	return len(text)
}
