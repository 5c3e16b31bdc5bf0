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
// searches go through to the web.
func (e Evidence) Question(ctx context.Context, dir string, keywords []string) (query string, sure bool, err error) {
	db, err := index.Open(dir)
	if err != nil {
		return "", false, err
	}
	defer db.Close()
	const tries = 400
	keyword := strings.ToLower(keywords[0])
	best, tried := -1.0, 0
	for _, h := range slices.Concat(e.Headings, e.Titles, e.Openings) {
		text, _, _ := strings.Cut(h, " / ") // of several sections in one passage, the first
		if !hasWord(strings.ToLower(text), keyword) {
			text = keywords[0] + " " + text
		}
		if n := len(strings.Fields(text)); n < 3 || n > 8 {
			continue // too little to ask, or more than people type
		}
		if tried++; tried > tries {
			break
		}
		r, err := db.Search(ctx, index.Query{Text: text, TopK: 1, Names: keywords})
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
		query = keywords[0] + " documentation"
	}
	return query, sure, nil
}
