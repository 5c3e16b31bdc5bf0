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

// The graph is encoded as Graph.Import of coder/hnsw v0.6.1 expects it. Integers
// without a size are zig-zag varints:
//
//	1, M, [8] float64 Ml, EfSearch, length of the distance's name, the name
//	number of layers, then per layer
//	    number of nodes, then per node
//	        key, D, D x [4] float32, number of neighbors, their keys
//
// Layer 0 has a node per list, with the edges that this package chose. Layer 1
// has about the square root of the nodes, fully connected. Layer 2 has one of
// these, because coder/hnsw starts at the first node of a map iteration: with
// one node, every search starts at the same one.
const (
	graphVersion  = 1
	graphDistance = "cosine" // registered by coder/hnsw; hnswCentroids replaces it
	graphLayers   = 3
	graphM        = 16
	graphMl       = 0.25
	graphEfSearch = 4096

	maxDegree  = 12  // edges of a node, without those that connect adds
	beamWidth  = 128 // candidates of a search during construction
	pruneAlpha = 1.2 // alpha of Vamana's second pass: its tolerance for long edges
	graphSeed  = 0x5eed
)

// A centroidGraph is a directed graph over the list centroids.
type centroidGraph struct {
	centroids matrix
	edges     [][]uint32
	hubs      []uint32 // nodes of layer 1; the first is the entry point
}

// newGraph builds the graph as Vamana does: edges go to near nodes, except to
// those that are nearer to another neighbor. Every node is reachable from
// every hub.
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
		g.connectAll()
		return g
	}
	g.connectRandomly(rng)
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

// connectAll adds the edges between all nodes.
func (g *centroidGraph) connectAll() {
	for i := range g.edges {
		for j := range g.edges {
			if i != j {
				g.edges[i] = append(g.edges[i], uint32(j))
			}
		}
	}
}

// connectRandomly adds maxDegree edges to each node.
func (g *centroidGraph) connectRandomly(rng *rand.Rand) {
	for i := range g.edges {
		for len(g.edges[i]) < maxDegree {
			if j := uint32(rng.IntN(len(g.edges))); int(j) != i && !slices.Contains(g.edges[i], j) {
				g.edges[i] = append(g.edges[i], j)
			}
		}
	}
}

// A neighbor is a node and its distance from another.
type neighbor struct {
	distance float32
	node     uint32
}

func compareNeighbors(a, b neighbor) int {
	return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.node, b.node))
}

// sortByDistance returns the nodes, nearest first.
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

// visitedNodes searches for node i from the entry point and returns all nodes
// that it expands.
func (g *centroidGraph) visitedNodes(i uint32) []neighbor {
	seen := map[uint32]bool{g.hubs[0]: true}
	queue := g.distances(i, g.hubs[:1])
	var visited []neighbor
	done := map[uint32]bool{}
	for {
		at := slices.IndexFunc(queue, func(n neighbor) bool { return !done[n.node] })
		if at < 0 {
			return visited
		}
		current := queue[at]
		done[current.node] = true
		visited = append(visited, current)
		for _, j := range g.edges[current.node] {
			if seen[j] {
				continue
			}
			seen[j] = true
			next := neighbor{g.distance(i, j), j}
			place, _ := slices.BinarySearchFunc(queue, next, compareNeighbors)
			if place < beamWidth {
				queue = slices.Insert(queue, place, next)
				queue = queue[:min(beamWidth, len(queue))]
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

// connect adds edges until every node is reachable from every hub.
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

// encode encodes the graph for Graph.Import.
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
	b = append(b, encoded(g.centroids.row(int(key)))...)
	b = binary.AppendVarint(b, int64(len(edges)))
	for _, e := range edges {
		b = binary.AppendVarint(b, int64(e))
	}
	return b
}

// decodeGraph validates an encoded graph, because Graph.Import does not: it
// allocates any length, and a missing neighbor panics in a search. If centroids is
// not nil, decodeGraph writes every list's centroid to it.
func decodeGraph(b []byte, lists, dimensions int, centroids *matrix) error {
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
		nodes = d.layer(layer, nodes, dimensions, centroids)
		centroids = nil // layer 0 has every list
	}
	if d.err == nil && len(d.rest) > 0 {
		d.fail("%d bytes too many", len(d.rest))
	}
	return d.err
}

var errGraphShort = errors.New("graph: it ends too early")

// A graphDecoder decodes until the first error, which it keeps.
type graphDecoder struct {
	rest []byte
	err  error
}

// layer decodes a layer and returns its nodes. They must be a subset of those
// in the layer below; layer 0 must have all.
func (d *graphDecoder) layer(layer int, below []bool, dimensions int, centroids *matrix) []bool {
	lists := len(below)
	here := make([]bool, lists)
	var neighbors []int
	n := d.int(1, lists, "number of nodes")
	if layer == 0 && n != lists {
		d.fail("%d nodes, want %d", n, lists)
	}
	for ; n > 0 && d.err == nil; n-- {
		key := d.int(0, lists-1, "node")
		if here[key] || !below[key] {
			d.fail("node %d of layer %d", key, layer)
		}
		here[key] = true
		d.expect(dimensions, "dimensions")
		centroid := d.bytes(4 * int64(dimensions))
		if !isFinite(centroid) {
			d.fail("a centroid that is not finite")
		}
		if centroids != nil && d.err == nil {
			binary.Decode(centroid, binary.LittleEndian, centroids.row(key))
		}
		for k := d.int(0, lists, "number of neighbors"); k > 0 && d.err == nil; k-- {
			neighbors = append(neighbors, d.int(0, lists-1, "neighbor"))
		}
	}
	for _, key := range neighbors {
		if !here[key] {
			d.fail("neighbor %d is not in layer %d", key, layer)
		}
	}
	return here
}

// isFinite reports whether all numbers of an encoded vector are finite.
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

func (d *graphDecoder) int(minimum, maximum int, name string) int {
	v, n := binary.Varint(d.rest)
	if d.err != nil {
		return 0
	}
	if n <= 0 {
		d.err = errGraphShort
		return 0
	}
	d.rest = d.rest[n:]
	if v < int64(minimum) || v > int64(maximum) {
		d.fail("%s is %d", name, v)
		return 0
	}
	return int(v)
}

func (d *graphDecoder) expect(v int, name string) { d.int(v, v, name) }

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
