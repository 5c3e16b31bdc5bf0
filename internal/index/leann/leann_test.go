package leann

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/file/filetest"
)

const onePassage = `{"id": "0", "text": "a", "metadata": {}}` + "\n"

// Meta files of LEANN's two formats, with the fields that docsearch reads.
const (
	oldMeta = `{"version": "1.0", "backend_name": "hnsw", "embedding_model": "facebook/contriever", "dimensions": 768,
		"backend_kwargs": {"graph_degree": 32}, "embedding_mode": "sentence-transformers", "is_compact": true, "is_pruned": true,
		"passage_sources": [{"type": "jsonl", "path": "documents.leann.passages.jsonl", "index_path": "documents.leann.passages.idx"}]}`
	newerMeta = `{"version": "1.1", "backend_name": "ivf", "embedding_model": "m", "dimensions": 3, "embedding_mode": "openai",
		"embedding_options": {"api_key": "secret"}, "total_passages": 1,
		"passage_sources": [{"type": "jsonl", "path": "DIR/documents.leann.passages.jsonl", "path_relative": "documents.leann.passages.jsonl"}]}`
)

// tree writes files to a new folder, by path, and returns the folder. DIR in their
// contents is replaced by the folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		content = strings.ReplaceAll(content, "DIR", filepath.ToSlash(dir))
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFind(t *testing.T) {
	const index = "p/.leann/indexes/docs/"
	standard := map[string]string{
		index + "documents.leann.meta.json":      oldMeta,
		index + "documents.leann.passages.jsonl": onePassage,
		index + "documents.leann.passages.idx":   "0\n",
		index + "documents.index":                "IHNf",
	}
	for _, tt := range []struct {
		name  string
		files map[string]string
		path  string
		kind  string
		dir   string
		want  []string // the shards
	}{
		{name: "folder", files: standard, path: index, kind: KindIndex, dir: index, want: []string{index + "documents.leann.passages.jsonl"}},
		{name: "meta file", files: standard, path: index + "documents.leann.meta.json", kind: KindIndex, dir: index, want: []string{index + "documents.leann.passages.jsonl"}},
		{name: "passages file next to a meta file", files: standard, path: index + "documents.leann.passages.jsonl", kind: KindIndex, dir: index, want: []string{index + "documents.leann.passages.jsonl"}},
		{name: "LEANN's name", files: standard, path: index + "documents.leann", kind: KindIndex, dir: index, want: []string{index + "documents.leann.passages.jsonl"}},
		{name: "the only one below .leann", files: standard, path: "p/.leann", kind: KindIndex, dir: index, want: []string{index + "documents.leann.passages.jsonl"}},
		{name: "the only one below .leann/indexes", files: standard, path: "p/.leann/indexes", kind: KindIndex, dir: index, want: []string{index + "documents.leann.passages.jsonl"}},
		{name: "a rebuild is staged next to it", path: "p/.leann/indexes", kind: KindIndex, dir: index, want: []string{index + "documents.leann.passages.jsonl"},
			files: map[string]string{
				index + "documents.leann.meta.json":                                oldMeta,
				index + "documents.leann.passages.jsonl":                           onePassage,
				"p/.leann/indexes/.docs.rebuild-1f/documents.leann.meta.json":      oldMeta,
				"p/.leann/indexes/.docs.rebuild-1f/documents.leann.passages.jsonl": onePassage,
			}},
		{name: "absolute path", path: "x", kind: KindIndex, dir: "x", want: []string{"x/documents.leann.passages.jsonl"},
			files: map[string]string{
				"x/documents.leann.meta.json":      strings.ReplaceAll(newerMeta, "DIR", "DIR/x"),
				"x/documents.leann.passages.jsonl": onePassage,
			}},
		{name: "a copied index prefers its own", path: "copy", kind: KindIndex, dir: "copy", want: []string{"copy/documents.leann.passages.jsonl"},
			files: map[string]string{
				"documents.leann.passages.jsonl":      onePassage,
				"copy/documents.leann.meta.json":      newerMeta,
				"copy/documents.leann.passages.jsonl": onePassage,
			}},
		{name: "path of another system", path: "x", kind: KindIndex, dir: "x", want: []string{"x/p.jsonl"},
			files: map[string]string{
				"x/a.leann.meta.json": `{"passage_sources": [{"path": "C:\\Users\\me\\x\\p.jsonl"}]}`,
				"x/p.jsonl":           onePassage,
			}},
		{name: "no sources named", path: "x", kind: KindIndex, dir: "x", want: []string{"x/app.leann.passages.jsonl"},
			files: map[string]string{"x/app.leann.meta.json": `{}`, "x/app.leann.passages.jsonl": onePassage}},
		{name: "shards", path: "x", kind: KindIndex, dir: "x", want: []string{"x/b.jsonl", "x/sub/a.jsonl"},
			files: map[string]string{
				"x/app.leann.meta.json": `{"passage_sources": [{"path": "b.jsonl"}, {"path": 5, "path_relative": "sub/a.jsonl"}]}`,
				"x/b.jsonl":             onePassage, "x/sub/a.jsonl": onePassage,
			}},
		{name: "a base without .leann, by its folder", path: "docs", kind: KindIndex, dir: "docs", want: []string{"docs/docs.passages.jsonl"},
			files: map[string]string{"docs/docs.meta.json": `{}`, "docs/docs.passages.jsonl": onePassage, "docs/package.meta.json": "{}"}},
		{name: "a base without .leann, by LEANN's name", path: "docs/docs", kind: KindIndex, dir: "docs", want: []string{"docs/docs.passages.jsonl"},
			files: map[string]string{"docs/docs.meta.json": `{}`, "docs/docs.passages.jsonl": onePassage}},
		{name: "a base without .leann, by its passages", path: "docs/docs.passages.jsonl", kind: KindIndex, dir: "docs", want: []string{"docs/docs.passages.jsonl"},
			files: map[string]string{"docs/docs.meta.json": `{}`, "docs/docs.passages.jsonl": onePassage}},
		{name: "a base without .leann that lost its meta file", path: "docs", kind: KindPassages, dir: "docs", want: []string{"docs/docs.passages.jsonl"},
			files: map[string]string{"docs/docs.passages.jsonl": onePassage}},
		{name: "LEANN's name without .leann", files: standard, path: index + "documents", kind: KindIndex, dir: index, want: []string{index + "documents.leann.passages.jsonl"}},
		{name: "bare file", path: "x/any.jsonl", kind: KindPassages, dir: "x", want: []string{"x/any.jsonl"},
			files: map[string]string{"x/any.jsonl": onePassage}},
		{name: "folder with a bare file", path: "x", kind: KindPassages, dir: "x", want: []string{"x/passages.jsonl"},
			files: map[string]string{"x/passages.jsonl": onePassage}},
		{name: "folder that lost its meta file", path: "x", kind: KindPassages, dir: "x", want: []string{"x/documents.leann.passages.jsonl"},
			files: map[string]string{"x/documents.leann.passages.jsonl": onePassage}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := tree(t, tt.files)
			x, err := Find(filepath.Join(root, tt.path))
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, s := range tt.want {
				want = append(want, filepath.Join(root, s))
			}
			got := slices.Clone(x.Shards)
			for i := range got {
				got[i] = filepath.FromSlash(got[i]) // an absolute path in the meta file is as written
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("shards (-want +got)\n%s", diff)
			}
			if dir := filepath.Join(root, tt.dir); x.Dir != dir || x.Kind != tt.kind {
				t.Errorf("a %s in %s, want a %s in %s", x.Kind, x.Dir, tt.kind, dir)
			}
			if dir, err := Folder(filepath.Join(root, tt.path)); err != nil || dir != x.Dir {
				t.Errorf("Folder = %s, %v; want %s", dir, err, x.Dir)
			}
		})
	}
}

