package dense

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/docsearch/docsearch/internal/confined"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/vecmath"
	"github.com/docsearch/docsearch/internal/parallel"
	"github.com/docsearch/docsearch/internal/progress"
)

// Vectors are what an index is built from, one for each passage.
type Vectors interface {
	Len() int
	Dimensions() int
	// Vector puts the vector of passage i into v. It is called from several
	// goroutines at once.
	Vector(i int, v []float32) error
}

// Options of a build.
type Options struct {
	// Queries are vectors as queries have them, to measure recall with and to
	// choose what a search reads. The passages' own vectors are too easy.
	// Without any, mixtures of passages stand in.
	Queries [][]float32
	// Depth is how many hits searches ask for: a search that reads a part of
	// the blocks is to find that many. 0 is 10.
	Depth    int
	Progress progress.Func
}

// Stats is what a build found out.
type Stats struct {
	Rows       int // passages with a vector
	Skipped    int // passages whose vector is zero or not finite
	Lists      int
	Copies     int // rows stored in more blocks than one
	NProbe     int // blocks that a search reads
	Candidates int // nodes of the graph that a search asks for, or rows that pass the sieve
	Recall     generation.Recall
}

const (
	// maxFlatBytes of codes are read in little more than a millisecond. To rank the
	// thousand small blocks that they would make takes the graph as long.
	maxFlatBytes = 40 << 20
	// A routed search must read the blocks of targetRecall of the neighbours,
	// find minRecall of them, and be so much cheaper than reading everything.
	targetRecall = 0.997
	minRecall    = 0.99
	minSpeedup   = 1.3
	// tenBitsRecall is what ten bits a number must find where everything is
	// read. What a routed search finds depends on its blocks as well, for
	// which they leave no room.
	tenBitsRecall = 0.995
	// nodeCost of codes are read in the time in which coder/hnsw visits a
	// node, a microsecond; rowCost in that in which a row is read that lies
	// anywhere.
	nodeCost = 28 << 10
	rowCost  = 2 << 10
	// Of a sieve, minPrefiltered rows pass, or more, up to maxPrefiltered.
	minPrefiltered = 512
	maxPrefiltered = 8192

	recallAt      = 10
	maxRecallWork = 2e10 // products of numbers that measuring may cost
	// scoreTolerance is the difference at which two exact scores are a tie.
	scoreTolerance = 2e-6
)

// The stages of a build, for its progress.
const (
	readingStage    = "reading vectors"
	clusteringStage = "clustering vectors"
)

// Build writes an index of the vectors to a new file. Equal vectors and options
// make equal bytes.
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
	maxFlatBytes int // bytes of codes up to which everything is read
	nodeCost     int // what visiting a node costs, in bytes of codes
	rowCost      int // what a row costs that passes the sieve
	bits         residualBits
	truth        *groundTruth
	rows         rows
	// centroids are the blocks'.
	centroids matrix
	x         Index // over memory
	graph     []byte
	stats     Stats
}

// rows are quantised vectors.
type rows struct {
	width     int
	bits      residualBits
	passages  []uint32
	scales    []float32
	codes     []byte
	residuals []byte
}

// build tries with the fewest bits, where that may do.
func (b *builder) build(ctx context.Context) error {
	b.bits = tenBits
	if b.v.Len()*paddedWidth(b.v.Dimensions()) > b.maxFlatBytes {
		b.bits = twelveBits
	}
	err := b.attempt(ctx)
	if err == nil && b.bits == tenBits && len(b.truth.queries) > 0 && b.stats.Recall.Value < tenBitsRecall {
		b.bits = twelveBits
		err = b.attempt(ctx)
	}
	return err
}

