package httpserver

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// metrics counts requests, for Prometheus. The labels have few values, none of which a
// client chooses: paths of the server, statuses, tools and reasons of refusals.
type metrics struct {
	inFlight atomic.Int64

	mu       sync.Mutex
	requests map[requestLabels]int64
	refused  map[string]int64
	tools    map[toolLabels]int64
	times    map[string]*histogram // by path
}

type requestLabels struct {
	path   string
	status int
}

type toolLabels struct {
	tool   string
	failed bool
}

// timeBounds are the upper bounds of the histograms' buckets in seconds.
var timeBounds = [...]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// A histogram counts values per bucket; the last one has no upper bound.
type histogram struct {
	buckets [len(timeBounds) + 1]int64
	sum     float64
}

// add counts a request that has ended. The time of a stream is not counted.
func (m *metrics) add(q *request, w *response, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.requests == nil {
		m.requests, m.refused = map[requestLabels]int64{}, map[string]int64{}
		m.tools, m.times = map[toolLabels]int64{}, map[string]*histogram{}
	}
	path := cmp.Or(q.path, "other")
	m.requests[requestLabels{path, w.status}]++
	if q.reason != "" {
		m.refused[q.reason]++
	}
	if q.call.Tool != "" {
		m.tools[toolLabels{q.call.Tool, q.call.Failed}]++
	}
	if q.streams {
		return
	}
	h := m.times[path]
	if h == nil {
		h = &histogram{}
		m.times[path] = h
	}
	i, _ := slices.BinarySearch(timeBounds[:], took.Seconds())
	h.buckets[i]++
	h.sum += took.Seconds()
}

// writeMetrics writes the metrics in Prometheus' text format.
func (s *Server) writeMetrics(out http.ResponseWriter, _ *http.Request) {
	out.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	var w bytes.Buffer
	s.metrics.write(&w)
	// No lock is held: the client may read slowly.
	if _, err := out.Write(w.Bytes()); err != nil {
		s.Log.Debug("cannot write the metrics", "error", err)
	}
}

func (m *metrics) write(w *bytes.Buffer) {
	head := func(name, kind, help string) { fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind) }
	m.mu.Lock()
	defer m.mu.Unlock()
	head("docsearch_requests_total", "counter", "Requests by path and status.")
	for _, l := range slices.SortedFunc(maps.Keys(m.requests), func(a, b requestLabels) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.status, b.status))
	}) {
		fmt.Fprintf(w, "docsearch_requests_total{path=%q,status=\"%d\"} %d\n", l.path, l.status, m.requests[l])
	}
	head("docsearch_refused_requests_total", "counter", "Refused requests by reason.")
	for _, reason := range slices.Sorted(maps.Keys(m.refused)) {
		fmt.Fprintf(w, "docsearch_refused_requests_total{reason=%q} %d\n", reason, m.refused[reason])
	}
	head("docsearch_tool_calls_total", "counter", "Calls of MCP tools by tool and result.")
	for _, l := range slices.SortedFunc(maps.Keys(m.tools), func(a, b toolLabels) int {
		return cmp.Or(cmp.Compare(a.tool, b.tool),
			cmp.Compare(strconv.FormatBool(a.failed), strconv.FormatBool(b.failed)))
	}) {
		fmt.Fprintf(w, "docsearch_tool_calls_total{tool=%q,failed=\"%t\"} %d\n", l.tool, l.failed, m.tools[l])
	}
	head("docsearch_request_seconds", "histogram", "Time from a request to the end of its response.")
	for _, path := range slices.Sorted(maps.Keys(m.times)) {
		h, total := m.times[path], int64(0)
		for i, n := range h.buckets {
			total += n
			bound := "+Inf"
			if i < len(timeBounds) {
				bound = strconv.FormatFloat(timeBounds[i], 'g', -1, 64)
			}
			fmt.Fprintf(w, "docsearch_request_seconds_bucket{path=%q,le=%q} %d\n", path, bound, total)
		}
		fmt.Fprintf(w, "docsearch_request_seconds_sum{path=%q} %g\ndocsearch_request_seconds_count{path=%q} %d\n", path,
			h.sum, path, total)
	}
	head("docsearch_requests_in_flight", "gauge", "Requests that are being handled.")
	fmt.Fprintf(w, "docsearch_requests_in_flight %d\n", m.inFlight.Load())
	head("docsearch_heap_bytes", "gauge", "Memory in use on the heap, in bytes.")
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	fmt.Fprintf(w, "docsearch_heap_bytes %d\n", memory.HeapAlloc)
	head("docsearch_goroutines", "gauge", "Goroutines.")
	fmt.Fprintf(w, "docsearch_goroutines %d\n", runtime.NumGoroutine())
}
