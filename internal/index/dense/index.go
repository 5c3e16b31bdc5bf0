package dense

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/vecmath"
)

// Version is the version of the file format.
//
//	1  twelve bits per dimension
//	2  see the package comment
const Version = 2

const (
	kind          = "VECT"
	headSize      = 36
	maxDimensions = 1 << 14
	maxLists      = 1 << 13

	modeFlat      = 0
	modeIVF       = 1
	modePrefilter = 2

	noRow = math.MaxUint32
	// minCandidates is the least number of candidates to rerank in full
	// precision. Fewer lose neighbors among near duplicates.
	minCandidates = 100
	batchRows     = 256 // rows per call of vecmath.Products
	// maxRankedLists is the largest number of lists that a flat scan ranks
	// first. Ranking thousands takes longer than it saves.
	maxRankedLists = 256
)

// modeNames are the names of the modes in a manifest.
var modeNames = []string{modeFlat: "all", modeIVF: "routed", modePrefilter: "sifted"}

// An Index is an open vector index. It is safe for concurrent use.
type Index struct {
	file *container.File // nil while the index is being built
	head
	listStarts, copyStarts                             []uint32
	rowPassages, passageRows, scales, codes, residuals container.Section
	graph                                              container.Section
	prefilter                                          prefilter // in modePrefilter
	// skipPrefilter is set if a flat scan is faster than the prefilter on this
	// processor.
	skipPrefilter bool

	searches sync.Pool // of *search, for reuse

	centroidsOnce sync.Once
	centroids     centroidIndex
	centroidsErr  error
}

// A head is the file's first section; see the package comment for the letters.
type head struct {
	passageCount int // N
	dimensions   int // D
	rows         int // R
	stored       int // S
	lists        int // C
	mode         int
	nprobe       int // lists to scan
	candidates   int // ef_search in modeIVF, rerank candidates in modePrefilter
	bits         int // B
}

// A centroidIndex finds the lists whose centroids are nearest to a query.
type centroidIndex interface {
	// rankLists returns at most efSearch lists, approximately those nearest to
	// the unit vector q, in ascending order of distance.
	rankLists(q []float32, efSearch int) []int
}

// A Hit is a passage and the cosine of its vector with the query's.
type Hit struct {
	Passage uint32
	Score   float32
}

// Open opens an index file.
func Open(file confined.Path) (*Index, error) {
	f, err := container.Open(file, kind, Version)
	if err != nil {
		return nil, err
	}
	x := &Index{file: f, skipPrefilter: !vecmath.HasFastPrefilter()}
	if err := x.open(); err != nil {
		f.Close()
		return nil, err
	}
	return x, nil
}

func (x *Index) open() error {
	var headAt, startsAt, copiesAt container.Section
	err := x.file.Sections([]string{"head", "graph", "starts", "copies", "passages", "places", "scales", "codes",
		"fine"},
		&headAt, &x.graph, &startsAt, &copiesAt, &x.rowPassages, &x.passageRows, &x.scales, &x.codes, &x.residuals)
	if err != nil {
		return err
	}
	b, err := headAt.Bytes(0, headSize)
	if err != nil {
		return err
	}
	for i, to := range x.head.fields() {
		*to = int(binary.LittleEndian.Uint32(b[4*i:]))
	}
	w := int64(paddedWidth(x.dimensions))
	switch {
	case x.rows > x.passageCount || x.rows > x.stored || x.dimensions > maxDimensions || x.lists > maxLists ||
		x.mode > modePrefilter,
		x.residualBits() != tenBits && x.residualBits() != twelveBits, (x.rows > 0) != (x.lists > 0),
		x.rows > 0 && x.dimensions == 0,
		x.mode == modeIVF && (x.nprobe < 1 || x.candidates < x.nprobe || x.candidates > x.lists),
		x.mode == modePrefilter && (x.candidates < 1 || x.lists == 0 || x.stored > x.rows):
		return headAt.Corrupt(0, "the numbers make no sense")
	case startsAt.Len() != 4*int64(x.lists+1), copiesAt.Len() != 4*int64(x.lists+1),
		x.rowPassages.Len() != 4*int64(x.stored), x.passageRows.Len() != 4*int64(x.passageCount),
		x.scales.Len() != 4*int64(x.stored),
		x.codes.Len() != w*int64(x.stored), x.residuals.Len() != x.residualWidth()*int64(x.rows):
		return headAt.Corrupt(0, "the sections' sizes do not fit together")
	}
	if x.listStarts, err = readOffsets(startsAt, x.rows); err != nil {
		return err
	}
	if x.copyStarts, err = readOffsets(copiesAt, x.stored-x.rows); err != nil || x.mode != modePrefilter {
		return err
	}
	return x.openPrefilter()
}