func TestFindFails(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		path  string
		is    error
		want  string
	}{
		{name: "nothing there", path: "absent", is: fs.ErrNotExist},
		{name: "a folder of something else", path: ".", files: map[string]string{"readme.md": "x"}, is: ErrNotLEANN},
		{name: "a file of something else", path: "readme.md", files: map[string]string{"readme.md": "x"}, is: ErrNotLEANN},
		{name: "a project is not its index", path: ".", is: ErrNotLEANN,
			files: map[string]string{".leann/indexes/a/documents.leann.meta.json": oldMeta, ".leann/indexes/a/documents.leann.passages.jsonl": onePassage}},
		{name: "several indexes", path: ".leann", want: "pass one of a, b",
			files: map[string]string{
				".leann/indexes/a/documents.leann.passages.jsonl": onePassage,
				".leann/indexes/b/documents.leann.passages.jsonl": onePassage,
			}},
		{name: "several indexes in a folder", path: "a.leann.meta.json", want: "a.leann.meta.json, b.leann.meta.json",
			files: map[string]string{"a.leann.meta.json": "{}", "b.leann.meta.json": "{}"}},
		{name: "with and without .leann", path: ".", want: "contains 2 LEANN indexes",
			files: map[string]string{"a.leann.meta.json": "{}", "b.meta.json": "{}", "b.passages.jsonl": onePassage}},
		{name: "a meta file of something else", path: ".", is: ErrNotLEANN, files: map[string]string{"b.meta.json": "{}"}},
		{name: "several passages files", path: ".", want: "pass one of them",
			files: map[string]string{"a.leann.passages.jsonl": onePassage, "b.leann.passages.jsonl": onePassage}},
		{name: "passages are missing", path: "x.leann.meta.json", want: "x.leann.passages.jsonl not found",
			files: map[string]string{"x.leann.meta.json": `{"passage_sources": [{"path": "gone.jsonl"}]}`}},
		{name: "meta is no JSON", path: "x.leann.meta.json", want: "invalid LEANN meta file",
			files: map[string]string{"x.leann.meta.json": `{`, "x.leann.passages.jsonl": onePassage}},
		{name: "meta is null", path: "x.leann.meta.json", want: "invalid LEANN meta file",
			files: map[string]string{"x.leann.meta.json": `null`, "x.leann.passages.jsonl": onePassage}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Find(filepath.Join(tree(t, tt.files), tt.path))
			if err == nil || !errors.Is(err, tt.is) && tt.is != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %v with %q", err, tt.is, tt.want)
			}
		})
	}
}

