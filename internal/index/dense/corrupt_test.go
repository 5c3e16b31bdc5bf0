package dense

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/container"
)

func TestCorruptionIsDetected(t *testing.T) {
	for _, mode := range modeNames {
		t.Run(mode, func(t *testing.T) { testCorruptionIsDetected(t, mode) })
	}
}

func testCorruptionIsDetected(t *testing.T, mode string) {
	x, _ := buildMode(t, randomClusters(200, 16, 0.7), Options{}, mode)
	data, err := os.ReadFile(x.file.Path())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "vectors.bin")
	damaged := func(data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		x, err := Open(confined.Of(path))
		if err == nil {
			err = x.Verify(nil)
			x.Close()
		}
		var corrupt *container.CorruptError
		var version *container.VersionError
		if !errors.As(err, &corrupt) && !errors.As(err, &version) {
			t.Errorf("error %v, want damage", err)
		}
	}
	for at := 0; at < len(data); at += 97 {
		flipped := slices.Clone(data)
		flipped[at] ^= 0x10
		damaged(flipped)
		damaged(data[:at])
	}
}

// sectionNames are the sections of a file with a prefilter; other files lack the
// last three.
var sectionNames = []string{"head", "graph", "starts", "copies", "passages", "places", "scales", "codes", "fine", "middles", "bits", "bitscale"}

func sectionsOf(mode string) []string {
	if mode == "sifted" {
		return sectionNames
	}
	return sectionNames[:9]
}

// FuzzIndex opens and searches indexes with valid checksums and one corrupt
// section.
func FuzzIndex(f *testing.F) {
	sections := make([]map[string][]byte, len(modeNames))
	l := randomClusters(300, 16, 0.7)
	for i, mode := range modeNames {
		x, _ := buildMode(f, l, Options{}, mode)
		sections[i] = make(map[string][]byte)
		for _, name := range sectionsOf(mode) {
			s, err := x.file.Section(name)
			if err != nil {
				f.Fatal(err)
			}
			b, err := s.All()
			if err != nil {
				f.Fatal(err)
			}
			sections[i][name] = slices.Clone(b)
		}
	}
	for mode, name := range modeNames {
		for i := range sectionsOf(name) {
			f.Add(uint8(mode), uint8(i), uint16(0), []byte{0xff, 0xff, 0xff, 0xff}, false)
			f.Add(uint8(mode), uint8(i), uint16(20), []byte{0, 1}, true)
			f.Add(uint8(mode), uint8(i), uint16(0), []byte{}, false)
		}
	}
	f.Fuzz(func(t *testing.T, mode, which uint8, at uint16, with []byte, cut bool) {
		all := sections[int(mode)%len(modeNames)]
		names := sectionsOf(modeNames[int(mode)%len(modeNames)])
		name := names[int(which)%len(names)]
		data := slices.Clone(all[name])
		from := int(at) % (len(data) + 1)
		data = slices.Replace(data, from, min(from+len(with), len(data)), with...)
		if cut {
			data = data[:from]
		}
		path := filepath.Join(t.TempDir(), "vectors.bin")
		w, err := container.Create(confined.Of(path), kind, Version)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			w.Section(n)
			if n == name {
				w.Write(data)
			} else {
				w.Write(all[n])
			}
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
		q := make([]float32, x.Dimensions())
		for i := range q {
			q[i] = float32(i) - 3
		}
		for _, search := range []func([]float32, int, func(uint32) bool) ([]Hit, error){x.Search, x.Exact} {
			hits, err := search(q, 10, nil)
			for _, h := range hits {
				if err != nil || int(h.Passage) >= x.passageCount {
					t.Fatalf("passage %d of %d, error %v", h.Passage, x.passageCount, err)
				}
			}
		}
		x.Scores(q, []uint32{0, 1, 299, 300})
		if x.passageCount == len(l) && x.dimensions == l.Dimensions() {
			from := make([]uint32, len(l))
			for i := range from {
				from[i] = uint32(i)
			}
			from[7] = Fresh
			Update(t.Context(), confined.Of(path+".next"), x, from, l[7:8])
		}
	})
}

// FuzzGraph searches every graph that decodeGraph accepts.
func FuzzGraph(f *testing.F) {
	const lists, dimensions = 20, 4
	centroids := newMatrix(lists, dimensions)
	for i, v := range randomClusters(lists, dimensions, 0.7) {
		unit(centroids.row(i), v)
	}
	f.Add(newGraph(centroids).encode())
	f.Add([]byte{2, 32})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := newCentroidIndex(b, lists, dimensions)
		if err != nil {
			return
		}
		for _, list := range r.rankLists([]float32{1, 0, 0, 0}, lists) {
			if list < 0 || list >= lists {
				t.Fatalf("list %d of %d", list, lists)
			}
		}
	})
}
