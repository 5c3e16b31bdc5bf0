package lexical

import "math"

// BM25F: a term's weight in a passage is the sum over the fields of how often
// it occurs there, each damped by the field's length and weighted, and the
// sum is saturated once. The same is done for the page as a whole, in fewer
// fields. k1 is high because the weights add up to several times those of a
// plain BM25.
var (
	fieldWeights = [fieldCount]float64{fieldTitle: 3, fieldPath: 2, fieldPage: 2, fieldAddress: 1, fieldLinks: 1, fieldTerms: 1, fieldBody: 1}
	fieldDamping = [fieldCount]float64{fieldTitle: .7, fieldPath: .5, fieldPage: .3, fieldAddress: .3, fieldLinks: .7, fieldTerms: .7, fieldBody: .7}
)

const (
	pageTitleWeight   = 3
	pageAddressWeight = 1
	pageLinksWeight   = .5
	pageBodyDamping   = .4
	pageK1            = 15
)

// statistics are what the weights of a whole database depend on.
type statistics struct {
	single     bool
	k1, pageK1 float64
	average    [fieldCount]float64 // lengths, of the passages that have the field
	bodies     []float64           // lengths of the units
	body       float64             // their average
}

func (l *layout) measure() statistics {
	s := statistics{single: l.single}
	var n [fieldCount]float64
	s.bodies = make([]float64, len(l.owners))
	for i := range l.info {
		for f := range fieldCount {
			if length := l.info[i].words[f]; length > 0 {
				s.average[f] += float64(length)
				n[f]++
			}
		}
		s.bodies[l.unit[i]] += float64(l.info[i].words[fieldBody]) + float64(l.info[i].words[fieldTitle])
	}
	weights := 0.
	for f := range fieldCount {
		if n[f] > 0 {
			s.average[f] /= n[f]
			weights += fieldWeights[f] * n[f] / float64(len(l.info))
		}
	}
	s.k1, s.pageK1 = .8+.4*weights, pageK1
	for _, length := range s.bodies {
		s.body += length / float64(len(s.bodies))
	}
	return s
}

func (p *passageInfo) length(field int) uint32 {
	if field == fieldBody {
		return p.body
	}
	return uint32(p.short[field])
}

// counts are how often a term occurs in each field of a passage.
type counts [fieldCount]uint32

// count sorts a term's positions by field.
func (p *passageInfo) count(positions []uint32) counts {
	var c counts
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

// fieldOf is the field that a position belongs to.
func (p *passageInfo) fieldOf(position uint32) int {
	field, end := 0, p.length(0)
	for field < fieldBody && position > end {
		field++
		end += 1 + p.length(field)
	}
	return field
}

// impact is the level of the term's saturated weight in a passage.
func (s *statistics) impact(c *counts, p *passageInfo) uint8 {
	x := 0.
	for f, n := range c {
		if n > 0 {
			b := fieldDamping[f]
			x += fieldWeights[f] * float64(n) / (1 - b + b*float64(p.words[f])/s.average[f])
		}
	}
	return s.quantize(x / (s.k1 + x))
}

// pageCounts are how often a term occurs in a page.
type pageCounts struct{ title, address, links, body uint32 }

// add counts a passage. What is the page's own is repeated with every
// passage, so the most of it counts, not the sum.
func (p *pageCounts) add(c *counts) {
	p.title = max(p.title, c[fieldPage])
	p.address = max(p.address, c[fieldAddress])
	p.links += c[fieldLinks]
	p.body += c[fieldTitle] + c[fieldBody]
}

func (s *statistics) pageImpact(p *pageCounts, unit uint32) uint8 {
	x := pageTitleWeight*float64(p.title) + pageAddressWeight*float64(p.address) + pageLinksWeight*float64(p.links)
	if p.body > 0 {
		x += float64(p.body) / (1 - pageBodyDamping + pageBodyDamping*s.bodies[unit]/s.body)
	}
	return s.quantize(x / (s.pageK1 + x))
}

// quantize maps 0 to 1 to the level whose degree is nearest. What a term has
// is never nothing.
func (s *statistics) quantize(x float64) uint8 {
	if !s.single {
		x = math.Sqrt(x)
	}
	return uint8(max(1, math.Round(float64(levels(s.single))*x)))
}

// idf is how much a term that n of total have tells them apart.
func idf(n, total int) float64 {
	return math.Log1p((float64(total-n) + .5) / (float64(n) + .5))
}
