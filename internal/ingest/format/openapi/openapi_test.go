package openapi

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

var update = flag.Bool("update", false, "write testdata/*.md")

// TestParse parses the files of testdata: OpenAPI 3 in YAML, Swagger 2 in JSON with
// tabs, and a JSON Schema. Their sections are in the files ending in .md.
func TestParse(t *testing.T) {
	for name, want := range map[string][]string{
		"library.yaml": {"files of references not found (1): other.yaml"},
		"swagger.json": nil,
		"schema.json":  nil,
	} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		doc, notes, err := Parse(data, name, nil)
		if err != nil || !slices.Equal(notes, want) {
			t.Fatalf("%s: %v, notes %v", name, err, notes)
		}
		got := render(doc)
		golden := filepath.Join("testdata", strings.TrimSuffix(name, filepath.Ext(name))+".md")
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
			t.Errorf("%s (-want +got; to accept, pass -update)\n%s", name, diff)
		}
	}
}

// render returns the sections with their anchors, terms and source lines.
func render(doc mdwriter.Document) string {
	var b strings.Builder
	for _, s := range doc.Sections {
		fmt.Fprintf(&b, "%s %s", strings.Repeat("#", s.Level), s.Heading)
		for _, a := range s.Anchors {
			fmt.Fprintf(&b, " {#%s}", a.Name)
		}
		if len(s.Terms) > 0 {
			fmt.Fprintf(&b, " [%s]", strings.Join(s.Terms, "; "))
		}
		fmt.Fprintf(&b, " line %d\n", s.From)
		for _, l := range s.Lines {
			if l.Text == "" {
				b.WriteByte('\n')
				continue
			}
			fmt.Fprintf(&b, "%s (%d)\n", l.Text, l.From)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestIsSchema(t *testing.T) {
	for in, want := range map[string]bool{
		`{"$schema": "https://x/meta.json", "properties": {"a": {"type": "string"}}}`: true,
		`{"$defs": {"b": {"type": "string"}}, "$ref": "#/$defs/b"}`:                   true,
		`{"properties": {"a": {"type": "string"}}}`:                                   false,
		`{"$defs": {"b": {"type": "string"}}}`:                                        false,
	} {
		if _, _, err := Parse([]byte(in), "", nil); (err == nil) != want {
			t.Errorf("%s: %v, want a schema: %v", in, err, want)
		}
	}
}

func TestHeadingOf(t *testing.T) {
	for in, want := range map[string]string{
		"# A title": "1 A title", "##\tA tab": "2 A tab", "### Closed ##": "3 Closed", "  # Indented": "1 Indented",
		"#number": "0 ", "####### Seven": "0 ", "#": "0 ", "text": "0 ",
	} {
		level, text := headingOf(in)
		if got := fmt.Sprint(level, " ", text); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// The example of a body is its own, else the first of several.
func TestBodyExample(t *testing.T) {
	for media, want := range map[string]string{
		`example: {cups: 1}`: `"cups": 1`,
		`examples: {few: {value: {cups: 2}}, many: {value: {cups: 99}}}`: `"cups": 2`,
		`example: {cups: 1}, examples: {many: {value: {cups: 99}}}`:      `"cups": 1`,
		`schema: {type: object, properties: {lid: {type: boolean}}}`:     "",
	} {
		doc, _, err := Parse([]byte("openapi: 3.1.0\ninfo: {title: T}\npaths: {/a: {post: {requestBody: {content: {application/json: {"+media+"}}}}}}\n"), "", nil)
		if err != nil {
			t.Fatal(err)
		}
		text := render(doc)
		if !strings.Contains(text, want) || strings.Contains(text, "99") || (want == "") == strings.Contains(text, "```json") {
			t.Errorf("%s is read as\n%s", media, text)
		}
	}
}

func TestErrors(t *testing.T) {
	for in, want := range map[string]string{
		"openapi: 3.0.0\ninfo: [":                "invalid YAML: ",
		`{"name": "x", "swagger": true}`:         ErrOther.Error(),
		"definitions: none":                      ErrOther.Error(),
		`{"$schema": "https://x/tsconfig.json"}`: ErrOther.Error(), // data that names its schema
		strings.Repeat(" ", MaxFile+1):           "API description larger than 32 MiB",
		"":                                       "empty",
		"{\"openapi\": \"3.1.0\", \"x\": " + strings.Repeat("[", 600) + strings.Repeat("]", 600) + "}": "nested more than 500 levels deep",
	} {
		if _, _, err := Parse([]byte(in), "", nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v, want %s", in, err, want)
		}
	}
	if _, _, err := Parse([]byte("a: 1"), "", nil); !errors.Is(err, ErrOther) {
		t.Error(err)
	}
}

// TestHostile parses files that grow without limit if references or aliases are copied.
func TestHostile(t *testing.T) {
	var laughs, merges, parts, wide strings.Builder
	laughs.WriteString("openapi: 3.0.0\nx0: &x0 {type: object, properties: {a: {type: string, description: long text}}}\n")
	merges.WriteString("openapi: 3.0.0\nm0: &m0 {k0: 1}\n")
	parts.WriteString("openapi: 3.0.0\np0: &p0 {type: string}\n")
	for i := 1; i < 60; i++ {
		fmt.Fprintf(&laughs, "x%d: &x%d {type: object, properties: {a: *x%d, b: *x%d, c: *x%d}}\n", i, i, i-1, i-1, i-1)
		fmt.Fprintf(&merges, "m%d: &m%d {<<: [*m%d, *m%d], k%d: 1}\n", i, i, i-1, i-1, i)
		fmt.Fprintf(&parts, "p%d: &p%d {oneOf: [%s*p%d]}\n", i, i, strings.Repeat(fmt.Sprintf("*p%d, ", i-1), 50), i-1)
	}
	fmt.Fprint(&laughs, "components: {schemas: {Bomb: *x59}}\npaths: {/a: {post: {requestBody: {content: {application/json: {schema: *x59, example: *x59}}}}}}\n")
	fmt.Fprint(&merges, "components: {schemas: {Bomb: {properties: *m59}}}\n")
	fmt.Fprint(&parts, "components: {schemas: {Bomb: *p59}}\n")
	wide.WriteString("openapi: 3.0.0\nd: &d \"" + strings.Repeat("word ", 5_000) + "\"\ncomponents:\n  schemas:\n    Wide:\n      properties:\n")
	for i := range 400 {
		fmt.Fprintf(&wide, "        field%d: {type: string, description: *d}\n", i)
	}
	wide.WriteString("paths:\n")
	for i := range 2_000 {
		fmt.Fprintf(&wide, "  /p%d: {post: {description: *d, requestBody: {content: {a/b: {schema: {$ref: '#/components/schemas/Wide'}}}}}}\n", i)
	}
	cycle := `{"openapi": "3.1.0", "info": {"title": "C"},
		"paths": {"/a": {"$ref": "#/paths/~1a"}, "/b": {"get": {"parameters": [{"$ref": "#/components/parameters/P"}]}}},
		"components": {"parameters": {"P": {"$ref": "#/components/parameters/P"}},
			"schemas": {"Tree": {"properties": {"children": {"items": {"$ref": "#/components/schemas/Tree"}}, "self": {"allOf": [{"$ref": "#/components/schemas/Tree"}]}}, "allOf": [{"$ref": "#/components/schemas/Tree"}]}}}}`
	for name, tt := range map[string]struct {
		text string
		cut  bool
	}{
		"aliases": {laughs.String(), false}, "merge keys": {merges.String(), false}, "alternatives": {parts.String(), true},
		"repeated schema": {wide.String(), true}, "references": {cycle, false},
		"alias cycle": {"openapi: 3.0.0\ncomponents: {schemas: &s {A: {properties: *s}}}\n", false},
	} {
		start := time.Now()
		doc, notes, err := Parse([]byte(tt.text), "", nil)
		written := 0
		for _, s := range doc.Sections {
			for _, l := range s.Lines {
				written += len(l.Text)
			}
		}
		cut := len(notes) > 0
		if err != nil || cut != tt.cut {
			t.Errorf("%s: %v, cut %v, want %v", name, err, cut, tt.cut)
		}
		if most := 16*len(tt.text) + 8<<20; written > most {
			t.Errorf("%s: wrote %d bytes of %d", name, written, len(tt.text))
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"library.yaml", "swagger.json", "schema.json"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("openapi: 3.0.0\na: &a {<<: *a, $ref: '#/a'}\npaths: {/x: {get: *a}}\n"))
	f.Add([]byte("$schema: http://json-schema.org/\nproperties: {a: {type: [string, null], enum: [1, {b: 2}]}}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, _, err := Parse(data, "a.yaml", func(string) (string, error) { return string(data), nil })
		if err != nil {
			return
		}
		for _, s := range doc.Sections {
			for _, l := range s.Lines {
				if strings.Contains(l.Text, "\n") {
					t.Errorf("a line has two: %q", l.Text)
				}
			}
		}
	})
}

// References to other files are relative to the file that has them.
func TestFiles(t *testing.T) {
	files := map[string]string{
		"api/paths/books.yaml":    "get: {$ref: list.yaml}",
		"api/paths/list.yaml":     "{summary: List books, description: {$ref: about.yaml}, responses: {'200': {description: ok, content: {application/json: {schema: {$ref: '../schemas/Book.yaml'}}}}}}",
		"api/paths/about.yaml":    "|\n  All books.\n\n  In order.\n",
		"api/schemas/Book.yaml":   "type: object\nproperties: {title: {type: string, description: As printed}, author: {$ref: 'people.yaml#/Author'}, next: {$ref: 'Book.yaml'}, page: {$ref: '../main.yaml#/components/schemas/Page'}}",
		"api/schemas/people.yaml": "Author: {type: object, properties: {born: {type: integer, description: The year}}}",
	}
	main := `
openapi: 3.0.0
info: {title: Library}
paths:
  /books: {$ref: paths/books.yaml}
  /gone: {$ref: ./gone.yaml}
  /web: {$ref: 'https://library.example/web.yaml'}
components: {schemas: {Page: {type: integer}}}
`
	doc, notes, err := Parse([]byte(main), "api/main.yaml", func(path string) (string, error) {
		if text, ok := files[path]; ok {
			return text, nil
		}
		return "", os.ErrNotExist
	})
	if err != nil || !slices.Equal(notes, []string{"files of references not found (2): api/gone.yaml, https://library.example/web.yaml"}) {
		t.Fatalf("%v, notes %q", err, notes)
	}
	got := render(doc)
	for _, want := range []string{
		"### List books (GET /books)", "`Book`", "All books. (0)\n\nIn order. (0)", "### Book {#schema-Book} [Book] ", "- `title` (string): As printed", "- `author` (`Author`)", "- `next` (`Book`)",
		"- `page` (`Page`)", "### Author {#schema-Author} [Author] ", "- `born` (integer): The year", "Used by: `GET /books`",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s not found", want)
		}
	}
	if strings.Count(got, "### Page") != 1 || t.Failed() {
		t.Error(got)
	}
}
