package dense

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/vecmath"
	"github.com/docsearch/docsearch/internal/parallel"
	"github.com/docsearch/docsearch/internal/progress"
)

// Vectors is the input of a build: one vector per passage.
type Vectors interface {
	Len() int
	Dimensions() int
	// Vector writes the vector of passage i to v. It must be safe for
	// concurrent use.
	Vector(i int, v []float32) error
}

// Options of a build.
type Options struct {
	// Queries are vectors of typical queries. The build measures recall with
	// them and calibrates the search. The passages' own vectors are too easy
	// for that. If Queries is empty, the build mixes passages instead.
	Queries [][]float32
	// Depth is the number of hits that searches request. A search of a subset
	// of the rows is calibrated to find that many. 0 means 10.
	Depth    int
	Progress progress.Func
}

// Stats describes a finished build.
type Stats struct {
	Rows       int // passages with a vector
	Skipped    int // passages whose vector is zero or not finite
	Lists      int
	Copies     int // boundary rows stored again in another list
	NProbe     int // lists that a search scans
	Candidates int // ef_search of the centroid graph, or rerank candidates of the prefilter
	Recall     generation.Recall
}

const (
	// maxFlatBytes is the size of the codes up to which every search is a flat
	// scan, of little more than a millisecond. Ranking the thousand small
	// lists that an IVF search needs would take the graph as long.
	maxFlatBytes = 40 << 20
	// A search of a subset of the rows must scan lists, or rerank candidates,
	// with targetRecall of the neighbors, find minRecall of them, and be
	// minSpeedup times cheaper than a flat scan.
	targetRecall = 0.997
	minRecall    = 0.99
	minSpeedup   = 1.3
	// tenBitsRecall is the recall@10 that ten bits per dimension need in a
	// flat scan. IVF searches also miss neighbors in other lists, so they
	// always use twelve bits.
	tenBitsRecall = 0.995
	// Costs are in bytes of codes that a flat scan reads in the same time:
	// nodeCost for a node that coder/hnsw visits, a microsecond, and rowCost
	// for a row at a random offset.
	nodeCost = 28 << 10
	rowCost  = 2 << 10
	// minPrefiltered and maxPrefiltered limit the rerank candidates of a
	// prefilter.
	minPrefiltered = 512
	maxPrefiltered = 8192

	recallAt      = 10
	maxRecallWork = 2e10 // multiplications that the ground truth may cost
	// scoreTolerance is the difference up to which two exact scores are a tie.
	scoreTolerance = 2e-6
)

// Stages of a build in progress reports.
const (
	readingStage    = "reading vectors"
	clusteringStage = "clustering vectors"
)

// Build writes an index of the vectors to a new file. The file is a function of
// the vectors and options: equal input gives equal bytes.
func Build(ctx context.Context, file confined.Path, v Vectors, opt Options) (Stats, error) {
	if d := v.Dimensions(); d < 1 || d > maxDimensions {
		return Stats{}, fmt.Errorf("vectors of %d dimensions cannot be indexed, at most %d can", d, maxDimensions)
	}
	b := &builder{v: v, opt: opt, maxFlatBytes: maxFlatBytes, nodeCost: nodeCost, rowCost: rowCost}
	if err := b.build(ctx); err != nil {
		return Stats{}, err
	}
	return b.stats, b.write(file)
}

type builder struct {
	v            Vectors
	opt          Options
	maxFlatBytes int // see the constants of these names
	nodeCost     int
	rowCost      int
	bits         residualBits
	truth        *groundTruth
	rows         rows
	// centroids are the list centroids.
	centroids matrix
	x         Index // its sections are in memory
	stats     Stats
}

// rows are quantized vectors.
type rows struct {
	width     int
	bits      residualBits
	passages  []uint32
	scales    []float32
	codes     []byte
	residuals []byte
}

// build tries ten bits per dimension if all rows are small enough for a flat
// scan, and twelve if that is not enough.
func (b *builder) build(ctx context.Context) error {
	b.bits = tenBits
	if b.v.Len()*paddedWidth(b.v.Dimensions()) > b.maxFlatBytes {
		b.bits = twelveBits
	}
	err := b.buildWithBits(ctx)
	if err == nil && b.bits == tenBits && len(b.truth.queries) > 0 && b.stats.Recall.Value < tenBitsRecall {
		b.bits = twelveBits
		err = b.buildWithBits(ctx)
	}
	return err
}

