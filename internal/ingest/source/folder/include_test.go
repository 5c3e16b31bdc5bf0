package folder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const example = "one\ntwo\n# --8<-- [start:middle]\nthree\nfour\n# --8<-- [end:middle]\nfive\n"

func TestExpandIncludes(t *testing.T) {
	files := map[string]string{
		"src/a.py":  example,
		"ticks.md":  "```\ncode\n```\n",
		"inner.md":  "before\n  --8<-- \"src/a.py:1:2\"\n",
		"itself.md": "again\n--8<-- \"itself.md\"\n",
		`a"b.md`:    "quoted\n",
	}
	const all = "one\ntwo\nthree\nfour\nfive"
	for _, test := range []struct{ name, in, want string }{
		{"nothing", "a\n{* not a path *}\n8<-\n", "a\n{* not a path *}\n8<-\n"},
		{"code", "{* src/a.py *}", "```py\none\ntwo\n# --8<-- [start:middle]\nthree\nfour\n# --8<-- [end:middle]\nfive\n```"},
		{"lines of code", "a\n{* src/a.py ln[1:2] hl[1] *}\nb", "a\n```py\none\ntwo\n```\nb"},
		{"several ranges of code", "{* src/a.py hl[2] ln[1,4:5] *}", "```py\none\n...\nthree\nfour\n```"},
		{"code to the end", "{* src/a.py ln[5:] *}", "```py\nfour\n# --8<-- [end:middle]\nfive\n```"},
		{"ranges beyond the end", "{* src/a.py ln[7:99] *}", "```py\nfive\n```"},
		{"indented code", "- a\n\n  {* src/a.py ln[1] *}", "- a\n\n  ```py\n  one\n  ```"},
		{"code with fences", "{* ticks.md *}", "````md\n```\ncode\n```\n````"},
		{"code in a fence", "```\n{* src/a.py *}\n```", "```\n{* src/a.py *}\n```"},
		{"missing code", "a\n{* src/b.py *}\nb", "a\nb"},

		{"snippet", "--8<-- \"src/a.py\"", all},
		{"snippet in a fence", "```python\n--8<-- 'src/a.py:1:1'\n```", "```python\none\n```"},
		{"indented snippet", "    --8<-- \"src/a.py:1:2\"", "    one\n    two"},
		{"lines", "--8<-- \"src/a.py:4:5\"", "three\nfour"},
		{"first lines", "--8<-- \"src/a.py::2\"", "one\ntwo"},
		{"lines to the end", "--8<-- \"src/a.py:5\"", "four\nfive"},
		{"lines from the end", "--8<-- \"src/a.py:-1\"", "five"},
		{"several ranges", "--8<-- \"src/a.py:1:1,7:7\"", "one\nfive"},
		{"section", "--8<-- \"src/a.py:middle\"", "three\nfour"},
		{"unknown section", "--8<-- \"src/a.py:end\"", ""},
		{"several dashes", "-----8<----- \"src/a.py::1\"", "one"},
		{"list", "--8<--\nsrc/a.py:1:1\n\n; src/a.py\n  src/a.py:2:2\n--8<--\nb", "one\n  two\nb"},
		{"list without an end", "--8<--\nsrc/a.py\n", "--8<--\nsrc/a.py\n"},
		{"escaped", ";--8<-- \"src/a.py\"\n;--8<--", "--8<-- \"src/a.py\"\n--8<--"},
		{"escaped quote", `--8<-- "a\"b.md"`, "quoted"},
		{"nested", "> a\n  --8<-- \"inner.md\"", "> a\n  before\n    one\n    two"},
		{"of itself", "--8<-- \"itself.md\"", strings.TrimSuffix(strings.Repeat("again\n", maxIncludeNested), "\n")},
		{"missing", "a\n--8<-- \"b.md\"\nb", "a\nb"},
		{"URL", "a\n--8<-- \"https://example.org/src/a.py\"\nb", "a\nb"},
		{"text behind it", "--8<-- \"src/a.py\" b", "--8<-- \"src/a.py\" b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := includer{open: func(path string) (string, error) {
				if text, ok := files[path]; ok {
					return text, nil
				}
				return "", fs.ErrNotExist
			}}
			got, from := in.expand(strings.Split(test.in, "\n"))
			if diff := cmp.Diff(test.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("expanded (-want +got):\n%s", diff)
			}
			if from != nil && len(from) != len(got) {
				t.Errorf("%d places of %d lines", len(from), len(got))
			}
		})
	}
}

