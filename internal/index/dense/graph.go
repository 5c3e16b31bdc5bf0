package dense

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/docsearch/docsearch/internal/index/vecmath"
)

// The graph's bytes, as Graph.Import of coder/hnsw v0.6.1 reads them. Integers
// are varints, zig-zag, unless said otherwise:
//
//	1, M, [8] float64 Ml, EfSearch, length of the distance's name, the name
//	number of layers, then per layer
//	    number of nodes, then per node
//	        key, D, D x [4] float32, number of neighbours, their keys
//
// Layer 0 holds every block, with the edges that this package chose. Layer 1
// holds about the square root of them, each linked to each, and layer 2 one of
// these: a search begins at whatever node a map yields first, and so it begins
// at the same one always.
const (
	graphVersion  = 1
	graphDistance = "cosine" // registered by coder/hnsw itself; the router sets its own
	graphLayers   = 3
	graphM        = 16
	graphMl       = 0.25
	graphEfSearch = 4096

	maxDegree  = 12  // edges of a node, but for those that stitch adds
	beamWidth  = 128 // candidates while edges are chosen
	pruneAlpha = 1.2 // how much longer an edge may be than a detour, in the second pass
	graphSeed  = 0x5eed
)

// A centroidGraph is a directed graph over the blocks' centroids.
type centroidGraph struct {
	centroids matrix
	edges     [][]uint32
	hubs      []uint32 // the first is the entry
}

// newGraph chooses the edges: near ones, but none that a detour over a nearer
// neighbour makes superfluous (Vamana). Every node can be reached from every
// hub.
func newGraph(centroids matrix) *centroidGraph {
	n := centroids.rows
	rng := rand.New(rand.NewPCG(graphSeed, uint64(n)))
	g := &centroidGraph{centroids: centroids, edges: make([][]uint32, n)}
	order := make([]uint32, n)
	for i, v := range rng.Perm(n) {
		order[i] = uint32(v)
	}
	g.hubs = slices.Clone(order[:int(math.Ceil(math.Sqrt(float64(n))))])
	if n <= maxDegree+1 {
		for i := range g.edges {
			for j := range n {
				if i != j {
					g.edges[i] = append(g.edges[i], uint32(j))
				}
			}
		}
		return g
	}
	for i := range g.edges {
		for len(g.edges[i]) < maxDegree {
			if j := uint32(rng.IntN(n)); int(j) != i && !slices.Contains(g.edges[i], j) {
				g.edges[i] = append(g.edges[i], j)
			}
		}
	}
	for _, alpha := range []float32{1, pruneAlpha} {
		for _, i := range order {
			g.edges[i] = g.pruneEdges(i, append(g.visitedNodes(i), g.distances(i, g.edges[i])...), alpha)
			for _, j := range g.edges[i] {
				if slices.Contains(g.edges[j], i) {
					continue
				}
				g.edges[j] = append(g.edges[j], i)
				if len(g.edges[j]) > maxDegree {
					g.edges[j] = g.pruneEdges(j, g.distances(j, g.edges[j]), alpha)
				}
			}
		}
	}
	g.connect()
	return g
}

// A neighbour is a node and how far it is from another.
type neighbor struct {
	distance float32
	node     uint32
}

func compareNeighbors(a, b neighbor) int {
	return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.node, b.node))
}

// sortByDistance returns the nodes, the nearest first.
func sortByDistance(list []neighbor) []int {
	slices.SortFunc(list, compareNeighbors)
	nodes := make([]int, len(list))
	for i, n := range list {
		nodes[i] = int(n.node)
	}
	return nodes
}

func (g *centroidGraph) distance(a, b uint32) float32 {
	return 1 - vecmath.Dot(g.centroids.row(int(a)), g.centroids.row(int(b)))
}

func (g *centroidGraph) distances(i uint32, nodes []uint32) []neighbor {
	list := make([]neighbor, len(nodes))
	for k, j := range nodes {
		list[k] = neighbor{g.distance(i, j), j}
	}
	return list
}

// visitedNodes searches for node i from the entry and returns all nodes on the way.
func (g *centroidGraph) visitedNodes(i uint32) []neighbor {
	seen := map[uint32]bool{g.hubs[0]: true}
	front := g.distances(i, g.hubs[:1])
	var visited []neighbor
	done := map[uint32]bool{}
	for {
		at := slices.IndexFunc(front, func(n neighbor) bool { return !done[n.node] })
		if at < 0 {
			return visited
		}
		current := front[at]
		done[current.node] = true
		visited = append(visited, current)
		for _, j := range g.edges[current.node] {
			if seen[j] {
				continue
			}
			seen[j] = true
			next := neighbor{g.distance(i, j), j}
			place, _ := slices.BinarySearchFunc(front, next, compareNeighbors)
			if place < beamWidth {
				front = slices.Insert(front, place, next)
				front = front[:min(beamWidth, len(front))]
			}
		}
	}
}

// pruneEdges chooses the edges of node i among the candidates.
func (g *centroidGraph) pruneEdges(i uint32, candidates []neighbor, alpha float32) []uint32 {
	slices.SortFunc(candidates, compareNeighbors)
	edges := make([]uint32, 0, maxDegree+1)
	for _, c := range candidates {
		if c.node == i || slices.Contains(edges, c.node) {
			continue
		}
		if !slices.ContainsFunc(edges, func(e uint32) bool { return alpha*g.distance(e, c.node) <= c.distance }) {
			if edges = append(edges, c.node); len(edges) == maxDegree {
				break
			}
		}
	}
	return edges
}

