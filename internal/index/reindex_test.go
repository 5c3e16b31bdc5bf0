package index

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/provenance"
)

// current returns the current generation of a database.
func current(t *testing.T, dir string) generation.Generation {
	t.Helper()
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	return d.gen
}

// age gives a file of a generation, or the manifest, an older format.
func age(t *testing.T, g generation.Generation, name string) {
	t.Helper()
	path, data := g.Path(name), []byte(nil)
	if name == "manifest" {
		path = generation.ManifestPath(g.Dir.Dir)
		m := g.Manifest
		m.Format = 0
		var err error
		if data, err = m.Encode(); err != nil {
			t.Fatal(err)
		}
	} else {
		var err error
		if data, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		copy(data[12:16], []byte{0, 0, 0, 0}) // see package container
	}
	if err := os.WriteFile(path+".new", data, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// An index whose files have an older format is rebuilt from the passages of the database,
// without its source, and answers as before.
func TestReindex(t *testing.T) {
	key, err := provenance.Make(filepath.Join(t.TempDir(), ".key"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{lexicalName, passage.TableName, embedderName, vectorsName, "manifest"} {
		t.Run(name, func(t *testing.T) {
			b := newBook(90, 20)
			dir := t.TempDir()
			built := buildBook(t, dir, b, BuildOptions{Tool: "1", Key: key, Options: json.RawMessage(`{"language":"english"}`)})
			before := t.TempDir() // Windows does not replace the files of an open database
			if err := os.CopyFS(before, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			want := openBook(t, before)
			age(t, current(t, dir), name)
			_, err := Open(dir)
			if !IsOutdated(err) {
				t.Fatalf("an older %s: %v", name, err)
			}
			if Repair("x", err) != "docsearch update x" {
				t.Errorf("repaired by %q", Repair("x", err))
			}
			// The source is gone, and the user who repairs it has not vouched for it.
			made, err := Reindex(t.Context(), dir, BuildOptions{Tool: "2"})
			if err != nil {
				t.Fatal(err)
			}
			changed := cmpopts.IgnoreFields(generation.Manifest{}, "Format", "Generation", "Files", "Training", "Confidence", "Recall")
			if diff := cmp.Diff(built.Manifest, made.Manifest, changed); diff != "" {
				t.Errorf("manifest (-before +after)\n%s", diff)
			}
			if made.Generation == built.Generation || made.Format != generation.Format {
				t.Errorf("generation %s of format %d", made.Generation, made.Format)
			}
			have := openBook(t, dir)
			sameAnswers(t, b, have, want)
			if r, err := Verify(t.Context(), dir, nil); err != nil || len(r.Problems) > 0 {
				t.Errorf("verify: %v, %v", r.Problems, err)
			}
		})
	}
}

// A rebuild makes no seal, whoever starts it: it vouches for the source.
func TestReindexDoesNotSeal(t *testing.T) {
	key, err := provenance.Make(filepath.Join(t.TempDir(), ".key"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	buildBook(t, dir, newBook(20, 20), BuildOptions{})
	age(t, current(t, dir), lexicalName)
	made, err := Reindex(t.Context(), dir, BuildOptions{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	if made.Seal != "" {
		t.Errorf("seal %q of a source that the user never named", made.Seal)
	}
}

// Damaged passages are not made into an index, and an interrupted one leaves the database
// as it was.
func TestReindexFails(t *testing.T) {
	dir := t.TempDir()
	built := buildBook(t, dir, newBook(20, 20), BuildOptions{})
	g := current(t, dir)
	age(t, g, lexicalName)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Reindex(ctx, dir, BuildOptions{}); err == nil {
		t.Error("an interrupted one succeeded")
	}
	data, err := os.ReadFile(g.Path(passage.ShardName(0)))
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(g.Path(passage.ShardName(0)), data, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Reindex(t.Context(), dir, BuildOptions{}); err == nil {
		t.Error("damaged passages were indexed")
	}
	if now, err := generation.Current(dir); err != nil || now.Generation != built.Generation {
		t.Errorf("current generation: %v, %v", now.Generation, err)
	}
}

// A source that keeps no documents itself is refused if it has lost most of them.
func TestLostDocuments(t *testing.T) {
	b := newBook(40, 20)
	dir := t.TempDir()
	buildBook(t, dir, b, BuildOptions{})
	b.pages = b.pages[:29]
	_, err := Build(t.Context(), dir, b, BuildOptions{Update: true, KeepLost: true})
	if diff := cmp.Diff(&generation.LostError{Lost: 11, Documents: 40}, err); diff != "" {
		t.Fatalf("error (-want +got)\n%s", diff)
	}
	if info, err := Inspect(dir); err != nil || info.Documents != 40 {
		t.Errorf("%d documents, %v", info.Documents, err)
	}
	b.written = nil
	if info, err := Build(t.Context(), dir, b, BuildOptions{}); err != nil || info.Documents != 29 {
		t.Errorf("a build has %d documents, %v", info.Documents, err)
	}
}