// Includes of a page are limited.
func TestExpandIncludesBounds(t *testing.T) {
	large := strings.Repeat("x\n", maxIncluded/5)
	in := includer{open: func(path string) (string, error) { return large, nil }}
	lines, _ := in.expand([]string{`--8<-- "a"`, `--8<-- "b"`, `--8<-- "c:-9:"`, `--8<-- "c"`, `--8<-- "d"`, "end"})
	if want := 2*strings.Count(large, "\n") + 9 + 1; len(lines) != want {
		t.Errorf("%d lines, want %d", len(lines), want)
	}
	bomb := strings.Repeat("--8<-- \"a\"\n", 100)
	in = includer{open: func(path string) (string, error) { return bomb, nil }}
	if lines, _ := in.expand([]string{`--8<-- "a"`}); len(lines) > maxIncludes*100 {
		t.Errorf("%d lines of a file that includes itself", len(lines))
	}
}

func FuzzExpandIncludes(f *testing.F) {
	f.Add("{* a ln[1:2,3] hl[4] *}\n--8<-- \"b:middle\"\n", example)
	f.Add("--8<--\na:1:3\n; b\n--8<--\n;--8<-- 'a'\n", "--8<-- \"a:-3:,2\"\n")
	f.Add("```\n--8<-- 'a::-1'\n```", "--8<-- [start:x]\n")
	f.Add("-8<- '0'", "-8<- \"00000\x94\"")
	f.Fuzz(func(t *testing.T, page, file string) {
		in := includer{open: func(path string) (string, error) {
			if path == "" {
				return "", errors.New("no path")
			}
			return file, nil
		}}
		lines := strings.Split(page, "\n")
		out, from := in.expand(lines)
		if from == nil {
			if !cmp.Equal(out, lines) {
				t.Fatalf("changed without places: %q", out)
			}
			return
		}
		if len(from) != len(out) || len(in.paths) != len(in.states) || len(in.paths) > maxIncludes {
			t.Fatalf("%d lines, %d places, %d paths, %d states", len(out), len(from), len(in.paths), len(in.states))
		}
		for i := range from {
			if from[i] < 1 || from[i] > len(lines) || i > 0 && from[i] < from[i-1] {
				t.Fatalf("line %d is made of line %d of %d", i+1, from[i], len(lines))
			}
		}
	})
}

// Included files must be within the source and not excluded.
func TestIncludedFiles(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(dir, "outside.txt")
	for name, text := range map[string]string{
		outside:                             "outside",
		"source/mkdocs.yml":                 "",
		"source/top.txt":                    "top",
		"source/docs_src/a.py":              "a",
		"source/docs_src/.hidden.py":        "hidden",
		"source/docs_src/ignored.py":        "ignored",
		"source/docs_src/excluded.py":       "excluded",
		"source/docs_src/id_rsa":            "secret",
		"source/docs_src/binary.bin":        "a\x00b",
		"source/.gitignore":                 "ignored.py\n",
		"source/docs/en/mkdocs.yml":         "",
		"source/docs/en/both.txt":           "of mkdocs.yml",
		"source/docs/en/docs/both.txt":      "of the page",
		"source/docs/en/docs/page.md":       "",
		"source/docs/en/docs/sub/own.txt":   "own",
		"source/docs/en/docs/sub/page.md":   "",
		"source/docs/en/docs/sub/large.txt": strings.Repeat("x", maxIncluded+1),
	} {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if runtime.GOOS != "windows" {
		for name, to := range map[string]string{"out.txt": outside, "in.txt": "top.txt"} {
			if err := os.Symlink(to, filepath.Join(dir, "source", name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	root, err := os.OpenRoot(filepath.Join(dir, "source"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	filter, err := NewFilter(Options{Include: []string{"*.md"}, Exclude: []string{"excluded.*"}})
	if err != nil {
		t.Fatal(err)
	}
	stock := Reader{Root: root, Filter: filter}
	for _, test := range []struct{ path, want string }{
		{"../../docs_src/a.py", "a"},
		{`..\..\docs_src\a.py`, "a"},
		{"docs_src/a.py", "a"},
		{"./docs_src/../top.txt", "top"},
		{"both.txt", "of mkdocs.yml"},
		{"own.txt", "own"},
		{"in.txt", "top"},
		{"docs_src/missing.py", ""},
		{"docs_src", ""},
		{"docs_src/.hidden.py", ""},
		{"docs_src/ignored.py", ""},
		{"docs_src/excluded.py", ""},
		{"docs_src/id_rsa", ""},
		{"docs_src/binary.bin", ""},
		{"large.txt", ""},
		{"out.txt", ""},
		{"../outside.txt", ""},
		{"../../../../outside.txt", ""},
		{"../../../../../../../../etc/hosts", ""},
		{outside, ""},
		{"", ""},
		{".", ""},
		{"a\x00b", ""},
	} {
		t.Run(test.path, func(t *testing.T) {
			if runtime.GOOS == "windows" && test.path == "in.txt" {
				t.Skip("no symbolic links")
			}
			got, err := stock.include("docs/en/docs/sub/page.md", test.path)
			if got != test.want || (err == nil) != (test.want != "") {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
		})
	}
}