func (b *builder) buildWithBits(ctx context.Context) error {
	if err := b.sampleQueries(); err != nil {
		return err
	}
	if err := b.quantize(ctx); err != nil {
		return err
	}
	r := &b.rows
	n := len(r.passages)
	b.stats = Stats{Rows: n, Skipped: b.v.Len() - n}
	b.x.head = head{passageCount: b.v.Len(), dimensions: b.v.Dimensions(), rows: n, stored: n, bits: int(b.bits)}
	b.x.listStarts, b.x.copyStarts, b.x.graph = []uint32{0}, []uint32{0}, inMemory(nil)
	if n > 0 {
		ivf := n*r.width > b.maxFlatBytes
		l, err := cluster(ctx, r, b.v.Dimensions(), listCount(n, ivf), ivf, b.opt.Progress)
		if err != nil {
			return err
		}
		r.reorder(l)
		b.centroids = l.centroids
		b.x.graph = inMemory(newGraph(l.centroids).encode())
		b.x.lists, b.x.listStarts, b.x.copyStarts = len(l.starts)-1, l.starts, l.copyStarts
		b.x.stored = len(r.passages)
	}
	b.attachSections()
	if err := b.calibrate(ctx); err != nil {
		return err
	}
	if err := b.measureRecall(ctx); err != nil {
		return err
	}
	if b.x.mode != modeFlat && b.stats.Recall.Value < minRecall {
		b.useFlat()
		if err := b.measureRecall(ctx); err != nil {
			return err
		}
	}
	b.stats.Lists, b.stats.Copies = b.x.lists, b.x.stored-b.x.rows
	b.stats.NProbe, b.stats.Candidates = b.x.nprobe, b.x.candidates
	return nil
}

// listCount returns the number of lists for n rows. For IVF the lists are
// small, because a search scans few of them; otherwise they are large.
func listCount(n int, ivf bool) int {
	if !ivf {
		return max(1, min(max(n/1024, 16), maxRankedLists, n/16))
	}
	count := 1024
	for count < maxLists && count*330 < n { // the power of two nearest to n/234
		count *= 2
	}
	return max(1, min(count, n/16))
}

// sampleQueries selects the queries of the ground truth, at most as many as
// maxRecallWork allows.
func (b *builder) sampleQueries() error {
	queries := b.opt.Queries
	if len(queries) == 0 {
		var err error
		if queries, err = mixPassages(b.v, 300); err != nil {
			return err
		}
	}
	limit := min(max(int(maxRecallWork/float64(max(1, b.v.Len()*b.v.Dimensions()))), 50), 500)
	b.truth = &groundTruth{depth: max(b.opt.Depth, recallAt)}
	for i := range min(limit, len(queries)) {
		v := queries[i*len(queries)/min(limit, len(queries))]
		if len(v) != b.v.Dimensions() {
			return fmt.Errorf("a sample query has %d dimensions, the vectors have %d", len(v), b.v.Dimensions())
		}
		u := make([]float32, len(v))
		if unit(u, v) {
			b.truth.queries = append(b.truth.queries, u)
		}
	}
	b.truth.neighbors = make([][]Hit, len(b.truth.queries))
	return nil
}

// quantize reads each vector once, encodes it, and compares it in full
// precision with the sample queries.
func (b *builder) quantize(ctx context.Context) error {
	const batch = 256
	n, d := b.v.Len(), b.v.Dimensions()
	w := paddedWidth(d)
	f := b.bits.width(w)
	all := rows{width: w, bits: b.bits, scales: make([]float32, n), codes: make([]byte, n*w),
		residuals: make([]byte, n*f)}
	err := parallel.Ranges(ctx, n, batch, func(from, to int) error {
		v := make([]float32, d)
		units := newMatrix(to-from, d)
		for i := from; i < to; i++ {
			if err := b.v.Vector(i, v); err != nil {
				return err
			}
			if u := units.row(i - from); unit(u, v) {
				all.scales[i] = b.bits.encode(all.codes[i*w:(i+1)*w], all.residuals[i*f:(i+1)*f], u)
			}
		}
		b.truth.compare(units, all.scales[from:to], from)
		b.opt.Progress.Report(readingStage, int64(to), int64(n))
		return nil
	})
	if err != nil {
		return err
	}
	// Drop the vectors without a direction.
	kept := 0
	for i, s := range all.scales {
		if s == 0 {
			continue
		}
		all.passages = append(all.passages, uint32(i))
		all.scales[kept] = s
		if kept != i {
			copy(all.codes[kept*w:], all.codes[i*w:(i+1)*w])
			copy(all.residuals[kept*f:], all.residuals[i*f:(i+1)*f])
		}
		kept++
	}
	all.scales, all.codes, all.residuals = all.scales[:kept], all.codes[:kept*w], all.residuals[:kept*f]
	b.rows = all
	return nil
}

