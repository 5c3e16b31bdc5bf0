package lookup

import (
	"maps"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
	"github.com/docsearch/docsearch/internal/notes"
)

const (
	// maxCandidates limits the documents considered for a call.
	maxCandidates = config.MaxInject
	// maxNeighbors limits the documents considered with vectors.
	maxNeighbors = 40
	// minRarity is the rarity below which a match carries no information.
	minRarity = .2
	// maxListed limits the documents of a database that are listed at the start of a
	// session, and maxScanned those that are checked for pinned ones. A larger database is
	// a manual.
	maxListed  = 100
	maxScanned = 20_000
	// maxNote limits the text of a document that is shown, in bytes.
	maxNote = 9000
)

// Entries returns the documents of a database that are related to a call.
func (i Indexes) Entries(db *config.Database, call *notes.Call, floor float64) (entries []notes.Entry, err error) {
	if i.Hybrid && i.Nearest == nil {
		return nil, hook.ErrNeedsMain
	}
	all, err := i.EntriesOf(db, []*notes.Call{call}, floor)
	return all[0], err
}

// EntriesOf returns the result of Entries for each of the calls.
func (i Indexes) EntriesOf(db *config.Database, calls []*notes.Call,
	floor float64) (entries [][]notes.Entry, err error) {
	entries = make([][]notes.Entry, len(calls))
	err = i.withIndex(db, func(x *quicksearch.Index) error {
		for n, call := range calls {
			if entries[n], err = i.entries(x, db, call, floor); err != nil {
				return err
			}
		}
		return nil
	})
	return entries, err
}

func (i Indexes) entries(x *quicksearch.Index, db *config.Database, call *notes.Call,
	floor float64) ([]notes.Entry, error) {
	q := call.Query()
	limit := maxCandidates
	if i.Hybrid {
		limit = maxNeighbors
	}
	related, err := x.Related(quicksearch.Query{Text: q.Text, Keywords: q.Keywords, Keys: q.Keys, Limit: limit})
	if err != nil {
		return nil, err
	}
	all := related.Known + related.Unknown
	var entries []notes.Entry
	for _, d := range i.candidates(x, db, related.Matches, q) {
		e, err := i.entryFor(x, db, d, all, call, floor)
		if err != nil {
			return nil, err
		}
		if e != nil {
			entries = append(entries, *e)
		}
	}
	return entries, nil
}

// A candidate is a document that may be shown for a call.
type candidate struct {
	lexical.Match
	similarity float64 // of the document's vectors to the query, from 0 to 1
}

// candidates returns the documents to judge: those with the rarest words of the query and,
// with vectors, the nearest ones.
func (i Indexes) candidates(x *quicksearch.Index, db *config.Database, matches []lexical.Match,
	q notes.Query) []candidate {
	similarities := map[uint32]float64{}
	if i.Hybrid {
		generation, near := i.Nearest(db, q.Text+" "+strings.Join(q.Keywords, " "), maxNeighbors)
		if generation == x.Generation() { // else the database was just rebuilt
			similarities = near
		}
	}
	var list []candidate
	for n, m := range matches {
		similarity := similarities[m.Document]
		delete(similarities, m.Document)
		if n < maxCandidates || m.Keyed || similarity > 0 {
			list = append(list, candidate{m, similarity})
		}
	}
	for _, document := range slices.Sorted(maps.Keys(similarities)) { // without a word of the query
		if similarity := similarities[document]; similarity > 0 {
			list = append(list, candidate{lexical.Match{Document: document}, similarity})
		}
	}
	return list
}

// similarShare is the share of the rarity of a note's title and tags from which
// another note that contains them has the same subject.
const similarShare = .6

// Similar returns the documents of a database about the subject of a note: those with
// most of the words of text, and those that apply to one of the commands.
func (i Indexes) Similar(db *config.Database, text string, commands []string) (entries []notes.Entry, err error) {
	var keys []string
	for _, c := range commands {
		program, _, _ := strings.Cut(c, " ")
		keys = append(keys, passage.CommandKey(program))
	}
	err = i.related(db, text, keys, func(e *notes.Entry) {
		sameCommand := slices.ContainsFunc(e.Use.AppliesWhen.Commands,
			func(c string) bool { return slices.Contains(commands, c) })
		if sameCommand || e.Relevance >= similarShare {
			entries = append(entries, *e)
		}
	})
	return entries, err
}

// About returns the documents of a database that contain words of text, those with the
// rarest words first. Relevance is the share of the rarity of all words.
func (i Indexes) About(db *config.Database, text string) (entries []notes.Entry, err error) {
	err = i.related(db, text, nil, func(e *notes.Entry) { entries = append(entries, *e) })
	return entries, err
}

