package index_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/progress"
	"github.com/docsearch/docsearch/internal/provenance"
)

// somePages is a source of as many passages, which are published for LEANN.
type somePages int

func (n somePages) Prepare(_ context.Context, dir confined.Path, _ *generation.Generation, _ progress.Func) (generation.Prepared, error) {
	var lines []byte
	for i := range int(n) {
		p := passage.Passage{ID: string(rune('a' + i)), Title: "Kettle", Path: "kettle.md", Text: "Descale the kettle with vinegar."}
		lines = p.AppendLine(lines)
	}
	err := os.WriteFile(dir.Join(passage.ShardName(0)).String(), lines, 0o644)
	return generation.Prepared{Source: generation.Source{Kind: "folder", Location: "/docs"}, Publish: true}, err
}

// armed is set while a source wants the fault of its build to be counted.
var armed atomic.Bool

// Verify is called just before the build commits. Package generation tests the operations
// before that.
func (somePages) Verify(confined.Path, *generation.Manifest) error {
	armed.Store(true)
	return nil
}

// Whichever file operation of a commit fails, the database is valid and has the passages of
// either build, and LEANN's files are those of the same build as soon as the next command
// has tidied up.
func TestEachOperationOfACommitFails(t *testing.T) {
	key, err := provenance.Make(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	build := func(dir string, n somePages) (index.Info, error) {
		return index.Build(t.Context(), dir, n, index.BuildOptions{Key: key})
	}
	old := t.TempDir()
	if _, err := build(old, 1); err != nil {
		t.Fatal(err)
	}
	whole := namesIn(t, old)
	for _, first := range []bool{true, false} {
		late := 0
		for n := int64(1); ; n++ {
			dir := filepath.Join(t.TempDir(), "db")
			if !first {
				if err := os.CopyFS(dir, os.DirFS(old)); err != nil {
					t.Fatal(err)
				}
			}
			var done atomic.Int64
			armed.Store(false)
			atomicfile.Fault = func(string, string) error {
				if armed.Load() && done.Add(1) == n {
					return syscall.EIO
				}
				return nil
			}
			info, err := build(dir, 2)
			atomicfile.Fault = nil
			want := 2
			switch {
			case info.Late != nil, errors.As(err, new(*generation.LateError)):
				late++
			case err != nil && first:
				want = 0
			case err != nil:
				want = 1
			}
			if now, err := index.Inspect(dir); want > 0 && (err != nil || now.Passages != want) {
				t.Errorf("operation %d failed with %v: %d passages, %v; want %d", n, info.Late, now.Passages, err, want)
			}
			generation.Tidy(dir, func(first bool) { // as the command line does
				if err := index.Republish(dir, key); err != nil && !first {
					t.Error(err)
				}
			})
			if want > 0 && !first {
				if r, err := index.Verify(t.Context(), dir, nil); err != nil || len(r.Problems) > 0 || r.Passages != want {
					t.Errorf("operation %d failed with %v, tidied: %d passages, %q, %v; want %d", n, info.Late, r.Passages, r.Problems, err, want)
				}
			}
			if names := namesIn(t, dir); len(names) > 0 && want == 0 || want > 0 && !slices.Equal(names, whole) {
				t.Errorf("operation %d failed, tidied: %q remain, want %q", n, names, whole)
			}
			if done.Load() < n {
				break
			}
		}
		if late < 3 {
			t.Errorf("%d operations failed after the manifest was replaced, want those of publishing", late)
		}
	}
}

// namesIn returns the files of a database, all generations as one.
func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	generations := regexp.MustCompile(`g0{5}\d`)
	for _, pattern := range []string{"*", "docsearch/*", "docsearch/*/*"} {
		found, err := fs.Glob(os.DirFS(dir), pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			names = append(names, generations.ReplaceAllString(name, "g"))
		}
	}
	hidden, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil {
		t.Fatal(err)
	}
	return append(names, hidden...)
}