func TestFindRejectsOutsideFiles(t *testing.T) {
	for name, source := range map[string]string{
		"absolute":  `{"path": "DIR/secret.jsonl"}`,
		"climbing":  `{"path": "../secret.jsonl"}`,
		"relative":  `{"path": "gone.jsonl", "path_relative": "../secret.jsonl"}`,
		"symbolic":  `{"path": "link.jsonl"}`,
		"one shard": `{"path": "own.jsonl"}, {"path": "../secret.jsonl"}`,
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, map[string]string{
				"secret.jsonl":          onePassage,
				"x/own.jsonl":           onePassage,
				"x/app.leann.meta.json": `{"passage_sources": [` + source + `]}`,
			})
			filetest.Symlink(t, filepath.Join(root, "secret.jsonl"), filepath.Join(root, "x", "link.jsonl"))
			x, err := Find(filepath.Join(root, "x"))
			var outside *OutsideError
			if !errors.As(err, &outside) {
				t.Fatalf("Find gave %v, %v, want an OutsideError", x, err)
			}
			trusted, err := FindTrusted(filepath.Join(root, "x"))
			if err != nil {
				t.Fatal(err)
			}
			last, err := filepath.EvalSymlinks(trusted.Shards[len(trusted.Shards)-1])
			if want := filepath.Join(root, "secret.jsonl"); err != nil || last != want {
				t.Errorf("FindTrusted: shard %s, %v; want %s", last, err, want)
			}
			if dir, err := Folder(filepath.Join(root, "x")); err != nil || dir != filepath.Join(root, "x") {
				t.Errorf("Folder = %s, %v", dir, err)
			}
		})
	}
}

// Find follows a symbolic link only if the caller passes its path.
func TestFindFollowsExplicitLinks(t *testing.T) {
	root := tree(t, map[string]string{"secret.jsonl": onePassage, "x/placeholder": ""})
	link := filepath.Join(root, "x", "passages.jsonl")
	filetest.Symlink(t, filepath.Join(root, "secret.jsonl"), link)
	var outside *OutsideError
	if x, err := Find(filepath.Dir(link)); !errors.As(err, &outside) {
		t.Errorf("path of the folder: %v, %v, want an OutsideError", x, err)
	}
	for name, find := range map[string]func() (*Index, error){
		"named":   func() (*Index, error) { return Find(link) },
		"trusted": func() (*Index, error) { return FindTrusted(filepath.Dir(link)) },
	} {
		if x, err := find(); err != nil || x.Dir != filepath.Dir(link) {
			t.Errorf("%s: %v, %v", name, x, err)
		}
	}
}

// LEANN falls back to the working directory; docsearch must not.
func TestFindIgnoresTheWorkingDirectory(t *testing.T) {
	root := tree(t, map[string]string{
		"here/p.jsonl":          onePassage,
		"x/app.leann.meta.json": `{"passage_sources": [{"path": "p.jsonl"}]}`,
	})
	t.Chdir(filepath.Join(root, "here"))
	if x, err := Find(filepath.Join(root, "x")); err == nil {
		t.Errorf("found %v", x.Shards)
	}
}

func TestParseMeta(t *testing.T) {
	for _, tt := range []struct {
		name, meta string
		want       Meta
	}{
		{"old", oldMeta, Meta{Version: "1.0", Backend: "hnsw", EmbeddingModel: "facebook/contriever", EmbeddingMode: "sentence-transformers", Dimensions: 768,
			Sources: []PassageSource{{Path: "documents.leann.passages.jsonl"}}}},
		{"newer", newerMeta, Meta{Version: "1.1", Backend: "ivf", EmbeddingModel: "m", EmbeddingMode: "openai", Dimensions: 3,
			Sources: []PassageSource{{Path: "DIR/documents.leann.passages.jsonl", Relative: "documents.leann.passages.jsonl"}}}},
		{"wrong types", `{"version": 1, "backend_name": [], "dimensions": "x", "passage_sources": {"path": "p"}, "docsearch": 5}`, Meta{}},
		{"docsearch's own", `{"docsearch": {"kind": "folder", "location": "/d"}}`, Meta{Origin: &Origin{Kind: "folder", Location: "/d"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseMeta([]byte(tt.meta))
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("error %v (-want +got)\n%s", err, diff)
			}
		})
	}
}

func FuzzParseMeta(f *testing.F) {
	f.Add([]byte(oldMeta))
	f.Add([]byte(newerMeta))
	f.Add([]byte(`{"passage_sources": [null, {"path": 1}], "docsearch": null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseMeta(data)
		if err != nil {
			return
		}
		for _, s := range m.Sources {
			c := location{dir: t.TempDir(), meta: "m"}
			if path, err := resolveShard(c, filepath.Join(c.dir, "x"), s, false); err == nil {
				t.Fatalf("%q resolved to %s in an empty folder", s, path)
			}
		}
	})
}
