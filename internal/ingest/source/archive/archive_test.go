package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ulikunitz/xz"

	"github.com/docsearch/docsearch/internal/index/generation"
)

type entry struct {
	name, content string
	kind          byte
}

// pack writes an archive of the format that name has to a test folder.
func pack(t testing.TB, name string, entries []entry) string {
	t.Helper()
	var b bytes.Buffer
	var closers []io.Closer
	if strings.HasSuffix(name, ".zip") {
		z := zip.NewWriter(&b)
		for _, e := range entries {
			h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
			if e.kind == tar.TypeSymlink {
				h.SetMode(fs.ModeSymlink | 0o777)
			}
			w, err := z.CreateHeader(h)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(w, e.content); err != nil {
				t.Fatal(err)
			}
		}
		closers = append(closers, z)
	} else {
		var w io.Writer = &b
		var c io.WriteCloser
		var err error
		switch filepath.Ext(name) {
		case ".tgz", ".gz":
			c = gzip.NewWriter(&b)
		case ".xz":
			c, err = xz.NewWriter(&b)
		}
		if err != nil {
			t.Fatal(err)
		}
		if c != nil {
			w = c
		}
		tw := tar.NewWriter(w)
		for _, e := range entries {
			h := &tar.Header{Name: e.name, Typeflag: e.kind, Mode: 0o644, Size: int64(len(e.content))}
			if e.kind != 0 && e.kind != tar.TypeReg {
				h.Size, h.Linkname = 0, e.content
			}
			if err := tw.WriteHeader(h); err != nil {
				t.Fatal(err)
			}
			if h.Size > 0 {
				if _, err := io.WriteString(tw, e.content); err != nil {
					t.Fatal(err)
				}
			}
		}
		closers = append(closers, tw)
		if c != nil {
			closers = append(closers, c)
		}
	}
	for _, c := range closers {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(name) == ".zst" {
		out, err := exec.Command("zstd", "-qc", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, out, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// needs skips a test if the program that decompresses the format is missing.
func needs(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath("zstd"); err != nil && filepath.Ext(name) == ".zst" {
		t.Skip("there is no zstd")
	}
}

// unpacked returns the contents of the files below dir.
func unpacked(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return files
}

func TestExtract(t *testing.T) {
	entries := []entry{
		{name: "docs/a.md", content: "# A\n"}, {name: "./docs/deep/b.md", content: "# B\n"}, {name: "top.md", content: "T"},
		{name: "../out.md", content: "no"}, {name: "docs/../../out.md", content: "no"}, {name: "/etc/passwd", content: "no"},
		{name: `C:\windows\x.md`, content: "no"}, {name: `docs\..\..\y.md`, content: "no"},
		{name: "top.md", content: "again"}, {name: "top.md/under.md", content: "no"},
		{name: "image.png", content: "png"}, {name: strings.Repeat("d/", 70) + "x.md", content: "deep"},
		{name: "link", content: "/etc/passwd", kind: tar.TypeSymlink}, {name: "link/through.md", content: "through"},
	}
	want := map[string]string{"docs/a.md": "# A\n", "docs/deep/b.md": "# B\n", "top.md": "T", "link/through.md": "through"}
	whys := map[string]string{
		"../out.md": "path outside the archive", "docs/../../out.md": "path outside the archive",
		"/etc/passwd": "absolute path", `C:\windows\x.md`: "absolute path", `docs\..\..\y.md`: "path outside the archive",
		"top.md": "duplicate file name in the archive", "image.png": "unwanted", "link": "a link",
		strings.Repeat("d/", 70) + "x.md": "nested more than 64 folders deep",
	}
	for _, name := range []string{"a.zip", "a.tar", "a.tar.gz", "a.tgz", "a.tar.zst", "a.tar.xz"} {
		t.Run(name, func(t *testing.T) {
			needs(t, name)
			dir := t.TempDir()
			all := entries
			if name != "a.zip" {
				all = append(all, entry{name: "hard", content: "docs/a.md", kind: tar.TypeLink}, entry{name: "fifo", kind: tar.TypeFifo})
			}
			skipped, err := extract(t, pack(t, name, all), dir, Options{Limits: DefaultLimits(), Want: func(name string, _ int64) string {
				if strings.HasSuffix(name, ".png") {
					return "unwanted"
				}
				return ""
			}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, unpacked(t, dir)); diff != "" {
				t.Errorf("files (-want +got)\n%s", diff)
			}
			got := map[string]string{}
			for _, s := range skipped {
				got[s.Name] = s.Reason
			}
			for name, why := range whys {
				if got[name] != why {
					t.Errorf("%s: %q, want %q", name, got[name], why)
				}
			}
			if got["top.md/under.md"] == "" || name != "a.zip" && (got["hard"] != "a link" || got["fifo"] != "not a regular file") {
				t.Errorf("passed by %v", got)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	big := strings.Repeat("a", 3<<20)
	limits := Limits{Files: 3, Bytes: 1 << 20, Read: 2 << 20, Depth: 10}
	for _, tt := range []struct {
		name    string
		entries []entry
		why     string
	}{
		{"bomb.zip", []entry{{name: "a.md", content: big}}, "unpacks to more than 1 MiB"},
		{"bomb.tar.gz", []entry{{name: "a.md", content: big}}, "unpacks to more than 1 MiB"},
		{"many.tar", []entry{{name: "a"}, {name: "b"}, {name: "c"}, {name: "d"}}, "contains more than 3 files"},
		{"entries.tar", slices.Repeat([]entry{{name: "a.png"}}, 13), "has more than 12 entries"},
		{"unwanted.tar.xz", []entry{{name: "a.png", content: big}, {name: "b"}}, "decompresses to more than 2 MiB"},
	} {
		path := pack(t, tt.name, tt.entries)
		_, err := extract(t, path, t.TempDir(), Options{Limits: limits, Want: func(name string, _ int64) string {
			if strings.HasSuffix(name, ".png") {
				return "unwanted"
			}
			return ""
		}})
		var limit *LimitError
		if !errors.As(err, &limit) || limit.Problem != tt.why {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.why)
		}
	}
}

func TestDamaged(t *testing.T) {
	for _, name := range []string{"a.zip", "a.tar", "a.tgz", "a.tar.xz", "a.tar.bz2", "a.tar.zst"} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, bytes.Repeat([]byte("damaged "), 200), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := extract(t, path, t.TempDir(), Options{Limits: DefaultLimits()}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStem(t *testing.T) {
	for name, want := range map[string]string{"a/b-1.2.tar.gz": "b-1.2", "b.TGZ": "b", "c.zip": "c", ".zip": ".zip", "d.md": "d.md"} {
		if got := Stem(name); got != want {
			t.Errorf("Stem(%s) = %s, want %s", name, got, want)
		}
	}
}

func FuzzExtract(f *testing.F) {
	for _, name := range []string{"a.zip", "a.tar", "a.tar.gz", "a.tar.xz"} {
		data, err := os.ReadFile(pack(f, name, []entry{{name: "x/y.md", content: "text"}, {name: "../z", content: "no"}}))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(name, data)
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if !Is(name) || strings.HasSuffix(strings.ToLower(name), "zst") || strings.ContainsAny(name, "/\\\x00") || len(name) > 50 {
			return
		}
		outer := t.TempDir()
		path, dir := filepath.Join(outer, name), filepath.Join(outer, "unpacked!")
		if os.WriteFile(path, data, 0o644) != nil || os.Mkdir(dir, 0o755) != nil {
			return
		}
		skipped, err := extract(t, path, dir, Options{Limits: Limits{Files: 20, Bytes: 1 << 16, Read: 1 << 20, Depth: 8}})
		entries, listErr := os.ReadDir(outer)
		if listErr != nil || len(entries) != 2 {
			t.Fatalf("%v beside the archive: %v (%s)", entries, listErr, fmt.Sprint(skipped, err))
		}
	})
}

func extract(t *testing.T, path, dir string, opt Options) ([]generation.Skipped, error) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	return Extract(t.Context(), path, root, opt)
}