// related calls each with the documents of a database that contain words of text or have
// one of the keys. Their Relevance is the share of the rarity of all words.
func (i Indexes) related(db *config.Database, text string, keys []string, each func(*notes.Entry)) error {
	return i.withIndex(db, func(x *quicksearch.Index) error {
		related, err := x.Related(quicksearch.Query{Text: notes.PlainQuery(text), Keys: keys, Limit: maxCandidates})
		if err != nil {
			return err
		}
		all := related.Known + unknownWeight*related.Unknown
		for _, d := range related.Matches {
			key, err := x.Key(d.Document)
			if err != nil {
				return err
			}
			if !isNote(db, key) {
				continue
			}
			p, err := x.First(d.Document)
			if err != nil {
				return err
			}
			e := newEntry(db, key, &p)
			e.Rarity = d.Rarity
			if all > 0 {
				e.Relevance = d.Rarity / all
			}
			each(&e)
		}
		return nil
	})
}

// entryFor returns a document, with its text if it is selected for the call, or nil if it
// is not related to the call. all is the rarity of all the query's words.
func (i Indexes) entryFor(x *quicksearch.Index, db *config.Database, d candidate, all float64, call *notes.Call,
	floor float64) (*notes.Entry, error) {
	if d.Rarity < minRarity && !d.Keyed && d.similarity == 0 {
		return nil, nil
	}
	key, err := x.Key(d.Document)
	if err != nil || !isNote(db, key) {
		return nil, err
	}
	namesFile := false
	if file := call.FileName(); file != "" && (d.Rarity > 0 || d.Keyed) {
		if namesFile, err = x.Contains(d.Passage, file); err != nil {
			return nil, err
		}
	}
	lowest := notes.FloorOf(floor, x.Documents(), true)
	if d.Rarity+notes.SimilarityBonus*d.similarity < lowest && !d.Keyed && !namesFile && !i.Thorough {
		// Only conditions that the call meets, or a priority, could help.
		if hope, err := x.Mentions(d.Document, "applies_when", "priority"); err != nil || !hope {
			return nil, err
		}
	}
	p, err := x.First(d.Document)
	if err != nil {
		return nil, err
	}
	e := newEntry(db, key, &p)
	e.Rarity, e.Similarity, e.MentionsFile, e.Notes = d.Rarity, d.similarity, namesFile, x.Documents()
	if all > 0 {
		e.Share = d.Rarity / all
	}
	if call.Judge(&e, floor); e.Selected {
		e.Text, err = noteText(x, d.Document)
	}
	return &e, err
}

// Contents returns the first notes of a database, with the text of the pinned ones, and
// the number of all its notes.
func (i Indexes) Contents(db *config.Database) (entries []notes.Entry, all int, err error) {
	err = i.withIndex(db, func(x *quicksearch.Index) error {
		if slices.Contains(db.Inject, config.All) {
			all = max(0, x.Documents()-maxScanned)
		}
		for n := range uint32(min(x.Documents(), maxScanned)) {
			key, err := x.Key(n)
			if err != nil {
				return err
			}
			if !isNote(db, key) {
				continue
			}
			all++
			if len(entries) >= maxListed {
				pinned, err := x.Mentions(n, "pinned")
				if err != nil {
					return err
				}
				if !pinned {
					continue
				}
			}
			e, err := readEntry(x, db, n, key)
			if err != nil {
				return err
			}
			entries = append(entries, e)
		}
		return nil
	})
	return entries, all, err
}

// readEntry reads note n, with its text if it is pinned.
func readEntry(x *quicksearch.Index, db *config.Database, n uint32, key string) (notes.Entry, error) {
	p, err := x.First(n)
	if err != nil {
		return notes.Entry{}, err
	}
	e := newEntry(db, key, &p)
	if e.Use.Pinned {
		e.Text, err = noteText(x, n)
	}
	return e, err
}

// Remedy returns the passages of a database that match a failure, best first. It returns
// one passage per document, and one for all versions of a document.
func (i Indexes) Remedy(db *config.Database, call *notes.Call) (remedies []hook.Remedy, err error) {
	err = i.withIndex(db, func(x *quicksearch.Index) error {
		failure := notes.ReadFailure(call.Failure)
		s := remedySearch{x: x, tracer: failure.Scanner(), common: failure.Common()}
		q := call.Query()
		query := quicksearch.Query{Text: q.Text, Keywords: q.Keywords, Names: db.QueryNames(), Version: db.Version,
			Limit: remedyCandidates}
		if s.rarityOf, err = rarityByDocument(x, query); err != nil {
			return err
		}
		if err := s.search(query); err != nil {
			return err
		}
		// The messages after the first often describe the same cause in other words.
		if m := failure.Messages; len(m) > 1 && strings.Count(m[0], " ") >= minFirstMessage && s.best < conclusive {
			query.Text, query.Keywords = m[0], nil
			if err := s.search(query); err != nil {
				return err
			}
		}
		remedies = rankRemedies(s.found, x.Documents() >= minDocuments)
		return nil
	})
	return remedies, err
}

