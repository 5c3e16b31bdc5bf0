package fast

import (
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/hook/inject"
	"github.com/docsearch/docsearch/internal/index/answer"
	"github.com/docsearch/docsearch/internal/index/passage"
)

const (
	// candidates is how many documents are looked at for a call.
	candidates = 8
	// telling is the rarity of what says something at all.
	telling = .2
	// listed is how many documents of a database are listed at the start of a
	// session, and looked how many are looked at for pinned ones: what has more
	// is a manual.
	listed = 100
	looked = 20_000
	// longest is as much of a document as is ever told.
	longest = 9000
)

// Entries returns the documents of a database that may be told for a call.
func (i Indexes) Entries(db *config.Database, call *inject.Call, floor float64) (entries []inject.Entry, err error) {
	err = i.use(db, func(x *answer.Index) error {
		q := call.Query()
		documents, err := x.Related(answer.Query{Text: q.Text, Keywords: q.Keywords, Limit: candidates})
		if err != nil {
			return err
		}
		for _, d := range documents {
			if d.Rarity < telling {
				break
			}
			key, err := x.Key(d.Document)
			if err != nil {
				return err
			}
			if !injected(db, key) {
				continue
			}
			if d.Rarity < floor && !i.Thorough {
				// Only conditions that the call meets, or a priority, could help.
				if hope, err := x.Mentions(d.Document, "applies_when", "priority"); err != nil {
					return err
				} else if !hope {
					continue
				}
			}
			p, err := x.First(d.Document)
			if err != nil {
				return err
			}
			e := entry(db, key, &p)
			e.Rarity = d.Rarity
			if call.Judge(&e, floor); e.Taken {
				if e.Text, err = text(x, d.Document); err != nil {
					return err
				}
			}
			entries = append(entries, e)
		}
		return nil
	})
	return entries, err
}

// Contents returns the documents of a database that the agent is told of when
// a session starts, and of pinned ones the text.
func (i Indexes) Contents(db *config.Database) (entries []inject.Entry, err error) {
	err = i.use(db, func(x *answer.Index) error {
		for n := range uint32(min(x.Documents(), looked)) {
			key, err := x.Key(n)
			if err != nil {
				return err
			}
			if !injected(db, key) {
				continue
			}
			if len(entries) >= listed {
				pinned, err := x.Mentions(n, "pinned")
				if err != nil {
					return err
				}
				if !pinned {
					continue
				}
			}
			p, err := x.First(n)
			if err != nil {
				return err
			}
			e := entry(db, key, &p)
			if e.Use.Pinned {
				if e.Text, err = text(x, n); err != nil {
					return err
				}
			}
			entries = append(entries, e)
		}
		return nil
	})
	return entries, err
}

// Remedy returns the passages of a database that a failure is about, the most
// telling first.
func (i Indexes) Remedy(db *config.Database, call *inject.Call) (remedies []hook.Remedy, err error) {
	err = i.use(db, func(x *answer.Index) error {
		q := call.Query()
		names := append([]string{db.Name}, db.Keywords...)
		documents, err := x.Related(answer.Query{Text: q.Text, Keywords: q.Keywords, Names: names, Limit: 1})
		if err != nil {
			return err
		}
		for _, d := range documents {
			p, err := x.Passage(d.Passage)
			if err != nil {
				return err
			}
			remedies = append(remedies, hook.Remedy{Passage: p, Rarity: d.Rarity})
		}
		return nil
	})
	return remedies, err
}

// injected reports whether a document is among those that the config marks.
func injected(db *config.Database, key string) bool {
	return slices.ContainsFunc(db.Inject, func(pattern string) bool { return pattern == config.All || inject.Match(pattern, key) })
}

func entry(db *config.Database, key string, p *passage.Passage) inject.Entry {
	title := p.Title
	if title == "" {
		title = p.Name()
	}
	source := p.Path
	if p.URL != "" {
		source, _, _ = strings.Cut(p.URL, "#")
	}
	if key == "" { // a passage on its own
		key = p.ID
	}
	return inject.Entry{Database: db.Name, Document: key, Title: title, Source: source, Use: p.Use()}
}

// text is a document's text, all of it unless it is too long to tell.
func text(x *answer.Index, document uint32) (string, error) {
	passages, err := x.Whole(document, longest)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i := range passages {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(strings.TrimSpace(passages[i].Text))
	}
	return b.String(), nil
}
