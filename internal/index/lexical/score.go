package lexical

import "math"

// Scoring is BM25F: the weight of a term in a passage is the sum over the fields of its
// frequency, normalized by field length and weighted, saturated once. The page as a whole
// is scored likewise, with fewer fields. k1 is high because the field weights add up to
// several times those of plain BM25.
var (
	fieldWeights = [fieldCount]float64{fieldTitle: 3, fieldPath: 2, fieldPage: 2, fieldAddress: 1, fieldLinks: 1,
		fieldTerms: 1, fieldBody: 1}
	fieldLengthB = [fieldCount]float64{fieldTitle: .7, fieldPath: .5, fieldPage: .3, fieldAddress: .3, fieldLinks: .7,
		fieldTerms: .7, fieldBody: .7}
)

const (
	pageTitleWeight   = 3
	pageAddressWeight = 1
	pageLinksWeight   = .5
	pageLengthB       = .4
	pageK1            = 15
)

// statistics are the properties of the whole index that impacts depend on.
type statistics struct {
	averages
	// norms caches the length normalization by field and length; pageNorms is that of each
	// segment's page.
	norms     [fieldCount][]float64
	pageNorms []float64
	// Minimum weights of each level, for passages and pages.
	thresholds, pageThresholds thresholds
}

// averages are rounded (see roundToBits), so that few edits change them.
type averages struct {
	fieldLength [fieldCount]float64 // average lengths of the fields that are not empty
	pageLength  float64             // average length of a page
	k1          float64
}

// maxCachedLength limits the lengths in statistics.norms.
const maxCachedLength = 1 << 10

// averagesOf returns the averages of the passages, and the body length of each segment.
// segment has the segment of each passage, segments their number.
func averagesOf(infos []passageInfo, segment []uint32, segments int) (a averages, bodies []float64) {
	var n [fieldCount]float64
	bodies = make([]float64, segments)
	for i := range infos {
		for f := range fieldCount {
			if length := infos[i].wordCounts[f]; length > 0 {
				a.fieldLength[f] += float64(length)
				n[f]++
			}
		}
		bodies[segment[i]] += float64(infos[i].wordCounts[fieldBody]) + float64(infos[i].wordCounts[fieldTitle])
	}
	weights := 0.
	for f := range fieldCount {
		if n[f] > 0 {
			a.fieldLength[f] = roundToBits(a.fieldLength[f]/n[f], averageBits)
			weights += fieldWeights[f] * n[f] / float64(len(infos))
		}
	}
	for _, length := range bodies {
		a.pageLength += length / float64(segments)
	}
	a.pageLength, a.k1 = roundToBits(a.pageLength, averageBits), roundToBits(.8+.4*weights, averageBits)
	return a, bodies
}

func (l *layout) measureStatistics() statistics {
	var s statistics
	s.averages, s.pageNorms = averagesOf(l.passages, l.segmentOf, len(l.documents))
	for f := range s.norms {
		s.norms[f] = make([]float64, maxCachedLength)
		for words := range s.norms[f] {
			s.norms[f][words] = s.lengthNorm(f, uint32(words))
		}
	}
	s.pageLengthNorms(s.pageNorms)
	s.thresholds, s.pageThresholds = newThresholds(s.k1, l.single), newThresholds(pageK1, l.single)
	return s
}

// pageLengthNorms replaces the body lengths of segments by their length normalization.
func (a *averages) pageLengthNorms(bodies []float64) {
	for i, length := range bodies {
		bodies[i] = 1 - pageLengthB + pageLengthB*roundToBits(length, lengthBits)/a.pageLength
	}
}

// Averages and page lengths are rounded to these many bits. The error of a few percent
// does not affect ranking quality, and while the averages stay the same, so do the impacts
// in passages that were not edited.
const (
	averageBits = 6
	lengthBits  = 4
)

// roundToBits rounds x to a mantissa of bits.
func roundToBits(x float64, bits int) float64 {
	fraction, exponent := math.Frexp(x)
	return math.Ldexp(math.Round(math.Ldexp(fraction, bits)), exponent-bits)
}

// lengthNorm returns the BM25 length normalization of a field of so many words:
// 1-b+b*length/average.
func (s *statistics) lengthNorm(field int, words uint32) float64 {
	b := fieldLengthB[field]
	if s.fieldLength[field] == 0 {
		return 1 - b
	}
	return 1 - b + b*float64(words)/s.fieldLength[field]
}

func (p *passageInfo) length(field int) uint32 {
	if field == fieldBody {
		return p.bodyLength
	}
	return uint32(p.shortLengths[field])
}

// fieldFrequencies are the frequencies of a term in the fields of a passage.
type fieldFrequencies [fieldCount]uint32

