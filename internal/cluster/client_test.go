package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// nodesAnswer is a proper answer to a request for the nodes.
const nodesAnswer = `{"nodes": [{"name": "node1", "status": "HEALTHY", "version": "1.37.0"}]}`

func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

func good(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, nodesAnswer) }

// hostile answers in ways that no healthy node does. Each must make the client ask the
// next node.
var hostile = map[string]http.HandlerFunc{
	"status 500": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "broken", 500) },
	"status 429": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "busy", http.StatusTooManyRequests) },
	"no leader": func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error": [{"message": "leader not found"}]}`, http.StatusUnprocessableEntity)
	},
	"redirect": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "http://192.0.2.1/")
		w.WriteHeader(302)
	},
	"garbage":    func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>hello</html>") },
	"wrong type": func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"nodes": {"name": 7}}`) },
	"empty":      func(http.ResponseWriter, *http.Request) {},
	"truncated": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, nodesAnswer)
	},
	"silent": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	"endless": func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat(" ", 1<<16)); err != nil {
				return
			}
		}
	},
	"slow": func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			io.WriteString(w, " ")
			w.(http.Flusher).Flush()
			time.Sleep(10 * time.Millisecond)
		}
	},
}

func TestHostileNodes(t *testing.T) {
	for name, handler := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, err := NewClient(Options{URLs: []string{serve(t, handler), serve(t, good)}, Timeout: 5 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			for range 4 { // each node is asked first at least once
				if nodes, err := client.Nodes(t.Context()); err != nil || len(nodes) != 1 || nodes[0].Name != "node1" {
					t.Errorf("nodes %v, error %v", nodes, err)
				}
			}
			alone, err := NewClient(Options{URLs: []string{serve(t, handler)}, Timeout: 300 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			defer alone.Close()
			if _, err := alone.Nodes(t.Context()); !errors.Is(err, ErrUnavailable) || strings.Contains(err.Error(), "\n\n") {
				t.Errorf("without another node: %v", err)
			}
		})
	}
}

// TestRefusals checks that an answer which all nodes would give ends the request.
func TestRefusals(t *testing.T) {
	t.Setenv("TEST_CLUSTER_KEY", "secret")
	for _, test := range []struct {
		status int
		body   string
		want   string
	}{
		{401, `{"code": 401, "message": "anonymous access not enabled"}`, "does not accept the API key"},
		{403, `{"error": [{"message": "forbidden"}]}`, "the API key does not permit this"},
		{404, ``, "status 404"},
		{422, `{"error": [{"message": "tenant not found\u001b[31m"}]}`, "status 422: tenant not found"},
	} {
		var asked atomic.Int32
		refuse := func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			if r.Header.Get("Authorization") != "Bearer secret" {
				t.Error("the request has no key")
			}
			w.WriteHeader(test.status)
			io.WriteString(w, test.body)
		}
		client, err := NewClient(Options{URLs: []string{serve(t, refuse), serve(t, refuse)}, KeyVariable: "TEST_CLUSTER_KEY"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Nodes(t.Context())
		client.Close()
		var refused *RefusedError
		if !errors.As(err, &refused) || refused.Status != test.status || !strings.Contains(err.Error(), test.want) || strings.ContainsRune(err.Error(), 0x1b) {
			t.Errorf("status %d: error %v", test.status, err)
		}
		want := int32(1)
		if test.status == 403 || test.status == 404 || test.status == 422 { // the node may have been restarted
			want = 2
		}
		if asked.Load() != want {
			t.Errorf("status %d: asked %d times", test.status, asked.Load())
		}
	}
}

// TestRefusedConnection checks that a node without a listener costs no time.
func TestRefusedConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + l.Addr().String()
	l.Close()
	client, err := NewClient(Options{URLs: []string{closed, closed, serve(t, good)}, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	start := time.Now()
	for range 10 {
		if _, err := client.Nodes(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("10 requests took %v", took)
	}
}

// TestDownNode checks that a node that did not answer is asked last for a while.
func TestDownNode(t *testing.T) {
	var asked atomic.Int32
	silent := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		<-r.Context().Done()
	})
	client, err := NewClient(Options{URLs: []string{silent, serve(t, good)}, Timeout: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for range 20 {
		if _, err := client.Nodes(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := asked.Load(); n > 2 {
		t.Errorf("the silent node was asked %d times", n)
	}
}

func TestDeadline(t *testing.T) {
	client, err := NewClient(Options{URLs: []string{serve(t, hostile["silent"]), serve(t, hostile["silent"]), serve(t, hostile["silent"])}, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := client.Nodes(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	start := time.Now()
	err = client.withTimeout(50*time.Millisecond).persist(t.Context(), time.Second, request{method: http.MethodGet, path: "/"})
	if took := time.Since(start); !errors.Is(err, ErrUnavailable) || took < 500*time.Millisecond || took > 5*time.Second {
		t.Errorf("persist ended after %v: %v", took, err)
	}
}

func TestOptions(t *testing.T) {
	t.Setenv("TEST_CLUSTER_KEY", "with space")
	t.Setenv("TEST_CLUSTER_EMPTY", "")
	for _, test := range []struct {
		options Options
		want    string
	}{
		{Options{}, "no URL"},
		{Options{URLs: []string{"w1:8080"}}, "invalid URL"},
		{Options{URLs: []string{"ftp://w1"}}, "invalid URL"},
		{Options{URLs: []string{"http://w1:8080"}}, "want https"},
		{Options{URLs: []string{"http://127.0.0.1.example.com"}}, "want https"},
		{Options{URLs: []string{"https://user:pw@w1"}}, "without a user"},
		{Options{URLs: []string{"https://w1"}, KeyVariable: "TEST_CLUSTER_EMPTY"}, "TEST_CLUSTER_EMPTY with the API key is not set"},
		{Options{URLs: []string{"https://w1"}, KeyVariable: "TEST_CLUSTER_KEY"}, "is not an API key"},
		{Options{URLs: []string{"https://w1", "http://localhost:8080", "http://[::1]:80/", "http://127.0.0.2"}}, ""},
		{Options{URLs: []string{"http://w1:8080"}, PlainHTTP: true}, ""},
	} {
		_, err := NewClient(test.options)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v, want %q", test.options, err, test.want)
		}
		if err != nil && strings.Contains(err.Error(), "pw") {
			t.Errorf("the error contains a password: %v", err)
		}
	}
}

// TestGraphQLErrors checks that errors with status 200 are errors.
func TestGraphQLErrors(t *testing.T) {
	body := `{"data": {"Get": {"DocsearchPassages1": null}}, "errors": [{"message": "tenant not found: \"x\""}]}`
	client, err := NewClient(Options{URLs: []string{serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) })}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.list(t.Context(), classPassages, "x"); err == nil || !strings.Contains(err.Error(), "tenant not found") {
		t.Errorf("error %v", err)
	}
}

func TestPlan(t *testing.T) {
	id := func(n int) objectID { return newID(fmt.Append(nil, n)) }
	ids := func(numbers ...int) (list []objectID) {
		for _, n := range numbers {
			list = append(list, id(n))
		}
		return list
	}
	for _, test := range []struct {
		name   string
		want   []objectID
		have   map[objectID]uint32
		before Slots
		purge  bool
		slots  []uint32
		send   []bool
		drop   int
		after  Slots
		total  int
	}{
		{"empty tenant", ids(1, 2, 3), nil, Slots{}, false,
			[]uint32{0, 1, 2}, []bool{true, true, true}, 0, Slots{Count: 3, End: 3}, 3},
		{"edited", ids(1, 4, 3), map[objectID]uint32{id(1): 0, id(2): 1, id(3): 2}, Slots{Count: 3, End: 3}, false,
			[]uint32{0, 3, 2}, []bool{false, true, false}, 0, Slots{Count: 3, End: 4, Dead: Set{1}}, 4},
		{"edited after a failed push", ids(1, 4, 3), map[objectID]uint32{id(1): 0, id(2): 1, id(3): 2, id(4): 3, id(7): 4}, Slots{Count: 3, End: 3}, false,
			[]uint32{0, 3, 2}, []bool{false, true, false}, 2, Slots{Count: 3, End: 4, Dead: Set{1}}, 4},
		{"edited twice", ids(1, 5), map[objectID]uint32{id(1): 0, id(2): 1, id(3): 2, id(4): 3}, Slots{Count: 3, End: 4, Dead: Set{1}}, false,
			[]uint32{0, 4}, []bool{false, true}, 0, Slots{Count: 2, End: 5, Dead: Set{1, 2, 3}}, 5},
		{"purged", ids(1, 5), map[objectID]uint32{id(1): 0, id(2): 1, id(3): 2, id(4): 3}, Slots{Count: 3, End: 4, Dead: Set{1}}, true,
			[]uint32{0, 4}, []bool{false, true}, 1, Slots{Count: 2, End: 5, Dead: Set{2, 3}}, 4},
		{"back again", ids(1, 2), map[objectID]uint32{id(1): 0, id(2): 1}, Slots{Count: 1, End: 2, Dead: Set{1}}, true,
			[]uint32{0, 1}, []bool{false, false}, 0, Slots{Count: 2, End: 2}, 2},
		{"slot used twice", ids(1, 2), map[objectID]uint32{id(1): 0, id(2): 0}, Slots{Count: 2, End: 2}, false,
			[]uint32{0, 2}, []bool{false, true}, 1, Slots{Count: 2, End: 3}, 2},
	} {
		p, err := makePlan(test.want, test.have, test.before, test.purge)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if !slices.Equal(p.slots, test.slots) || !slices.Equal(p.send, test.send) || len(p.drop) != test.drop || p.total != test.total ||
			p.after.Count != test.after.Count || p.after.End != test.after.End || !slices.Equal(p.after.Dead, test.after.Dead) {
			t.Errorf("%s: slots %v, send %v, drop %d, after %v, total %d", test.name, p.slots, p.send, len(p.drop), p.after, p.total)
		}
	}
	if _, err := makePlan(ids(1), map[objectID]uint32{id(2): maxSlots}, Slots{Count: 1, End: maxSlots}, false); err == nil {
		t.Error("no error without free slots")
	}
}
