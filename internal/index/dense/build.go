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
	Rows    int // passages with a vector
	Skipped int // passages whose vector is zero or not finite
	Lists   int
	Copies  int // rows stored in more blocks than one
	Probes  int // blocks that a search reads
	Effort  int // nodes of the graph that a search asks for, or rows that pass the sieve
	Recall  generation.Recall
}

const (
	// allBytes of codes are read in little more than a millisecond. To rank the
	// thousand small blocks that they would make takes the graph as long.
	allBytes = 40 << 20
	// A routed search must read the blocks of targetShare of the neighbours,
	// find leastRecall of them, and be so much cheaper than reading everything.
	targetShare = 0.997
	leastRecall = 0.99
	leastGain   = 1.3
	// tenBitsRecall is what ten bits a number must find where everything is
	// read. What a routed search finds depends on its blocks as well, for
	// which they leave no room.
	tenBitsRecall = 0.995
	// visitBytes of codes are read in the time in which coder/hnsw visits a
	// node, a microsecond; touchBytes in that in which a row is read that lies
	// anywhere.
	visitBytes = 28 << 10
	touchBytes = 2 << 10
	// Of a sieve, leastSifted rows pass, or more, up to mostSifted.
	leastSifted = 512
	mostSifted  = 8192

	recallAt   = 10
	recallWork = 2e10 // products of numbers that measuring may cost
	// equal is the difference at which two exact scores are a tie.
	equal = 2e-6
)

// The stages of a build, for its progress.
const (
	readingStage  = "reading vectors"
	groupingStage = "clustering vectors"
)

// Build writes an index of the vectors to a new file. Equal vectors and options
// make equal bytes.
func Build(ctx context.Context, file confined.Path, v Vectors, opt Options) (Stats, error) {
	if d := v.Dimensions(); d < 1 || d > maxDimensions {
		return Stats{}, fmt.Errorf("vectors of %d dimensions cannot be indexed, at most %d can", d, maxDimensions)
	}
	b := &builder{v: v, opt: opt, most: allBytes, visit: visitBytes, touch: touchBytes}
	if err := b.build(ctx); err != nil {
		return Stats{}, err
	}
	return b.stats, b.write(file)
}

type builder struct {
	v     Vectors
	opt   Options
	most  int // bytes of codes up to which everything is read
	visit int // what visiting a node costs, in bytes of codes
	touch int // what a row costs that passes the sieve
	grain residualBits
	truth *groundTruth
	rows  rows
	// centroids are the blocks'.
	centroids matrix
	x         Index // over memory
	graph     []byte
	stats     Stats
}

// rows are quantised vectors.
type rows struct {
	width    int
	grain    residualBits
	passages []uint32
	scales   []float32
	codes    []byte
	fine     []byte
}

// build tries with the fewest bits, where that may do.
func (b *builder) build(ctx context.Context) error {
	b.grain = tenBits
	if b.v.Len()*width(b.v.Dimensions()) > b.most {
		b.grain = twelveBits
	}
	err := b.attempt(ctx)
	if err == nil && b.grain == tenBits && len(b.truth.queries) > 0 && b.stats.Recall.Value < tenBitsRecall {
		b.grain = twelveBits
		err = b.attempt(ctx)
	}
	return err
}

func (b *builder) attempt(ctx context.Context) error {
	if err := b.sample(); err != nil {
		return err
	}
	if err := b.quantize(ctx); err != nil {
		return err
	}
	r := &b.rows
	n := len(r.passages)
	b.stats = Stats{Rows: n, Skipped: b.v.Len() - n}
	b.x.head = head{passageCount: b.v.Len(), dimensions: b.v.Dimensions(), rows: n, stored: n, bits: int(b.grain)}
	b.x.starts, b.x.copies = []uint32{0}, []uint32{0}
	if n > 0 {
		routed := n*r.width > b.most
		blocks, err := cluster(ctx, r, b.v.Dimensions(), listCount(n, routed), routed, b.opt.Progress)
		if err != nil {
			return err
		}
		r.arrange(blocks)
		b.centroids = blocks.centroids
		b.graph = newGraph(blocks.centroids).encode()
		b.x.blocks, b.x.starts, b.x.copies = len(blocks.starts)-1, blocks.starts, blocks.copies
		b.x.stored = len(r.passages)
	}
	b.useMemory()
	if err := b.calibrate(ctx); err != nil {
		return err
	}
	if err := b.measure(ctx); err != nil {
		return err
	}
	if b.x.mode != modeAll && b.stats.Recall.Value < leastRecall {
		b.readAll()
		if err := b.measure(ctx); err != nil {
			return err
		}
	}
	b.stats.Lists, b.stats.Copies = b.x.blocks, b.x.stored-b.x.rows
	b.stats.Probes, b.stats.Effort = b.x.probes, b.x.effort
	return nil
}

