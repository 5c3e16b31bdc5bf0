package lexical

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index/passage"
)

const (
	// memberSize is the size of an entry of the section families.
	memberSize = 12
	// flagRepeated marks a document that loses kindPrior, because it is old or translated.
	flagRepeated = 1
	// leastMemberShare is the share of the score of a family's best page from which a preferred
	// one takes its place. A page with less lacks what the query asks for.
	leastMemberShare = .75
	// leastNamedShare is the same for a page of the version or in the language of the query: its
	// own words are others than those of the query.
	leastNamedShare = .4
)

// SetMembers sets the families of the documents, by number.
func (b *Builder) SetMembers(members []passage.Member) { b.members = members }

// appendMembers appends the section families, or nothing if there are none.
func appendMembers(b []byte, members []passage.Member) []byte {
	if !slices.ContainsFunc(members, func(m passage.Member) bool { return m.Family > 0 }) {
		return b
	}
	for i := range members {
		m := &members[i]
		entry := make([]byte, memberSize)
		binary.LittleEndian.PutUint32(entry, uint32(m.Family))
		copy(entry[4:6], m.Language)
		entry[6] = uint8(min(m.Rank, math.MaxUint8))
		if m.Old || m.Translated {
			entry[7] = flagRepeated
		}
		for j, n := range m.Version[:min(len(m.Version), comparedNumbers)] {
			binary.LittleEndian.PutUint16(entry[8+2*j:], uint16(min(n+1, math.MaxUint16)))
		}
		b = append(b, entry...)
	}
	return b
}

// member returns the member of a document, and whether it is old or translated.
func (x *Index) member(document uint32) (m passage.Member, repeated bool, err error) {
	e, err := x.families.Bytes(int64(document)*memberSize, memberSize)
	if err != nil {
		return m, false, err
	}
	m.Family, m.Rank = int(binary.LittleEndian.Uint32(e)), int(e[6])
	m.Language = strings.TrimRight(string(e[4:6]), "\x00")
	for at := 8; at < memberSize; at += 2 {
		if n := int(binary.LittleEndian.Uint16(e[at:])); n > 0 {
			m.Version = append(m.Version, n-1)
		}
	}
	return m, e[7]&flagRepeated != 0, nil
}

// addBonuses gives kindPrior back to the documents of the version or language that the query asks
// for.
func (x *Index) addBonuses(q *Query, table *scoreTable) error {
	r := readerOf(q)
	if len(r.named) == 0 && len(r.used) == 0 && r.language == "" && len(r.languages) == 0 {
		return nil
	}
	table.bonuses = make([]float64, len(table.segments))
	for i, d := range table.documents {
		m, repeated, err := x.member(d)
		if err != nil {
			return err
		}
		if repeated && r.asksFor(&m) {
			table.bonuses[i] = -kindPrior
		}
	}
	return nil
}

// HasFamilies reports whether documents have the same content in several languages or versions.
func (x *Index) HasFamilies() bool { return x.families.Len() > 0 }

// A familyHit is a document of a family among the results.
type familyHit struct {
	document uint32
	passage.Member
	score float64 // of its best passage
}

// Others returns the documents that a result of a query leaves out, because another one of
// their family is preferred: that of the version and the language which the query names, else of
// the version in use, the query's language, and the current version. documents and scores are
// those of the hits.
func (x *Index) Others(q *Query, documents []uint32, scores []float64) (map[uint32]bool, error) {
	if !x.HasFamilies() {
		return nil, nil
	}
	best := make(map[uint32]float64, len(documents))
	for i, d := range documents {
		if score, ok := best[d]; !ok || scores[i] > score {
			best[d] = scores[i]
		}
	}
	families := map[int][]familyHit{}
	repeated := false
	for d, score := range best {
		m, _, err := x.member(d)
		if err != nil {
			return nil, err
		}
		if m.Family > 0 {
			families[m.Family] = append(families[m.Family], familyHit{d, m, score})
			repeated = repeated || len(families[m.Family]) > 1
		}
	}
	if !repeated {
		return nil, nil
	}
	r := readerOf(q)
	others := map[uint32]bool{}
	for _, hits := range families {
		top := hits[0].score
		for i := range hits {
			top = max(top, hits[i].score)
		}
		slices.SortFunc(hits, func(a, b familyHit) int {
			return cmp.Or(-r.compare(&a.Member, &b.Member), cmp.Compare(a.document, b.document))
		})
		chosen := slices.IndexFunc(hits, func(h familyHit) bool { return h.score >= top-(1-r.leastShare(&h.Member))*math.Abs(top) })
		for i := range hits {
			if i != chosen {
				others[hits[i].document] = true
			}
		}
	}
	return others, nil
}