func (h *head) residualBits() residualBits { return residualBits(h.bits) }

// residualWidth returns the bytes of the packed residuals of a row.
func (h *head) residualWidth() int64 { return int64(h.residualBits().width(paddedWidth(h.dimensions))) }

func (h *head) fields() []*int {
	return []*int{&h.passageCount, &h.dimensions, &h.rows, &h.stored, &h.lists, &h.mode, &h.nprobe, &h.candidates,
		&h.bits}
}

// readOffsets reads a section of ascending offsets from 0 to last.
func readOffsets(s container.Section, last int) ([]uint32, error) {
	b, err := s.All()
	if err != nil {
		return nil, err
	}
	list := make([]uint32, len(b)/4)
	binary.Decode(b, binary.LittleEndian, list)
	if list[0] != 0 || int64(list[len(list)-1]) != int64(last) || !slices.IsSorted(list) {
		return nil, s.Corrupt(0, "the offsets do not ascend")
	}
	return list, nil
}

// Close closes the index. No search may be running.
func (x *Index) Close() error { return x.file.Close() }

// Len returns the number of passages with a vector.
func (x *Index) Len() int { return x.rows }

// Dimensions returns the dimensionality of the vectors.
func (x *Index) Dimensions() int { return x.dimensions }

// Verify checks the file's checksums and the consistency of its passages and
// its graph. It calls advance, if not nil, with the number of bytes checked
// since the last call.
func (x *Index) Verify(advance func(int64)) error {
	if err := x.file.Verify(advance); err != nil {
		return err
	}
	if x.lists > 0 {
		if _, err := x.loadCentroids(); err != nil {
			return err
		}
	}
	found := 0
	for n := range x.passageCount {
		row, err := x.rowOf(uint32(n))
		if err != nil {
			return err
		}
		if row == noRow {
			continue
		}
		found++
		if p, err := x.passageOf(int(row)); err != nil || int(p) != n {
			return cmp.Or(err, x.passageRows.Corrupt(4*int64(n), "another passage is there"))
		}
	}
	if found != x.rows {
		return x.passageRows.Corrupt(0, fmt.Sprintf("%d passages have rows, want %d", found, x.rows))
	}
	return nil
}

// Search returns the k passages whose vectors are nearest to q, best first. If
// accept is not nil, it returns only passages that accept reports true for. If
// q is zero or not finite, it returns none.
func (x *Index) Search(q []float32, k int, accept func(passage uint32) bool) ([]Hit, error) {
	query, err := x.query(q)
	if query == nil || k < 1 || x.rows == 0 {
		return nil, err
	}
	k = min(k, x.rows)
	// Accepted passages may be in any list, so a filter needs a flat scan. So
	// does a k close to the number of rerank candidates: only the best of
	// these are reliably the nearest rows.
	switch {
	case x.mode == modeFlat || accept != nil,
		x.mode == modePrefilter && (x.skipPrefilter || k > x.candidates/candidatesPerHit):
		return x.searchFlat(query, k, accept)
	case x.mode == modePrefilter:
		return x.searchPrefilter(query, k)
	}
	hits, err := x.searchIVF(query, k)
	if err == nil && len(hits) < k {
		return x.searchFlat(query, k, nil)
	}
	return hits, err
}

func (x *Index) searchFlat(q *query, k int, accept func(uint32) bool) ([]Hit, error) {
	s := x.newSearch(q, k, accept)
	defer s.release()
	if x.lists > maxRankedLists {
		if err := s.scan(0, x.rows); err != nil {
			return nil, err
		}
		return s.rerank(k)
	}
	centroids, err := x.loadCentroids()
	if err != nil {
		return nil, err
	}
	// If the nearest lists are scanned first, few later rows become candidates.
	for _, list := range centroids.rankLists(q.unit, x.lists) {
		if err := s.scan(int(x.listStarts[list]), int(x.listStarts[list+1])); err != nil {
			return nil, err
		}
	}
	return s.rerank(k)
}