// A remedySearch collects passages that may help with a failure.
type remedySearch struct {
	x        *quicksearch.Index
	tracer   *notes.Scanner
	common   bool
	rarityOf func(document uint32) (rarity, share float64)
	found    []hook.Remedy
	numbers  []uint32 // of the passages in found
	best     float64  // highest evidence so far
}

// search adds the results of a query.
func (s *remedySearch) search(query quicksearch.Query) error {
	answer, err := s.x.Search(query)
	if err != nil {
		return err
	}
	for n := range answer.Hits {
		h := &answer.Hits[n]
		if at := slices.Index(s.numbers, h.Number); at >= 0 {
			s.found[at].Score = max(s.found[at].Score, h.Score)
			continue
		}
		t := s.tracer.Scan(&h.Passage)
		t.Rarity, t.Share = s.rarityOf(h.At)
		r := hook.Remedy{Passage: h.Passage, Evidence: t.Score(s.common), Score: h.Score, Name: t.Name}
		s.found, s.numbers, s.best = append(s.found, r), append(s.numbers, h.Number), max(s.best, r.Evidence)
	}
	return nil
}

const (
	// remedyCandidates limits the passages of a search for a failure.
	remedyCandidates = 16
	// unknownWeight is the weight of a word that the database does not contain. Most such
	// words are names from the user's project.
	unknownWeight = .3
	// minFirstMessage is the number of spaces from which a first message is searched for
	// alone.
	minFirstMessage = 5
	// conclusive is the evidence that makes a second search unnecessary.
	conclusive = 1
	// minDocuments is the number of documents from which each contributes only one
	// passage.
	minDocuments = 10
)

// rarityByDocument returns a function that computes the rarity of a query's words in a
// document, and their share of the rarity of all the query's words.
func rarityByDocument(x *quicksearch.Index,
	query quicksearch.Query) (func(document uint32) (rarity, share float64), error) {
	query.Limit = 10 * remedyCandidates
	related, err := x.Related(query)
	if err != nil {
		return nil, err
	}
	rarities := make(map[uint32]float64, len(related.Matches))
	for _, m := range related.Matches {
		rarities[m.Document] = m.Rarity
	}
	return func(document uint32) (rarity, share float64) {
		rarity = rarities[document]
		if all := related.Known + unknownWeight*related.Unknown; all > 0 {
			share = min(1, rarity/all)
		}
		return rarity, share
	}, nil
}

// rankRemedies orders the passages by their rank. A passage about a name lowers the rank
// of the others about it, so that the results differ. If distinct is set, each document
// contributes one passage, and so do documents with the same headings.
func rankRemedies(remedies []hook.Remedy, distinct bool) []hook.Remedy {
	var list []hook.Remedy
	documents, headings, names := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for len(remedies) > 0 && len(list) < hook.MaxRemedies {
		best := 0
		rank := func(r *hook.Remedy) float64 { return r.Rank(names[r.Name]) }
		for i := range remedies {
			if rank(&remedies[i]) > rank(&remedies[best]) {
				best = i
			}
		}
		r := remedies[best]
		remedies = slices.Delete(remedies, best, best+1)
		heading := strings.Join(r.Passage.Headings, "\x00")
		if distinct && (documents[r.Passage.Document()] || heading != "" && headings[heading]) {
			continue
		}
		documents[r.Passage.Document()], headings[heading], names[r.Name] = true, true, r.Name != ""
		list = append(list, r)
	}
	return list
}

// isNote reports whether a document matches the database's "inject" patterns.
func isNote(db *config.Database, key string) bool {
	return slices.ContainsFunc(db.Inject,
		func(pattern string) bool { return pattern == config.All || notes.Match(pattern, key) })
}

func newEntry(db *config.Database, key string, p *passage.Passage) notes.Entry {
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
	return notes.Entry{Database: db.Name, Document: key, Title: title, Source: source, Use: p.NoteMeta()}
}

// noteText returns a document's text, up to maxNote bytes.
func noteText(x *quicksearch.Index, document uint32) (string, error) {
	passages, err := x.Whole(document, maxNote)
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
