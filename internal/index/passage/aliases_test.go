package passage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/generation"
)

func writeAliases(t testing.TB, aliases map[string]string) generation.Generation {
	t.Helper()
	g := generation.Generation{Dir: confined.In(t.TempDir())}
	if err := WriteAliases(confined.Of(g.Path(AliasesName)), aliases); err != nil {
		t.Fatal(err)
	}
	g.Files = []generation.FileInfo{{Name: AliasesName}}
	return g
}

func TestAliases(t *testing.T) {
	aliases := map[string]string{"https://e.org/old": "https://e.org/new/", "https://e.org/ü": "", "": "https://e.org/"}
	for i := range 100 {
		aliases[fmt.Sprint("https://e.org/", i)] = fmt.Sprint("https://e.org/page-", i)
	}
	a, err := OpenAliases(writeAliases(t, aliases))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for alias, want := range aliases {
		if got, found, err := a.Find(alias); err != nil || !found || got != want {
			t.Errorf("%q is an alias of %q, %t, %v, want %q", alias, got, found, err, want)
		}
	}
	for _, alias := range []string{"https://e.org/new/", "https://e.org/100"} {
		if got, found, err := a.Find(alias); err != nil || found {
			t.Errorf("%q is an alias of %q, %v", alias, got, err)
		}
	}
}

func TestNoAliases(t *testing.T) {
	g := generation.Generation{Dir: confined.In(t.TempDir())}
	if err := WriteAliases(confined.Of(g.Path(AliasesName)), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(g.Path(AliasesName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file without aliases: %v", err)
	}
	if a, err := OpenAliases(g); a != nil || err != nil {
		t.Errorf("aliases %v, %v", a, err)
	}
}

func FuzzAliases(f *testing.F) {
	whole := writeAliases(f, map[string]string{"a": "bc", "d": "e"})
	f.Add(0, []byte{0xff})
	f.Add(1, []byte{1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff})
	f.Add(2, []byte("xyz"))
	f.Fuzz(func(t *testing.T, which int, data []byte) {
		names := []string{"hashes", "offsets", "texts"}
		mutant := generation.Generation{Dir: confined.In(t.TempDir()), Manifest: generation.Manifest{Files: whole.Files}}
		mutate(t, whole.Path(AliasesName), mutant.Path(AliasesName), aliasesKind, AliasesVersion, names, which, data)
		a, err := OpenAliases(mutant)
		if err != nil {
			return
		}
		defer a.Close()
		a.Find("a")
		a.Find("d")
		a.Find("")
	})
}