// reorder sorts the rows by list and appends the boundary copies. It reorders
// one array after the other to save memory.
func (r *rows) reorder(b *lists) {
	w := r.width
	withoutCopies := b.order[:len(r.passages)]
	r.passages, r.scales = reorderRows(r.passages, b.order, 1), reorderRows(r.scales, b.order, 1)
	r.codes = reorderRows(r.codes, b.order, w)
	r.residuals = reorderRows(r.residuals, withoutCopies, r.bits.width(w))
}

// reorderRows returns the rows, of size elements each, in the given order.
func reorderRows[T any](from []T, order []uint32, size int) []T {
	to := make([]T, 0, len(order)*size)
	for _, row := range order {
		to = append(to, from[int(row)*size:(int(row)+1)*size]...)
	}
	return to
}

// attachSections makes the contents of the new file the sections of b.x, which
// can then be searched.
func (b *builder) attachSections() {
	x, r := &b.x, &b.rows
	passageRows := slices.Repeat([]uint32{noRow}, x.passageCount)
	for row, p := range r.passages[:x.rows] {
		passageRows[p] = uint32(row)
	}
	x.rowPassages, x.passageRows, x.scales = inMemory(encoded(r.passages)), inMemory(encoded(passageRows)),
		inMemory(encoded(r.scales))
	x.codes, x.residuals = inMemory(r.codes), inMemory(r.residuals)
}

// inMemory returns a section of an index that is being built.
func inMemory(data []byte) container.Section { return container.InMemory("vectors in memory", data) }

// encoded returns numbers in the form of the file.
func encoded[T uint32 | float32](numbers []T) []byte {
	data, _ := binary.Append(nil, binary.LittleEndian, numbers) // numbers can always be encoded
	return data
}

// calibrate chooses the mode of the index and its parameters: a flat scan if
// there are few rows, or if no other mode reaches targetRecall at less cost.
func (b *builder) calibrate(ctx context.Context) error {
	x := &b.x
	x.mode, x.nprobe, x.candidates = modeFlat, x.lists, 0
	cheapest := float64(x.rows) * float64(b.rows.width) / minSpeedup
	if x.rows*b.rows.width <= b.maxFlatBytes || len(b.truth.queries) == 0 {
		b.useFlat()
		return nil
	}
	if x.stored > x.rows {
		var err error
		if cheapest, err = b.calibrateIVF(ctx, cheapest); err != nil {
			return err
		}
	}
	if err := b.calibratePrefilter(ctx, cheapest); err != nil {
		return err
	}
	if x.mode == modeFlat {
		b.useFlat()
	}
	return nil
}

// calibrateIVF selects modeIVF, with the cheapest ef_search and nprobe, if it
// costs less than cheapest. It returns the lower cost of the two.
func (b *builder) calibrateIVF(ctx context.Context, cheapest float64) (float64, error) {
	x := &b.x
	centroids, err := x.loadCentroids()
	if err != nil {
		return 0, err
	}
	neighborLists := b.truth.neighborLists(x, b.rows.passages)
	listCost := float64(x.stored) / float64(x.lists) * float64(b.rows.width)
	tried := 0
	for _, efSearch := range []int{64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096} {
		efSearch = min(efSearch, x.lists)
		if efSearch == tried || float64(efSearch*b.nodeCost) > cheapest {
			break
		}
		tried = efSearch
		found := make([]int, x.lists) // neighbors by the rank of the first list that holds them
		total := 0
		ranks := make([][]int, len(b.truth.queries))
		if err := parallel.Ranges(ctx, len(ranks), 1, func(from, to int) error {
			for i := from; i < to; i++ {
				ranks[i] = centroids.rankLists(b.truth.queries[i], efSearch)
			}
			return nil
		}); err != nil {
			return 0, err
		}
		for i, ranked := range ranks {
			total += len(neighborLists[i])
			for _, lists := range neighborLists[i] {
				at := slices.IndexFunc(ranked, func(list int) bool { return slices.Contains(lists, uint32(list)) })
				if at >= 0 {
					found[at]++
				}
			}
		}
		sum := 0
		for at, n := range found[:efSearch] {
			if sum += n; float64(sum) < targetRecall*float64(total) {
				continue
			}
			if cost := float64(efSearch*b.nodeCost) + float64(at+1)*listCost; cost < cheapest {
				cheapest = cost
				x.mode, x.nprobe, x.candidates = modeIVF, at+1, efSearch
			}
			break
		}
	}
	return cheapest, nil
}