// A reader is what a query says about the member of a family that answers it.
type reader struct {
	named     [][]int  // versions in the query
	used      []int    // version in use
	language  string   // code of the language that the query names
	languages []string // codes of those that it may be in
}

func readerOf(q *Query) reader {
	var r reader
	words := framedWords(q.Text)
	for i := range words {
		w, before, after := words[i].folded, "", ""
		if i > 0 {
			before = words[i-1].folded
		}
		if i+1 < len(words) {
			after = words[i+1].folded
		}
		if numbers, marked := parseNumbers(w); len(numbers) > 0 && (marked || len(numbers) > 1 || strings.HasSuffix(w, ".x") || isVersionWord(before) || endsWithName(words[:i], q.Names)) {
			r.named = append(r.named, numbers)
		}
		if code := languageNamed(w); code != "" && (before == "in" || isPageWord(after)) {
			r.language = code
		}
	}
	r.used, _ = parseNumbers(q.Used)
	r.languages = languagesOf(q.Text)
	return r
}

// compare returns a positive number if the reader prefers a.
func (r *reader) compare(a, b *passage.Member) int {
	return cmp.Or(r.versionFit(a)-r.versionFit(b), r.languageFit(a)-r.languageFit(b), b.Rank-a.Rank)
}

// leastShare returns the least share of the score of a family's best page.
func (r *reader) leastShare(m *passage.Member) float64 {
	if r.asksFor(m) {
		return leastNamedShare
	}
	return leastMemberShare
}

// asksFor reports whether the query names the version or language of a document, or is in that
// language, or the version is in use.
func (r *reader) asksFor(m *passage.Member) bool {
	return r.versionFit(m) > 0 || r.languageFit(m) > 2
}

func (r *reader) versionFit(m *passage.Member) int {
	switch {
	case slices.ContainsFunc(r.named, func(named []int) bool { return relationOf(named, m.Version) == sameVersion }):
		return 2
	case relationOf(r.used, m.Version) == sameVersion:
		return 1
	}
	return 0
}

func (r *reader) languageFit(m *passage.Member) int {
	switch {
	case m.Language != "" && m.Language == r.language:
		return 4
	case m.Language != "" && slices.Contains(r.languages, m.Language):
		return 3
	case m.Language == "":
		return 2
	case m.Language == "en":
		return 1
	}
	return 0
}

// languagesOf returns the codes of the languages that a query may be in. A query has few function
// words, and some are those of several languages.
func languagesOf(text string) []string {
	var c LanguageCounts
	c.Add(text)
	if code := languageNamed(strings.ToLower(c.Language())); code != "" {
		return []string{code}
	}
	most := slices.Max(c.function[:])
	if most == 0 || c.function[inEnglish] == most {
		return nil
	}
	var codes []string
	for language, code := range [latinLanguages]string{inGerman: "de", inFrench: "fr", inSpanish: "es", inPortuguese: "pt", inItalian: "it", inPolish: "pl"} {
		if c.function[language] == most {
			codes = append(codes, code)
		}
	}
	return codes
}

// languageNamed returns the code of the language with this name.
func languageNamed(name string) string {
	switch name {
	case "english":
		return "en"
	case "german":
		return "de"
	case "french":
		return "fr"
	case "spanish":
		return "es"
	case "portuguese":
		return "pt"
	case "italian":
		return "it"
	case "polish":
		return "pl"
	case "japanese":
		return "ja"
	case "chinese":
		return "zh"
	case "korean":
		return "ko"
	case "russian":
		return "ru"
	}
	return ""
}

// isPageWord reports whether a word after the name of a language says that the page is to be in
// it.
func isPageWord(w string) bool {
	switch w {
	case "docs", "documentation", "page", "version", "translation", "manual":
		return true
	}
	return false
}
