package lexical

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/container"
)

func TestSmallIndexes(t *testing.T) {
	for _, tt := range []struct {
		name   string
		fields []Fields
	}{
		{"no passage", nil},
		{"an empty passage", []Fields{{}}},
		{"one passage", []Fields{{Body: "one passage"}}},
		{"only stop words", []Fields{{Title: "the", Body: "of and to"}}},
		{"only a title", []Fields{{Title: "passage"}, {Title: "other"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := build(t, make([]uint32, len(tt.fields)), tt.fields)
			for _, text := range []string{"passage", "the", "passage -other", `"one passage"`, "title:passage", ""} {
				hits, _, err := x.Search(Query{Text: text, Limit: 3})
				if err != nil {
					t.Errorf("%q: %v", text, err)
				}
				if len(hits) > len(tt.fields) {
					t.Errorf("%q: %d hits", text, len(hits))
				}
			}
			if x.Passages() != len(tt.fields) {
				t.Errorf("%d passages, want %d", x.Passages(), len(tt.fields))
			}
		})
	}
}

// Documents of any length are searched, and long ones do not crowd out others.
func TestLongDocument(t *testing.T) {
	var documents []uint32
	var fields []Fields
	for i := range 1000 {
		documents = append(documents, 0)
		fields = append(fields, Fields{Body: fmt.Sprintf("common word%d", i)})
	}
	for i := range 30 {
		documents = append(documents, uint32(1+i))
		fields = append(fields, Fields{Body: fmt.Sprintf("some other common text %d", i)})
	}
	x := build(t, documents, fields)
	for _, n := range []int{0, 255, 256, 999} {
		hits, _, err := x.Search(Query{Text: fmt.Sprintf("word%d", n), Limit: 5})
		if err != nil || len(hits) != 1 || hits[0].Passage != uint32(n) {
			t.Errorf("word%d: %v, %v", n, hits, err)
		}
	}
	hits, _, err := x.Search(Query{Text: "common", Limit: 20})
	if err != nil {
		t.Fatal(err)
	}
	ofLong := 0
	for _, h := range hits {
		if h.Document == 0 {
			ofLong++
		}
	}
	if len(hits) != 20 || ofLong > PerDocument {
		t.Errorf("%d hits, %d of the long document", len(hits), ofLong)
	}
	alone := build(t, documents[:1000], fields[:1000])
	if hits, _, err = alone.Search(Query{Text: "common", Limit: 15}); err != nil || len(hits) != 15 {
		t.Errorf("a database of one document gave %d hits of 15, %v", len(hits), err)
	}
}

func TestLanguages(t *testing.T) {
	for _, tt := range []struct{ language, text, query string }{
		{"english", "Retrying failed connections", "how does a connection retry"},
		{"german", "Die Verbindungen werden getrennt", "wie trenne ich eine Verbindung"},
		{"french", "Les fenêtres sont fermées", "comment fermer la fenetre"},
		{"spanish", "Las conexiones fallidas", "conexión fallida"},
		{"portuguese", "Os servidores falharam", "como reinicio o servidor"},
		{"russian", "Настройка серверов", "настройки сервера"},
		{"none", "Tietokannan asetukset", "asetukset"},
		{"english", "データベースの接続", "データベース"},
		{"english", "数据库连接", "数据库"},
	} {
		t.Run(tt.language+"/"+tt.query, func(t *testing.T) {
			b := NewBuilder(Options{Language: tt.language})
			b.Add(0, Fields{Body: "something else"})
			b.Add(1, Fields{Body: tt.text})
			path := filepath.Join(t.TempDir(), "lexical.idx")
			if err := b.Write(t.Context(), confined.Of(path)); err != nil {
				t.Fatal(err)
			}
			x, err := Open(confined.Of(path))
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			if x.Analyzer().language != tt.language {
				t.Errorf("language %q, want %q", x.Analyzer().language, tt.language)
			}
			hits, _, err := x.Search(Query{Text: tt.query, Limit: 5})
			if err != nil || len(hits) != 1 || hits[0].Passage != 1 {
				t.Errorf("%v, %v", hits, err)
			}
		})
	}
}

func TestWriteFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lexical.idx")
	if err := NewBuilder(Options{Language: "klingon"}).Write(t.Context(), confined.Of(path)); err == nil || !strings.Contains(err.Error(), "klingon") {
		t.Errorf("an unknown language: %v", err)
	}
	b := NewBuilder(Options{})
	b.Add(1, Fields{Body: "text"})
	if err := b.Write(t.Context(), confined.Of(path)); err == nil {
		t.Error("a missing document number is not reported")
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a failed build left a file: %v", err)
	}
}