// listCount is how many blocks n rows are put into: in routed mode small
// ones, of which few are read; else big ones.
func listCount(n int, routed bool) int {
	if !routed {
		return max(1, min(max(n/1024, 16), maxOrdered, n/16))
	}
	c := 1024
	for c < maxBlocks && c*330 < n { // the power of two nearest to n/234
		c *= 2
	}
	return max(1, min(c, n/16))
}

// sample chooses the queries to measure with: as many as are worth their time.
func (b *builder) sample() error {
	queries := b.opt.Queries
	if len(queries) == 0 {
		var err error
		if queries, err = mixtures(b.v, 300); err != nil {
			return err
		}
	}
	most := min(max(int(recallWork/float64(max(1, b.v.Len()*b.v.Dimensions()))), 50), 500)
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
	b.truth.best = make([][]Hit, len(b.truth.queries))
	return nil
}

// quantize reads all vectors, once, and while they are there in full finds
// the neighbours of the sample.
func (b *builder) quantize(ctx context.Context) error {
	const piece = 256
	n, d := b.v.Len(), b.v.Dimensions()
	w := width(d)
	f := b.grain.width(w)
	all := rows{width: w, grain: b.grain, scales: make([]float32, n), codes: make([]byte, n*w), fine: make([]byte, n*f)}
	err := parallel.Ranges(ctx, n, piece, func(from, to int) error {
		v := make([]float32, d)
		units := newMatrix(to-from, d)
		for i := from; i < to; i++ {
			if err := b.v.Vector(i, v); err != nil {
				return err
			}
			if u := units.row(i - from); unit(u, v) {
				all.scales[i] = b.grain.encode(all.codes[i*w:(i+1)*w], all.fine[i*f:(i+1)*f], u)
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
			copy(all.fine[kept*f:], all.fine[i*f:(i+1)*f])
		}
		kept++
	}
	all.scales, all.codes, all.fine = all.scales[:kept], all.codes[:kept*w], all.fine[:kept*f]
	b.rows = all
	return nil
}

// arrange puts the rows into the blocks' order and appends the copies, one
// array after the other, which need not all be there twice at once.
func (r *rows) arrange(b *lists) {
	w := r.width
	own := b.order[:len(r.passages)]
	r.passages, r.scales = pick(r.passages, b.order, 1), pick(r.scales, b.order, 1)
	r.codes = pick(r.codes, b.order, w)
	r.fine = pick(r.fine, own, r.grain.width(w))
}

// pick returns the rows of the given size in the given order.
func pick[T any](from []T, order []uint32, size int) []T {
	to := make([]T, 0, len(order)*size)
	for _, row := range order {
		to = append(to, from[int(row)*size:(int(row)+1)*size]...)
	}
	return to
}

// useMemory lets the index read what is to be written.
func (b *builder) useMemory() {
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
	x.passages, x.places, x.scales = memory(appendUint32s(nil, r.passages)), memory(places), memory(scales)
	x.codes, x.fines, x.graph = memory(r.codes), memory(r.fine), memory(b.graph)
}

// calibrate chooses what a search reads: everything, where there is little or
// nothing else finds enough at less cost.
func (b *builder) calibrate(ctx context.Context) error {
	x := &b.x
	x.mode, x.probes, x.effort = modeAll, x.blocks, 0
	cheapest := float64(x.rows) * float64(b.rows.width) / leastGain
	if x.rows*b.rows.width <= b.most || len(b.truth.queries) == 0 {
		b.readAll()
		return nil
	}
	if x.stored > x.rows {
		var err error
		if cheapest, err = b.calibrateGraph(ctx, cheapest); err != nil {
			return err
		}
	}
	if err := b.calibrateSieve(ctx, cheapest); err != nil {
		return err
	}
	if x.mode == modeAll {
		b.readAll()
	}
	return nil
}

// calibrateGraph lets the graph choose blocks if it costs less than cheapest,
// and returns what it costs.
func (b *builder) calibrateGraph(ctx context.Context, cheapest float64) (float64, error) {
	x := &b.x
	router, err := x.loadRouter()
	if err != nil {
		return 0, err
	}
	homes := b.truth.homes(x, b.rows.passages)
	perBlock := float64(x.stored) / float64(x.blocks) * float64(b.rows.width)
	tried := 0
	for _, effort := range []int{64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096} {
		effort = min(effort, x.blocks)
		if effort == tried || float64(effort*b.visit) > cheapest {
			break
		}
		tried = effort
		found := make([]int, x.blocks) // neighbours by the number of blocks read until they are met
		total := 0
		ranks := make([][]int, len(b.truth.queries))
		if err := parallel.Ranges(ctx, len(ranks), 1, func(from, to int) error {
			for i := from; i < to; i++ {
				ranks[i] = router.route(b.truth.queries[i], effort)
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
			if sum += n; float64(sum) < targetShare*float64(total) {
				continue
			}
			if cost := float64(effort*b.visit) + float64(at+1)*perBlock; cost < cheapest {
				cheapest = cost
				x.mode, x.probes, x.effort = modeRouted, at+1, effort
			}
			break
		}
	}
	return cheapest, nil
}

// calibrateSieve puts a sieve before the rows if that costs less than
// cheapest.
func (b *builder) calibrateSieve(ctx context.Context, cheapest float64) error {
	x := &b.x
	cost := func(passed int) float64 { return float64(x.rows*(b.rows.width/4+2) + passed*b.touch) }
	if cost(leastSifted) >= cheapest {
		return nil
	}
	var err error
	if x.sieve, err = newPrefilter(ctx, &b.rows, x.dimensions, x.starts, encodeCentroids(b.centroids)); err != nil {
		return err
	}
	places := make([][]int, len(b.truth.queries)) // of the neighbours among the rows that pass
	if err := parallel.Ranges(ctx, len(places), 1, func(from, to int) error {
		var t prefilterScan
		for i := from; i < to; i++ {
			rows, err := t.run(x, newQuery(b.truth.queries[i]), mostSifted)
			if err != nil {
				return err
			}
			slices.SortFunc(rows, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
			for at, c := range rows {
				p := b.rows.passages[c.row]
				if slices.ContainsFunc(b.truth.best[i], func(h Hit) bool { return h.Passage == p }) {
					places[i] = append(places[i], at)
				}
			}
		}
		return nil
	}); err != nil {
		return err
	}
	total := 0
	for _, best := range b.truth.best {
		total += len(best)
	}
	all := slices.Sorted(slices.Values(slices.Concat(places...)))
	wanted := int(math.Ceil(targetShare * float64(total)))
	if wanted > len(all) {
		return nil
	}
	if enough := max(leastSifted, all[wanted-1]+1); cost(enough) < cheapest {
		b.readAll()
		x.mode, x.effort = modeSifted, enough
	}
	return nil
}

// readAll makes a search read every block. The copies are of no use then.
func (b *builder) readAll() {
	x := &b.x
	x.mode, x.probes, x.effort, x.stored = modeAll, x.blocks, 0, x.rows
	clear(x.copies)
	b.rows.passages, b.rows.scales = b.rows.passages[:x.rows], b.rows.scales[:x.rows]
	b.rows.codes = b.rows.codes[:x.rows*b.rows.width]
	b.useMemory()
}

// measure finds the recall of the finished index.
func (b *builder) measure(ctx context.Context) error {
	recall := generation.Recall{At: recallAt, Mode: modeNames[b.x.mode], Sample: len(b.truth.queries)}
	found, total := make([]int, recall.Sample), 0
	err := parallel.Ranges(ctx, recall.Sample, 1, func(from, to int) error {
		v := make([]float32, b.v.Dimensions())
		for i := from; i < to; i++ {
			best := b.truth.best[i][:min(recallAt, len(b.truth.best[i]))]
			hits, err := b.x.Search(b.truth.queries[i], len(best), nil)
			if err != nil {
				return err
			}
			for _, h := range hits {
				if err := b.v.Vector(int(h.Passage), v); err != nil {
					return err
				}
				unit(v, v)
				if vecmath.Dot(b.truth.queries[i], v) >= best[len(best)-1].Score-equal {
					found[i]++
				}
			}
		}
		return nil
	})
	for i, n := range found {
		recall.Value += float64(n)
		total += min(recallAt, len(b.truth.best[i]))
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
		{"head", numbers}, {"graph", b.graph}, {"starts", appendUint32s(nil, x.starts)}, {"copies", appendUint32s(nil, x.copies)},
		{"passages", x.passages.(memory)}, {"places", x.places.(memory)}, {"scales", x.scales.(memory)},
		{"codes", b.rows.codes}, {"fine", b.rows.fine},
	}
	if x.mode == modeSifted {
		parts = append(parts, part{"middles", x.sieve.middles.(memory)},
			part{"bits", x.sieve.bits.(memory)}, part{"bitscale", x.sieve.scales.(memory)})
	}
	for _, s := range parts {
		out.Section(s.name)
		out.Write(s.data)
	}
	return out.Close()
}
