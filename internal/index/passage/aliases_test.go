package passage

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/docsearch/docsearch/internal/index/disk"
)

func writeAliases(t testing.TB, aliases map[string]string) disk.Generation {
	t.Helper()
	g := disk.Generation{Dir: t.TempDir()}
	if err := WriteAliases(g.Path(AliasesName), aliases); err != nil {
		t.Fatal(err)
	}
	g.Files = []disk.FileInfo{{Name: AliasesName}}
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
			t.Errorf("%q stands for %q, %t, %v, want %q", alias, got, found, err, want)
		}
	}
	for _, alias := range []string{"https://e.org/new/", "https://e.org/100"} {
		if got, found, err := a.Find(alias); err != nil || found {
			t.Errorf("%q stands for %q, %v", alias, got, err)
		}
	}
}

func TestNoAliases(t *testing.T) {
	g := disk.Generation{Dir: t.TempDir()}
	if err := WriteAliases(g.Path(AliasesName), nil); err != nil {
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
		in, err := disk.Open(whole.Path(AliasesName), aliasesKind, AliasesVersion)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		mutant := disk.Generation{Dir: t.TempDir()}
		mutant.Files = whole.Files
		out, err := disk.Create(mutant.Path(AliasesName), aliasesKind, AliasesVersion)
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range names {
			s, err := in.Section(name)
			if err != nil {
				t.Fatal(err)
			}
			old, err := s.All()
			if err != nil {
				t.Fatal(err)
			}
			if i == ((which%len(names))+len(names))%len(names) {
				changed := bytes.Clone(old)
				copy(changed, data)
				old = changed
			}
			out.Section(name)
			out.Write(old)
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
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