func TestOpenFails(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(confined.Of(filepath.Join(dir, "absent"))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	path := filepath.Join(dir, "other")
	w, err := container.Create(confined.Of(path), indexKind, Version+1)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var version *container.VersionError
	if _, err := Open(confined.Of(path)); !errors.As(err, &version) {
		t.Errorf("a newer file: %v", err)
	}
}

// A flipped byte causes an error or is harmless; it never changes the result.
func TestDamagedFile(t *testing.T) {
	c := newCorpus(19)
	documents, fields := c.passages(600, 4, 30)
	x := build(t, documents, fields)
	queries := []Query{{Text: c.words(5), Limit: 20}, {Text: `"wo1 wo2" title:wo3 -wo44`, Limit: 20}}
	var want []string
	for _, q := range queries {
		hits, _, err := x.Search(q)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprint(hits))
	}
	data, err := os.ReadFile(x.file.Path())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "lexical.idx")
	rng := rand.New(rand.NewPCG(23, 29))
	for range 300 {
		at, flip := rng.IntN(len(data)), byte(1)<<rng.IntN(8)
		data[at] ^= flip
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if x, err := Open(confined.Of(path)); err == nil {
			if x.Verify(nil) == nil {
				t.Fatalf("a change of byte %d is not detected", at)
			}
			for i, q := range queries {
				if hits, _, err := x.Search(q); err == nil && fmt.Sprint(hits) != want[i] {
					t.Fatalf("a change of byte %d changes the hits", at)
				}
			}
			x.Close()
		}
		data[at] ^= flip
	}
}

var sectionNames = []string{"passages", "order", "units", "inputs", "postings", "terms", "keys", "meta"}

// FuzzDamagedSections modifies sections and recomputes the checksums, as a malicious file
// could. Errors are fine, panics are not.
func FuzzDamagedSections(f *testing.F) {
	c := newCorpus(31)
	documents, fields := c.passages(700, 3, 12)
	x := build(f, documents, fields)
	sections := make([][]byte, len(sectionNames))
	for i, name := range sectionNames {
		s, err := x.file.Section(name)
		if err != nil {
			f.Fatal(err)
		}
		if sections[i], err = s.All(); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(uint8(7), uint32(0), []byte{255, 255, 255, 255})
	f.Add(uint8(2), uint32(9), []byte{1})
	f.Add(uint8(3), uint32(70), []byte{0x87, 2, 9})
	f.Add(uint8(4), uint32(100), []byte{0x80, 0xff, 0xff})
	f.Add(uint8(5), uint32(1), []byte{0})
	f.Add(uint8(5), uint32(50), []byte{200, 200})
	f.Add(uint8(6), uint32(8), []byte{0, 0, 0, 9})
	f.Fuzz(func(t *testing.T, which uint8, at uint32, with []byte) {
		path := filepath.Join(t.TempDir(), "lexical.idx")
		w, err := container.Create(confined.Of(path), indexKind, Version)
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range sectionNames {
			w.Section(name)
			data := sections[i]
			if i == int(which)%len(sectionNames) && len(data) > 0 {
				data = append([]byte(nil), data...)
				copy(data[int(at)%len(data):], with)
			}
			w.Write(data)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		x, err := Open(confined.Of(path))
		if err != nil {
			return
		}
		defer x.Close()
		x.Verify(nil)
		for _, text := range []string{"wo0 wo1 wo2 wo3 wo40", `"wo0 wo1"`, "wo2 -wo11 title:wo1 path:d1", "wo5000 zebra"} {
			x.Search(Query{Text: text, Limit: 10})
		}
		x.Search(Query{Text: "wo1 wo7", Limit: 10, Accept: func(p uint32) bool { return p%3 == 0 }})
		b := NewBuilder(Options{})
		if b.Reuse(x) == nil {
			for i := range x.passageCount {
				b.Keep(uint32(i), uint32(i))
			}
			b.Write(t.Context(), confined.Of(path+".next"))
		}
	})
}

func TestConcurrentSearches(t *testing.T) {
	c := newCorpus(37)
	documents, fields := c.passages(2000, 3, 20)
	x := build(t, documents, fields)
	query := Query{Text: c.words(6), Limit: 30}
	want, _, err := x.Search(query)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 20 {
				if hits, _, err := x.Search(query); err != nil || fmt.Sprint(hits) != fmt.Sprint(want) {
					t.Errorf("different hits: %v", err)
					return
				}
			}
		})
	}
	wait.Wait()
}
