package main

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/docsearch/docsearch/docs"
)

// Every docsearch command line in the documentation exists, with its flags.
func TestDocumentedCommands(t *testing.T) {
	inline := regexp.MustCompile("`docsearch ([^`]*)`")
	atStart := regexp.MustCompile(`^(?:[^"]*\| *)?(?:[A-Z_]+=\S+ +)?docsearch (.*)`)
	found := 0
	for name, text := range pages(t) {
		var lines []string
		for block, isCode := range codeBlocks(text) {
			if !isCode {
				for _, m := range inline.FindAllStringSubmatch(strings.ReplaceAll(block, "\n", " "), -1) {
					lines = append(lines, m[1])
				}
				continue
			}
			for line := range strings.Lines(block) {
				if m := atStart.FindStringSubmatch(line); m != nil {
					lines = append(lines, m[1])
				}
			}
		}
		for _, line := range lines {
			found++
			checkCommandLine(t, name, strings.TrimSpace(line))
		}
	}
	if found < 50 {
		t.Errorf("only %d command lines were found", found)
	}
}

func checkCommandLine(t *testing.T, page, line string) {
	t.Helper()
	line, _, _ = strings.Cut(line, "#")
	args := strings.Fields(line)
	root := newRootCommand(&app{strings.NewReader(""), io.Discard, io.Discard})
	root.InitDefaultCompletionCmd()
	cmd, rest, err := root.Find(args)
	if err != nil || cmd == root && len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		t.Errorf("%s: command \"docsearch %s\" not found", page, line)
		return
	}
	if cmd.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		t.Errorf("%s: command \"docsearch %s\" not found", page, line)
	}
	cmd.InitDefaultHelpFlag()
	known := map[string]bool{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known["--"+f.Name] = true })
	for _, arg := range rest {
		flag, _, _ := strings.Cut(arg, "=")
		if strings.HasPrefix(flag, "--") && !known[flag] {
			t.Errorf("%s: docsearch %s has no flag %s", page, cmd.Name(), flag)
		}
	}
}

// The environment variables in the documentation are those in the code.
func TestDocumentedVariables(t *testing.T) {
	variable := regexp.MustCompile(`DOCSEARCH_[A-Z_]+[A-Z]`)
	documented := variable.FindAllString(pages(t)["configuration.md"], -1)
	used := map[string]bool{}
	root := filepath.Join("..", "..")
	for _, dir := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			data, err := os.ReadFile(path)
			for _, name := range variable.FindAllString(string(data), -1) {
				used[name] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range used {
		if !slices.Contains(documented, name) {
			t.Errorf("%s is in the code, and not in configuration.md", name)
		}
	}
	for _, name := range documented {
		if !used[name] {
			t.Errorf("configuration.md has %s, and no code reads it", name)
		}
	}
}

func pages(t *testing.T) map[string]string {
	t.Helper()
	entries, err := docs.Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, e := range entries {
		data, err := docs.Files.ReadFile(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		pages[e.Name()] = string(data)
	}
	return pages
}

// codeBlocks splits a page into prose and code blocks.
func codeBlocks(text string) func(yield func(block string, isCode bool) bool) {
	return func(yield func(string, bool) bool) {
		for i, part := range regexp.MustCompile("(?m)^```.*$").Split(text, -1) {
			if !yield(part, i%2 == 1) {
				return
			}
		}
	}
}

// The paths in the page about the architecture exist.
func TestArchitecturePaths(t *testing.T) {
	const page = "architecture.md"
	text := pages(t)[page]
	root := filepath.Join("..", "..")
	exists := func(path string) bool {
		_, err := os.Stat(filepath.Join(root, filepath.FromSlash(path)))
		return err == nil
	}

	_, layout, _ := strings.Cut(text, "## Package layout\n\n```\n")
	layout, _, _ = strings.Cut(layout, "```")
	found := 0
	var above []string // the folders that contain the line's, by indentation
	for line := range strings.Lines(layout) {
		depth := (len(line) - len(strings.TrimLeft(line, " "))) / 2
		for i, name := range strings.Fields(line) {
			if !strings.HasSuffix(name, "/") || depth > len(above) {
				break
			}
			path := strings.Join(above[:depth], "") + name
			if found++; !exists(path) {
				t.Errorf("%s: folder %s not found", page, path)
			}
			if i == 0 {
				above = append(above[:depth], name)
			}
		}
	}

	// Packages are named without internal, and a file may have no folder: only paths are.
	span := regexp.MustCompile("`([a-z0-9_.-]+/[a-z0-9_./-]+)`")
	for _, m := range span.FindAllStringSubmatch(text, -1) {
		path := strings.TrimSuffix(m[1], "/*")
		if found++; !exists(path) && !exists("internal/"+path) && !exists("internal/ingest/"+path) {
			t.Errorf("%s: %s not found", page, m[1])
		}
	}
	if found < 150 {
		t.Errorf("only %d paths were found", found)
	}
}
