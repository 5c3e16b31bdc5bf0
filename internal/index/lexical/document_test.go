package lexical

import (
	"fmt"
	"slices"
	"testing"
)

// SearchDocuments returns exactly the matching passages of a document, wherever it is
// stored and however long it is.
func TestSearchDocuments(t *testing.T) {
	var documents []uint32
	var fields []Fields
	lengths := []int{1, 600, 3, 256, 257, 1}
	for i := range 600 {
		for d, n := range lengths {
			if i < n {
				documents = append(documents, uint32(d))
				fields = append(fields, Fields{Body: fmt.Sprintf("common word%d section%d", i, i%7)})
			}
		}
	}
	x := build(t, documents, fields)
	for d := range lengths {
		for _, text := range []string{"word0", "section3 word2", "common", "word599", "nowhere"} {
			var want []uint32
			terms := x.Analyzer().Terms(text)
			for n, f := range fields {
				if documents[n] == uint32(d) && slices.ContainsFunc(x.Analyzer().Terms(f.Body), func(term string) bool { return slices.Contains(terms, term) }) {
					want = append(want, uint32(n))
				}
			}
			hits, err := x.SearchDocuments(Query{Text: text, Limit: 1000}, uint32(d))
			if err != nil {
				t.Fatal(err)
			}
			var got []uint32
			for i, h := range hits {
				if h.Document != uint32(d) || i > 0 && h.Score > hits[i-1].Score {
					t.Errorf("%q in document %d: hit %d is %+v after %+v", text, d, i, h, hits[max(0, i-1)])
				}
				got = append(got, h.Passage)
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%q in document %d found %d passages, want %d", text, d, len(got), len(want))
			}
		}
	}
	if hits, err := x.SearchDocuments(Query{Text: "common", Limit: 5}, uint32(len(lengths))); err != nil || len(hits) > 0 {
		t.Errorf("an unknown document: %v, %v", hits, err)
	}
}

func TestSearchRare(t *testing.T) {
	var documents []uint32
	var fields []Fields
	for i := range 200 {
		documents = append(documents, uint32(i/2))
		fields = append(fields, Fields{Body: "use the file"})
	}
	fields[7].Body += " kustomize zymotic"
	fields[12].Body += " kustomize"
	x := build(t, documents, fields)
	for _, test := range []struct {
		text  string
		want  []uint32 // passages
		least float64  // minimum rarity of the first
		most  float64
	}{
		{"zymotic", []uint32{7}, .9, 1.2},
		{"zymotic kustomize file nowhere", []uint32{7, 12}, 1.4, 2.2},
		{"file", nil, 0, .1},
		{"nowhere", nil, 0, 0},
		{"", nil, 0, 0},
	} {
		rare, err := x.SearchRare(Query{Text: test.text, Limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		found := rare.Matches
		if len(found) > 5 || len(found) > 0 && (found[0].Rarity < test.least || found[0].Rarity > test.most) || len(found) < len(test.want) {
			t.Errorf("%q: %+v, want rarity from %.2f to %.2f", test.text, found, test.least, test.most)
			continue
		}
		for i, n := range test.want {
			if found[i].Passage != n || found[i].Document != documents[n] {
				t.Errorf("%q: %+v, want passages %d", test.text, found, test.want)
			}
		}
	}
}

// A word in the title has a higher rarity than one in the body.
func TestRarityOfTitle(t *testing.T) {
	fields := []Fields{{Title: "Zymotic", Body: "the zymotic file"}, {Body: "the zymotic file"}}
	for range 50 {
		fields = append(fields, Fields{Title: "Other", Body: "use the file"})
	}
	documents := make([]uint32, len(fields))
	for i := range documents {
		documents[i] = uint32(i)
	}
	rare, err := build(t, documents, fields).SearchRare(Query{Text: "zymotic", Limit: 5})
	found := rare.Matches
	if err != nil || len(found) != 2 || found[0].Document != 0 || found[0].Rarity < 1.2*found[1].Rarity {
		t.Errorf("%+v, %v", found, err)
	}
}

// A document with a key is found whatever its words, even beyond the limit.
func TestKeys(t *testing.T) {
	var documents []uint32
	var fields []Fields
	for i := range 300 {
		documents = append(documents, uint32(i))
		f := Fields{Body: "zymotic kustomize"}
		switch i {
		case 77:
			f = Fields{Body: "nothing", Keys: []string{"path:migrations", "path:.sql"}}
		case 200:
			f.Keys = []string{"path:.SQL"}
		}
		fields = append(fields, f)
	}
	x := build(t, documents, fields)
	for _, test := range []struct {
		keys []string
		want []uint32 // documents with a key
	}{
		{[]string{"path:.sql"}, []uint32{200, 77}},
		{[]string{"path:none", "path:migrations"}, []uint32{77}},
		{[]string{"migrations"}, nil},
		{nil, nil},
		{slices.Repeat([]string{"path:.sql"}, 1000), []uint32{200, 77}},
	} {
		rare, err := x.SearchRare(Query{Text: "zymotic", Keys: test.keys, Limit: 3})
		if err != nil {
			t.Fatal(err)
		}
		found := rare.Matches
		var keyed []uint32
		for _, m := range found {
			if m.Keyed {
				keyed = append(keyed, m.Document)
			}
		}
		if !slices.Equal(keyed, test.want) || len(found)-len(keyed) < 2 {
			t.Errorf("keys %q: %+v, want documents %d", test.keys[:min(len(test.keys), 2)], found, test.want)
		}
	}
	// Keys are not words.
	if found, err := x.SearchRare(Query{Text: "migrations sql", Limit: 3}); err != nil || len(found.Matches) > 0 {
		t.Errorf("words of keys found %+v, %v", found, err)
	}
}

// The rarity of a query's words is the maximum for a passage that contains each once.
func TestRarityOfQuery(t *testing.T) {
	var documents []uint32
	var fields []Fields
	for i := range 100 {
		documents = append(documents, uint32(i))
		fields = append(fields, Fields{Body: "use the file"})
	}
	fields[3].Body += " zymotic"
	x := build(t, documents, fields)
	r, err := x.SearchRare(Query{Text: "zymotic file nowhere"})
	if err != nil || r.Known < .9 || r.Known > 1.2 || r.Unknown < .8 || r.Unknown > 1 {
		t.Errorf("known %.2f, unknown %.2f, %v", r.Known, r.Unknown, err)
	}
}