func (x *Index) searchIVF(q *query, k int) ([]Hit, error) {
	centroids, err := x.loadCentroids()
	if err != nil {
		return nil, err
	}
	s := x.newSearch(q, k, nil)
	defer s.release()
	s.dedupe = true
	s.seen.clear()
	ranked := centroids.rankLists(q.unit, x.candidates)
	for _, list := range ranked[:min(x.nprobe, len(ranked))] {
		if err := s.scan(int(x.listStarts[list]), int(x.listStarts[list+1])); err != nil {
			return nil, err
		}
		if err := s.scan(x.rows+int(x.copyStarts[list]), x.rows+int(x.copyStarts[list+1])); err != nil {
			return nil, err
		}
	}
	return s.rerank(k)
}

// Exact is Search with every vector scored in full precision. It is the
// reference for the recall of Search.
func (x *Index) Exact(q []float32, k int, accept func(passage uint32) bool) ([]Hit, error) {
	query, err := x.query(q)
	if query == nil || k < 1 {
		return nil, err
	}
	k = min(k, x.rows)
	var hits []Hit
	r := &reranker{x: x, q: query}
	for from := 0; from < x.rows; from += batchRows {
		n := min(batchRows, x.rows-from)
		for row := from; row < from+n; row++ {
			p, err := x.passageOf(row)
			if err != nil {
				return nil, err
			}
			if accept != nil && !accept(p) {
				continue
			}
			if err := x.addToReranker(r, p, row); err != nil {
				return nil, err
			}
		}
		hits = append(hits, r.score()...)
		slices.SortFunc(hits, compareHits)
		hits = hits[:min(k, len(hits))]
	}
	return hits, nil
}

// Scores returns the cosine of q with each passage's vector, 0 for a passage
// without one.
func (x *Index) Scores(q []float32, passages []uint32) ([]float32, error) {
	scores := make([]float32, len(passages))
	query, err := x.query(q)
	if query == nil {
		return scores, err
	}
	r := &reranker{x: x, q: query}
	for i, p := range passages {
		row, err := x.rowOf(p)
		if err != nil {
			return nil, err
		}
		if row == noRow {
			continue
		}
		if err := x.addToReranker(r, uint32(i), int(row)); err != nil {
			return nil, err
		}
	}
	for _, h := range r.score() {
		scores[h.Passage] = h.Score
	}
	return scores, nil
}

// addToReranker adds a row other than a boundary copy.
func (x *Index) addToReranker(r *reranker, passage uint32, row int) error {
	scale, err := x.scales.Bytes(4*int64(row), 4)
	if err != nil {
		return err
	}
	return r.add(passage, row, row, float32At(scale))
}

func (x *Index) query(q []float32) (*query, error) {
	if len(q) != x.dimensions && x.rows > 0 {
		return nil,
			fmt.Errorf("the query has %d dimensions, the vectors %d: the index was built with another embedder; rebuild it", len(q), x.dimensions)
	}
	return newQuery(q), nil
}

// passageOf returns the passage of a row.
func (x *Index) passageOf(row int) (uint32, error) {
	b, err := x.rowPassages.Bytes(4*int64(row), 4)
	if err != nil {
		return 0, err
	}
	p := binary.LittleEndian.Uint32(b)
	if int64(p) >= int64(x.passageCount) {
		return 0, x.rowPassages.Corrupt(4*int64(row), fmt.Sprintf("passage %d of %d", p, x.passageCount))
	}
	return p, nil
}

// rowOf returns the row of a passage, or noRow.
func (x *Index) rowOf(passage uint32) (uint32, error) {
	b, err := x.passageRows.Bytes(4*int64(passage), 4)
	if err != nil {
		return 0, err
	}
	row := binary.LittleEndian.Uint32(b)
	if row != noRow && int64(row) >= int64(x.rows) {
		return 0, x.passageRows.Corrupt(4*int64(passage), fmt.Sprintf("row %d of %d", row, x.rows))
	}
	return row, nil
}

// loadCentroids returns the centroid index. The first call loads it.
func (x *Index) loadCentroids() (centroidIndex, error) {
	x.centroidsOnce.Do(func() {
		var b []byte
		if b, x.centroidsErr = x.graph.All(); x.centroidsErr != nil {
			return
		}
		if x.centroids, x.centroidsErr = newCentroidIndex(b, x.lists, x.dimensions); x.centroidsErr != nil {
			x.centroidsErr = x.graph.Corrupt(0, x.centroidsErr.Error())
		}
	})
	return x.centroids, x.centroidsErr
}

func float32At(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }

func compareHits(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Passage, b.Passage))
}