func (b *builder) attempt(ctx context.Context) error {
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
	b.x.listStarts, b.x.copyStarts = []uint32{0}, []uint32{0}
	if n > 0 {
		routed := n*r.width > b.maxFlatBytes
		blocks, err := cluster(ctx, r, b.v.Dimensions(), listCount(n, routed), routed, b.opt.Progress)
		if err != nil {
			return err
		}
		r.reorder(blocks)
		b.centroids = blocks.centroids
		b.graph = newGraph(blocks.centroids).encode()
		b.x.lists, b.x.listStarts, b.x.copyStarts = len(blocks.starts)-1, blocks.starts, blocks.copyStarts
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

// listCount is how many blocks n rows are put into: in routed mode small
// ones, of which few are read; else big ones.
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

// sampleQueries chooses the queries to measure with: as many as are worth their time.
func (b *builder) sampleQueries() error {
	queries := b.opt.Queries
	if len(queries) == 0 {
		var err error
		if queries, err = mixPassages(b.v, 300); err != nil {
			return err
		}
	}
	most := min(max(int(maxRecallWork/float64(max(1, b.v.Len()*b.v.Dimensions()))), 50), 500)
	b.truth = &groundTruth{depth: max(b.opt.Depth, recallAt)}
	for i := range min(most, len(queries)) {
		v := queries[i*len(queries)/min(most, len(queries))]
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

// quantize reads all vectors, once, and while they are there in full finds
// the neighbours of the sample.
func (b *builder) quantize(ctx context.Context) error {
	const piece = 256
	n, d := b.v.Len(), b.v.Dimensions()
	w := paddedWidth(d)
	f := b.bits.width(w)
	all := rows{width: w, bits: b.bits, scales: make([]float32, n), codes: make([]byte, n*w), residuals: make([]byte, n*f)}
	err := parallel.Ranges(ctx, n, piece, func(from, to int) error {
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
	// What has no direction goes.
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

// reorder puts the rows into the blocks' order and appends the copies, one
// array after the other, which need not all be there twice at once.
func (r *rows) reorder(b *lists) {
	w := r.width
	own := b.order[:len(r.passages)]
	r.passages, r.scales = reorderRows(r.passages, b.order, 1), reorderRows(r.scales, b.order, 1)
	r.codes = reorderRows(r.codes, b.order, w)
	r.residuals = reorderRows(r.residuals, own, r.bits.width(w))
}

// reorderRows returns the rows of the given size in the given order.
func reorderRows[T any](from []T, order []uint32, size int) []T {
	to := make([]T, 0, len(order)*size)
	for _, row := range order {
		to = append(to, from[int(row)*size:(int(row)+1)*size]...)
	}
	return to
}

// attachSections lets the index read what is to be written.
func (b *builder) attachSections() {
	x, r := &b.x, &b.rows
	places := make([]byte, 4*x.passageCount)
	for i := range x.passageCount {
		binary.LittleEndian.PutUint32(places[4*i:], noRow)
	}
	for row, p := range r.passages[:x.rows] {
		binary.LittleEndian.PutUint32(places[4*p:], uint32(row))
	}
	scales := make([]byte, 0, 4*len(r.scales))
	for _, s := range r.scales {
		scales = binary.LittleEndian.AppendUint32(scales, math.Float32bits(s))
	}
	x.rowPassages, x.passageRows, x.scales = memorySection(appendUint32s(nil, r.passages)), memorySection(places), memorySection(scales)
	x.codes, x.residuals, x.graph = memorySection(r.codes), memorySection(r.residuals), memorySection(b.graph)
}

// calibrate chooses what a search reads: everything, where there is little or
// nothing else finds enough at less cost.
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
		if cheapest, err = b.calibrateGraph(ctx, cheapest); err != nil {
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

// calibrateGraph lets the graph choose blocks if it costs less than cheapest,
// and returns what it costs.
func (b *builder) calibrateGraph(ctx context.Context, cheapest float64) (float64, error) {
	x := &b.x
	router, err := x.loadCentroids()
	if err != nil {
		return 0, err
	}
	homes := b.truth.neighborLists(x, b.rows.passages)
	perBlock := float64(x.stored) / float64(x.lists) * float64(b.rows.width)
	tried := 0
	for _, effort := range []int{64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096} {
		effort = min(effort, x.lists)
		if effort == tried || float64(effort*b.nodeCost) > cheapest {
			break
		}
		tried = effort
		found := make([]int, x.lists) // neighbours by the number of blocks read until they are met
		total := 0
		ranks := make([][]int, len(b.truth.queries))
		if err := parallel.Ranges(ctx, len(ranks), 1, func(from, to int) error {
			for i := from; i < to; i++ {
				ranks[i] = router.rankLists(b.truth.queries[i], effort)
			}
			return nil
		}); err != nil {
			return 0, err
		}
		for i, blocks := range ranks {
			total += len(homes[i])
			for _, home := range homes[i] {
				at := slices.IndexFunc(blocks, func(block int) bool { return slices.Contains(home, uint32(block)) })
				if at >= 0 {
					found[at]++
				}
			}
		}
		sum := 0
		for at, n := range found[:effort] {
			if sum += n; float64(sum) < targetRecall*float64(total) {
				continue
			}
			if cost := float64(effort*b.nodeCost) + float64(at+1)*perBlock; cost < cheapest {
				cheapest = cost
				x.mode, x.nprobe, x.candidates = modeIVF, at+1, effort
			}
			break
		}
	}
	return cheapest, nil
}

// calibratePrefilter puts a sieve before the rows if that costs less than
// cheapest.
func (b *builder) calibratePrefilter(ctx context.Context, cheapest float64) error {
	x := &b.x
	cost := func(passed int) float64 { return float64(x.rows*(b.rows.width/4+2) + passed*b.rowCost) }
	if cost(minPrefiltered) >= cheapest {
		return nil
	}
	var err error
	if x.prefilter, err = newPrefilter(ctx, &b.rows, x.dimensions, x.listStarts, encodeCentroids(b.centroids)); err != nil {
		return err
	}
	places := make([][]int, len(b.truth.queries)) // of the neighbours among the rows that pass
	if err := parallel.Ranges(ctx, len(places), 1, func(from, to int) error {
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
					places[i] = append(places[i], at)
				}
			}
		}
		return nil
	}); err != nil {
		return err
	}
	total := 0
	for _, best := range b.truth.neighbors {
		total += len(best)
	}
	all := slices.Sorted(slices.Values(slices.Concat(places...)))
	wanted := int(math.Ceil(targetRecall * float64(total)))
	if wanted > len(all) {
		return nil
	}
	if enough := max(minPrefiltered, all[wanted-1]+1); cost(enough) < cheapest {
		b.useFlat()
		x.mode, x.candidates = modePrefilter, enough
	}
	return nil
}

// useFlat makes a search read every block. The copies are of no use then.
func (b *builder) useFlat() {
	x := &b.x
	x.mode, x.nprobe, x.candidates, x.stored = modeFlat, x.lists, 0, x.rows
	clear(x.copyStarts)
	b.rows.passages, b.rows.scales = b.rows.passages[:x.rows], b.rows.scales[:x.rows]
	b.rows.codes = b.rows.codes[:x.rows*b.rows.width]
	b.attachSections()
}

// measureRecall finds the recall of the finished index.
func (b *builder) measureRecall(ctx context.Context) error {
	recall := generation.Recall{At: recallAt, Mode: modeNames[b.x.mode], Sample: len(b.truth.queries)}
	found, total := make([]int, recall.Sample), 0
	err := parallel.Ranges(ctx, recall.Sample, 1, func(from, to int) error {
		v := make([]float32, b.v.Dimensions())
		for i := from; i < to; i++ {
			best := b.truth.neighbors[i][:min(recallAt, len(b.truth.neighbors[i]))]
			hits, err := b.x.Search(b.truth.queries[i], len(best), nil)
			if err != nil {
				return err
			}
			for _, h := range hits {
				if err := b.v.Vector(int(h.Passage), v); err != nil {
					return err
				}
				unit(v, v)
				if vecmath.Dot(b.truth.queries[i], v) >= best[len(best)-1].Score-scoreTolerance {
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
	var numbers []byte
	for _, n := range x.head.fields() {
		numbers = binary.LittleEndian.AppendUint32(numbers, uint32(*n))
	}
	type part struct {
		name string
		data []byte
	}
	parts := []part{
		{"head", numbers}, {"graph", b.graph}, {"starts", appendUint32s(nil, x.listStarts)}, {"copies", appendUint32s(nil, x.copyStarts)},
		{"passages", x.rowPassages.(memorySection)}, {"places", x.passageRows.(memorySection)}, {"scales", x.scales.(memorySection)},
		{"codes", b.rows.codes}, {"fine", b.rows.residuals},
	}
	if x.mode == modePrefilter {
		parts = append(parts, part{"middles", x.prefilter.centroids.(memorySection)},
			part{"bits", x.prefilter.codes.(memorySection)}, part{"bitscale", x.prefilter.scales.(memorySection)})
	}
	for _, s := range parts {
		out.Section(s.name)
		out.Write(s.data)
	}
	return out.Close()
}
