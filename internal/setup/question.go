package setup

import (
	"context"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index"
)

// Question makes a web search that the database in folder dir should answer,
// from one of its own headings, or from how a text begins where no heading will
// do. sure is false if the database is sure of none that was tried: then such
// searches go through to the web. The question has the keyword; names are all
// that the database is called.
func (e Suggestions) Question(ctx context.Context, dir, keyword string, names []string) (query string, sure bool, err error) {
	db, err := index.Open(dir)
	if err != nil {
		return "", false, err
	}
	defer db.Close()
	const tries = 400
	best, tried := -1.0, 0
	for _, h := range slices.Concat(e.Headings, e.Titles, e.Openings) {
		text, _, _ := strings.Cut(h, " / ") // of several sections in one passage, the first
		text = strings.TrimLeft(text, "0123456789. ")
		if strings.ContainsAny(text, "()[]{}<>=,;$\\") {
			continue // code, as nobody asks
		}
		if !hasWord(strings.ToLower(text), strings.ToLower(keyword)) {
			text = keyword + " " + text
		}
		if n := len(strings.Fields(text)); n < 3 || n > 8 {
			continue // too little to ask, or more than people type
		}
		if tried++; tried > tries {
			break
		}
		r, err := db.Search(ctx, index.Query{Text: text, TopK: 1, Names: names})
		if err != nil {
			return "", false, err
		}
		if len(r.Hits) == 0 || r.Confidence <= best || sure && !r.Confident {
			continue
		}
		best, query, sure = r.Confidence, text, r.Confident
		// One that leads to where it was taken from shows best what is meant.
		if hit := &r.Hits[0]; sure && (hit.Title == h || slices.Contains(hit.Headings, h)) {
			break
		}
	}
	if query == "" {
		query = keyword + " documentation"
	}
	return query, sure, nil
}