// countByField counts a term's positions by field.
func (p *passageInfo) countByField(positions []uint32) fieldFrequencies {
	var c fieldFrequencies
	field, end := 0, p.length(0)
	for _, at := range positions {
		for field < fieldBody && at > end {
			field++
			end += 1 + p.length(field)
		}
		c[field]++
	}
	return c
}

// fieldOf returns the field of a position.
func (p *passageInfo) fieldOf(position uint32) int {
	field, end := 0, p.length(0)
	for field < fieldBody && position > end {
		field++
		end += 1 + p.length(field)
	}
	return field
}

// impact returns the impact level of a term with these delta-encoded positions in a
// passage. It adds its frequencies to the page's.
func (s *statistics) impact(p *passageInfo, positions []uint32, page *pageFrequencies) uint8 {
	at := positions[0]
	if at >= p.bodyStart { // the common case
		page.add(fieldBody, uint32(len(positions)))
		return s.thresholds.level(s.weight(p, fieldBody, len(positions)))
	}
	x := 0.
	field, end, n := 0, p.length(0), 0
	for i := range positions {
		for field < fieldBody && at > end {
			if n > 0 {
				n = p.counted(field, n)
				x += s.weight(p, field, n)
				page.add(field, uint32(n))
				n = 0
			}
			field++
			end += 1 + p.length(field)
		}
		n++
		if i+1 < len(positions) {
			at += positions[i+1] + 1
		}
	}
	n = p.counted(field, n)
	page.add(field, uint32(n))
	return s.thresholds.level(x + s.weight(p, field, n))
}

// manualTitle is the number of times that a word in the title of a manual page counts: the title
// has the page's name and what it is for, in one line.
const manualTitle = 2

// maxTermCount is the number of occurrences that count among a passage's index terms: a word
// that all names of one passage share is not its subject as many times.
const maxTermCount = 3

// counted returns the number of times that n occurrences in a field count.
func (p *passageInfo) counted(field, n int) int {
	switch {
	case field == fieldPage && p.manual:
		return n * manualTitle
	case field == fieldTerms:
		return min(n, maxTermCount)
	}
	return n
}

// weight returns the weight of n occurrences in a field.
func (s *statistics) weight(p *passageInfo, field, n int) float64 {
	words, damping := p.wordCounts[field], 0.
	if words < maxCachedLength {
		damping = s.norms[field][words]
	} else {
		damping = s.lengthNorm(field, words)
	}
	return fieldWeights[field] * float64(n) / damping
}

// pageFrequencies are the frequencies of a term in the fields of a page.
type pageFrequencies struct{ title, address, links, body uint32 }

// add adds n occurrences in a field of a passage. Every passage repeats the page's title
// and address, so their maximum counts, not the sum.
func (p *pageFrequencies) add(field int, n uint32) {
	switch field {
	case fieldTitle, fieldBody:
		p.body += n
	case fieldPage:
		p.title = max(p.title, n)
	case fieldAddress:
		p.address = max(p.address, n)
	case fieldLinks:
		p.links += n
	}
}

func (s *statistics) pageImpact(p *pageFrequencies, segment uint32) uint8 {
	x := pageTitleWeight*float64(p.title) + pageAddressWeight*float64(p.address) + pageLinksWeight*float64(p.links)
	if p.body > 0 {
		x += float64(p.body) / s.pageNorms[segment]
	}
	return s.pageThresholds.level(x)
}

// thresholds are the minimum weights of the levels. Their number is a power of two.
type thresholds []float64

// newThresholds returns the thresholds of quantize for weights x that saturate to
// x/(k1+x).
func newThresholds(k1 float64, single bool) thresholds {
	c := make(thresholds, maxLevel(single)+1)
	for level := 2; level < len(c); level++ {
		// Positive floats sort like their bits.
		low, high := uint64(0), math.Float64bits(math.MaxFloat64/2)
		for low < high {
			mid := low + (high-low)/2
			x := math.Float64frombits(mid)
			if quantize(x/(k1+x), single) >= level {
				high = mid
			} else {
				low = mid + 1
			}
		}
		c[level] = math.Float64frombits(high)
	}
	return c
}

// level returns the level of a weight, at least 1.
func (c thresholds) level(x float64) uint8 {
	level := 0
	for step := len(c) / 2; step > 0; step /= 2 {
		if x >= c[level+step] {
			level += step
		}
	}
	return uint8(max(1, level))
}

// quantize maps [0,1] to the level with the nearest value.
func quantize(x float64, single bool) int {
	if !single {
		x = math.Sqrt(x)
	}
	return int(math.Round(float64(maxLevel(single)) * x))
}

// idf returns the inverse document frequency of a term in n of total documents.
func idf(n, total int) float64 {
	return math.Log1p((float64(total-n) + .5) / (float64(n) + .5))
}