// connect adds the edges without which a node could not be reached from a hub.
func (g *centroidGraph) connect() {
	entry := g.hubs[0]
	reached := make([]bool, len(g.edges))
	var reachable []uint32
	reach := func(from uint32) {
		reached[from] = true
		for queue := []uint32{from}; len(queue) > 0; queue = queue[1:] {
			reachable = append(reachable, queue[0])
			for _, j := range g.edges[queue[0]] {
				if !reached[j] {
					reached[j] = true
					queue = append(queue, j)
				}
			}
		}
	}
	reach(entry)
	for i := range g.edges {
		if !reached[i] {
			nearest := slices.MinFunc(g.distances(uint32(i), reachable), compareNeighbors).node
			g.edges[nearest] = append(g.edges[nearest], uint32(i))
			reach(uint32(i))
		}
	}
	for _, h := range g.hubs[1:] {
		if !slices.Contains(g.edges[h], entry) {
			g.edges[h] = append(g.edges[h], entry)
		}
	}
}

// encode writes the graph for Import.
func (g *centroidGraph) encode() []byte {
	b := binary.AppendVarint(nil, graphVersion)
	b = binary.AppendVarint(b, graphM)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(graphMl))
	b = binary.AppendVarint(b, graphEfSearch)
	b = binary.AppendVarint(b, int64(len(graphDistance)))
	b = append(b, graphDistance...)
	b = binary.AppendVarint(b, graphLayers)
	b = binary.AppendVarint(b, int64(len(g.edges)))
	for i, edges := range g.edges {
		b = g.encodeNode(b, uint32(i), edges)
	}
	b = binary.AppendVarint(b, int64(len(g.hubs)))
	for i, h := range g.hubs {
		b = g.encodeNode(b, h, slices.Delete(slices.Clone(g.hubs), i, i+1))
	}
	b = binary.AppendVarint(b, 1)
	return g.encodeNode(b, g.hubs[0], nil)
}

func (g *centroidGraph) encodeNode(b []byte, key uint32, edges []uint32) []byte {
	b = binary.AppendVarint(b, int64(key))
	b = binary.AppendVarint(b, int64(g.centroids.cols))
	for _, v := range g.centroids.row(int(key)) {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	b = binary.AppendVarint(b, int64(len(edges)))
	for _, e := range edges {
		b = binary.AppendVarint(b, int64(e))
	}
	return b
}

// decodeGraph makes sure that Import can be trusted with the bytes: it would
// take any length for granted and leave a neighbour that is not there to
// panic in a search. It hands over every block's centroid, unless each is nil.
func decodeGraph(b []byte, lists, dimensions int, each func(list int, centroid []byte)) error {
	d := graphDecoder{rest: b}
	d.expect(graphVersion, "version")
	d.int(0, 1<<10, "M")
	d.bytes(8)
	d.int(0, 1<<20, "EfSearch")
	d.expect(len(graphDistance), "length of the distance's name")
	if name := string(d.bytes(int64(len(graphDistance)))); d.err == nil && name != graphDistance {
		d.fail("distance %q", name)
	}
	d.expect(graphLayers, "number of layers")
	nodes := slices.Repeat([]bool{true}, lists)
	for layer := range graphLayers {
		nodes = d.layer(layer, nodes, dimensions, each)
		each = nil // every block is in the first layer
	}
	if d.err == nil && len(d.rest) > 0 {
		d.fail("%d bytes too many", len(d.rest))
	}
	return d.err
}

var errGraphShort = errors.New("graph: it ends too early")

// A graphDecoder reads until something is wrong, and keeps what.
type graphDecoder struct {
	rest []byte
	err  error
}

// layer reads a layer, whose nodes are some of those below it, and all of them in
// the first. It returns which.
func (d *graphDecoder) layer(layer int, below []bool, dimensions int, each func(block int, centroid []byte)) []bool {
	blocks := len(below)
	here := make([]bool, blocks)
	var neighbours []int
	n := d.int(1, blocks, "number of nodes")
	if layer == 0 && n != blocks {
		d.fail("%d nodes, want %d", n, blocks)
	}
	for ; n > 0 && d.err == nil; n-- {
		key := d.int(0, blocks-1, "node")
		if here[key] || !below[key] {
			d.fail("node %d of layer %d", key, layer)
		}
		here[key] = true
		d.expect(dimensions, "dimensions")
		centroid := d.bytes(4 * int64(dimensions))
		if !isFinite(centroid) {
			d.fail("a centroid that is not finite")
		}
		if each != nil && d.err == nil {
			each(key, centroid)
		}
		for k := d.int(0, blocks, "number of neighbours"); k > 0 && d.err == nil; k-- {
			neighbours = append(neighbours, d.int(0, blocks-1, "neighbour"))
		}
	}
	for _, key := range neighbours {
		if !here[key] {
			d.fail("neighbour %d is not in layer %d", key, layer)
		}
	}
	return here
}

// isFinite reports whether no number of a vector is infinite or none.
func isFinite(vector []byte) bool {
	for i := 3; i < len(vector); i += 4 {
		if vector[i]&0x7f == 0x7f && vector[i-1]&0x80 != 0 {
			return false
		}
	}
	return true
}

func (d *graphDecoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("graph: "+format, args...)
	}
	d.rest = nil
}

func (d *graphDecoder) int(least, most int, what string) int {
	v, n := binary.Varint(d.rest)
	if d.err != nil {
		return 0
	}
	if n <= 0 {
		d.err = errGraphShort
		return 0
	}
	d.rest = d.rest[n:]
	if v < int64(least) || v > int64(most) {
		d.fail("%s is %d", what, v)
		return 0
	}
	return int(v)
}

func (d *graphDecoder) expect(v int, what string) { d.int(v, v, what) }

func (d *graphDecoder) bytes(n int64) []byte {
	if d.err == nil && int64(len(d.rest)) < n {
		d.err = errGraphShort
	}
	if d.err != nil {
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}