// calibratePrefilter selects modePrefilter, with the fewest rerank candidates,
// if it costs less than cheapest.
func (b *builder) calibratePrefilter(ctx context.Context, cheapest float64) error {
	x := &b.x
	cost := func(candidates int) float64 { return float64(x.rows*(b.rows.width/4+2) + candidates*b.rowCost) }
	if cost(minPrefiltered) >= cheapest {
		return nil
	}
	var err error
	if x.prefilter, err = newPrefilter(ctx, &b.rows, x.dimensions, x.listStarts, encodeCentroids(b.centroids)); err != nil {
		return err
	}
	ranks := make([][]int, len(b.truth.queries)) // of the neighbors among the candidates
	if err := parallel.Ranges(ctx, len(ranks), 1, func(from, to int) error {
		var t prefilterScan
		for i := from; i < to; i++ {
			rows, err := t.run(x, newQuery(b.truth.queries[i]), maxPrefiltered)
			if err != nil {
				return err
			}
			slices.SortFunc(rows, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
			for at, c := range rows {
				p := b.rows.passages[c.row]
				if slices.ContainsFunc(b.truth.neighbors[i], func(h Hit) bool { return h.Passage == p }) {
					ranks[i] = append(ranks[i], at)
				}
			}
		}
		return nil
	}); err != nil {
		return err
	}
	total := 0
	for _, neighbors := range b.truth.neighbors {
		total += len(neighbors)
	}
	all := slices.Sorted(slices.Values(slices.Concat(ranks...)))
	wanted := int(math.Ceil(targetRecall * float64(total)))
	if wanted > len(all) {
		return nil
	}
	if candidates := max(minPrefiltered, all[wanted-1]+1); cost(candidates) < cheapest {
		b.useFlat()
		x.mode, x.candidates = modePrefilter, candidates
	}
	return nil
}

// useFlat selects modeFlat and drops the boundary copies, which it does not need.
func (b *builder) useFlat() {
	x := &b.x
	x.mode, x.nprobe, x.candidates, x.stored = modeFlat, x.lists, 0, x.rows
	clear(x.copyStarts)
	b.rows.passages, b.rows.scales = b.rows.passages[:x.rows], b.rows.scales[:x.rows]
	b.rows.codes = b.rows.codes[:x.rows*b.rows.width]
	b.attachSections()
}

// measureRecall measures the recall@10 of the finished index.
func (b *builder) measureRecall(ctx context.Context) error {
	recall := generation.Recall{At: recallAt, Mode: modeNames[b.x.mode], Sample: len(b.truth.queries)}
	found, total := make([]int, recall.Sample), 0
	err := parallel.Ranges(ctx, recall.Sample, 1, func(from, to int) error {
		v := make([]float32, b.v.Dimensions())
		for i := from; i < to; i++ {
			neighbors := b.truth.neighbors[i][:min(recallAt, len(b.truth.neighbors[i]))]
			hits, err := b.x.Search(b.truth.queries[i], len(neighbors), nil)
			if err != nil {
				return err
			}
			for _, h := range hits {
				if err := b.v.Vector(int(h.Passage), v); err != nil {
					return err
				}
				unit(v, v)
				if vecmath.Dot(b.truth.queries[i], v) >= neighbors[len(neighbors)-1].Score-scoreTolerance {
					found[i]++
				}
			}
		}
		return nil
	})
	for i, n := range found {
		recall.Value += float64(n)
		total += min(recallAt, len(b.truth.neighbors[i]))
	}
	if total > 0 {
		recall.Value /= float64(total)
	}
	b.stats.Recall = recall
	return err
}

func (b *builder) write(file confined.Path) error {
	x := &b.x
	out, err := container.Create(file, kind, Version)
	if err != nil {
		return err
	}
	var head []uint32
	for _, n := range x.head.fields() {
		head = append(head, uint32(*n))
	}
	out.Add("head", encoded(head))
	out.Copy("graph", x.graph)
	out.Add("starts", encoded(x.listStarts))
	out.Add("copies", encoded(x.copyStarts))
	out.Copy("passages", x.rowPassages)
	out.Copy("places", x.passageRows)
	out.Copy("scales", x.scales)
	out.Copy("codes", x.codes)
	out.Copy("fine", x.residuals)
	if x.mode == modePrefilter {
		out.Copy("middles", x.prefilter.centroids)
		out.Copy("bits", x.prefilter.codes)
		out.Copy("bitscale", x.prefilter.scales)
	}
	return out.Close()
}
