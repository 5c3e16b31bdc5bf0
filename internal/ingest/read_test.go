package ingest

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
)

// utf16Of encodes a text in UTF-16 with a byte order mark.
func utf16Of(order binary.AppendByteOrder, text string) string {
	b := order.AppendUint16(nil, 0xfeff)
	for _, unit := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

// Files of every text format are read in UTF-8 and, with a byte order mark, in
// UTF-16.
func TestUTF16(t *testing.T) {
	texts := map[string]string{
		"a.md":                 "# Größe 😀\n\nTextmarke\r\n",
		"b.txt":                "Größe 😀\n=======\n\nTextmarke\n",
		"c.rst":                "Größe 😀\n=======\n\nTextmarke\n",
		"d.adoc":               "= Größe 😀\n\nTextmarke\n",
		"e.mdx":                "import a from 'b'\n\n# Größe 😀\n\nTextmarke\n",
		"f.html":               "<title>Größe 😀</title><h1>Größe 😀</h1><p>Textmarke",
		"g.1":                  ".TH Größe 1\n.SH NAME\nGröße 😀 \\- Textmarke\n",
		"h.info":               "\x1f\nFile: h,  Node: Größe 😀\n\nGröße 😀\n*******\n\nTextmarke\n",
		"i.ipynb":              `{"cells": [{"cell_type": "markdown", "source": "# Größe 😀\n\nTextmarke"}]}`,
		"j.py":                 "def größe():\n    \"\"\"Textmarke\"\"\"\n",
		"README":               "Größe 😀\n\nTextmarke\n",
		"k.dist-info/METADATA": "Name: größe\n\nTextmarke\n",
	}
	passages := func(encode func(string) string) string {
		dir := t.TempDir()
		files := map[string]string{".docsearchignore": encode("ignored.md\n"), "ignored.md": "# Ignored"}
		for name, text := range texts {
			files[name] = encode(text)
		}
		ingesttest.WriteFiles(t, dir, files)
		f, err := NewFolder(dir, folder.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return string(generate(t, f, nil).lines)
	}
	want := passages(func(s string) string { return s })
	if n := strings.Count(want, "Textmarke"); n < len(texts) {
		t.Fatalf("%d of %d files are read", n, len(texts))
	}
	for name, order := range map[string]binary.AppendByteOrder{"little endian": binary.LittleEndian, "big endian": binary.BigEndian} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(want, passages(func(s string) string { return utf16Of(order, s) })); diff != "" {
				t.Errorf("passages (-UTF-8 +UTF-16)\n%s", diff)
			}
		})
	}
}

// forbid makes a file or folder unreadable until the test ends.
func forbid(t *testing.T, path string) {
	t.Helper()
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(path, 0o755) })
	if f, err := os.Open(path); err == nil {
		f.Close()
		t.Skip("everything can be read here")
	}
}

// Unreadable files are listed first.
func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"z.md": "# Z", "y/a.md": "# A"}
	for i := range 50 {
		files[string(rune('a'+i%26))+strings.Repeat("x", i)+".x"+strings.Repeat("y", i)] = ""
	}
	ingesttest.WriteFiles(t, dir, files)
	forbid(t, filepath.Join(dir, "y"))
	forbid(t, filepath.Join(dir, "z.md"))
	f, err := NewFolder(dir, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Prepare(t.Context(), confined.In(t.TempDir()), nil, nil)
	const want = "the source has no passages; skipped: cannot read: permission denied (2, such as y/); "
	if !errors.Is(err, generation.ErrNoPassages) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
	ingesttest.WriteFiles(t, dir, map[string]string{"b.md": "# B"})
	g := generate(t, f, nil)
	if diff := cmp.Diff([]generation.Skipped{{Name: "y/", Reason: "cannot read: permission denied"}, {Name: "z.md", Reason: "cannot read: permission denied"}}, g.Skipped[:2]); diff != "" {
		t.Errorf("skipped (-want +got)\n%s", diff)
	}
	one, err := NewFolder(filepath.Join(dir, "z.md"), folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := one.Prepare(t.Context(), confined.In(t.TempDir()), nil, nil); err == nil || !strings.Contains(err.Error(), "skipped: cannot read: permission denied (z.md)") {
		t.Errorf("one file: %v", err)
	}
	forbid(t, dir)
	if _, err := f.Prepare(t.Context(), confined.In(t.TempDir()), nil, nil); err == nil || err.Error() != "cannot read "+dir+": permission denied" {
		t.Errorf("the folder: %v", err)
	}
}
