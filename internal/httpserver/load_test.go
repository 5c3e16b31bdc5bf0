package httpserver

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/indextest"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/mcpserver"
	"github.com/docsearch/docsearch/internal/remote"
)

var loadTime = flag.Duration("load", 0, "minimum duration of TestLoad, with pauses between the requests of each agent")

// TestLoad lets 200 agents with 20 tokens search through a load balancer with two
// replicas. Meanwhile a database is rebuilt, a token is revoked, and a replica is killed. No
// request fails except those with the revoked token, and memory stays bounded. The next
// step waits for a number of answers, so that a slow machine has the same requests in each.
func TestLoad(t *testing.T) {
	const agents, tokenCount = 200, 20
	const atOnce = 16 // requests, which even a busy machine answers within the server's limits
	const perStep = 100
	const revoked = tokenCount - 1
	dir := indextest.Database(t, 1000)
	entry := mcpserver.Entry{Name: "docs", Path: dir, Description: "Made-up documentation"}
	tokens := newTokens(t)
	var texts []string
	for i := range tokenCount {
		texts = append(texts, newToken(t, tokens, fmt.Sprintf("team-%d", i), time.Time{}, "read:docs"))
	}
	var replicas [2]string
	var servers [2]*Server
	for i := range replicas {
		servers[i] = newServer(t, Options{Tokens: tokens, Rate: 1e6}, entry)
		l, err := servers[i].Listen(t.Context(), "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = servers[i].Serve(t.Context(), l) // fails when it is closed
		}()
		t.Cleanup(func() {
			servers[i].web.Close()
			<-ended
		})
		replicas[i] = "http://" + l.Addr().String()
	}
	front := startBalancer(t, replicas[:])
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: agents}}
	defer client.CloseIdleConnections()

	var revoking, isRevoked atomic.Bool
	var mu sync.Mutex
	var times []time.Duration
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	answered, slots := make(chan struct{}), make(chan struct{}, atOnce)
	var running sync.WaitGroup
	for a := range agents {
		running.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(a), 1))
			token := a % tokenCount
			for {
				if *loadTime > 0 {
					select {
					case <-time.After(time.Duration(rng.IntN(4000)) * time.Millisecond):
					case <-ctx.Done():
					}
				}
				select {
				case slots <- struct{}{}:
				case <-ctx.Done():
					return
				}
				body := strings.Replace(searchCall, "%s", "", 1)
				path := Endpoint
				if rng.IntN(2) == 0 {
					path, body = remote.AnswerPath, `{"databases":["docs"],"query":"`+indextest.Question+`"}`
				}
				before := isRevoked.Load()
				began := time.Now()
				status, _, text := send(t, client, http.MethodPost, front+path, body, "", bearer(texts[token]))
				took := time.Since(began)
				<-slots
				switch {
				case status == http.StatusOK && strings.Contains(text, indextest.Answer) && !(token == revoked && before):
					mu.Lock()
					times = append(times, took)
					mu.Unlock()
				case status == http.StatusUnauthorized && token == revoked && revoking.Load():
				default:
					t.Errorf("agent %d: status %d: %.200s", a, status, text)
				}
				select {
				case answered <- struct{}{}:
				case <-ctx.Done():
				}
			}
		})
	}
	early, late := make(chan int64, 1), int64(0)
	running.Go(func() {
		defer cancel()
		const steps = 4
		work := func() {
			end := time.Now().Add(*loadTime / steps)
			for n := 0; n < perStep || time.Now().Before(end); n++ {
				<-answered
			}
		}
		work()
		early <- heapInUse()
		rebuilt := make(chan struct{})
		go func() {
			defer close(rebuilt)
			rebuildDatabase(t, dir)
		}()
		for open := true; open; {
			select {
			case <-rebuilt:
				open = false
			case <-answered:
			}
		}
		work()
		revoking.Store(true)
		if err := tokens.Revoke(fmt.Sprintf("team-%d", revoked)); err != nil {
			t.Error(err)
		}
		isRevoked.Store(true)
		work()
		servers[0].web.Close() // with the requests in flight, as if it were killed
		work()
	})
	running.Wait()
	late = heapInUse()
	if grown := late - <-early; grown > 64<<20 {
		t.Errorf("%d MB more in use at the end", grown>>20)
	}
	slices.Sort(times)
	if len(times) < agents {
		t.Fatalf("%d answers", len(times))
	}
	at := func(p int) time.Duration { return times[len(times)*p/100].Round(10 * time.Microsecond) }
	t.Logf("%d answers, p50 %s, p90 %s, p99 %s, heap %d MB", len(times), at(50), at(90), at(99), late>>20)
}

func rebuildDatabase(t *testing.T, dir string) {
	found, err := leann.Find(dir)
	if err == nil {
		_, err = index.Build(context.Background(), dir, index.FromLEANN(found), index.BuildOptions{})
	}
	if err != nil {
		t.Error(err)
	}
}

// startBalancer starts a load balancer in front of the replicas and returns its URL. If a
// replica does not answer, it sends the request to another one, like a real one does for
// requests that only read.
func startBalancer(t *testing.T, replicas []string) string {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 200}
	t.Cleanup(transport.CloseIdleConnections)
	forward := func(r *http.Request, replica string, body []byte) (*http.Response, []byte, error) {
		out, err := http.NewRequestWithContext(r.Context(), r.Method, replica+r.URL.Path, bytes.NewReader(body))
		if err != nil {
			return nil, nil, err
		}
		out.Header = r.Header.Clone()
		res, err := transport.RoundTrip(out)
		if err != nil {
			return nil, nil, err
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		return res, text, err
	}
	var next atomic.Int64
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		first := int(next.Add(1))
		for i := range replicas {
			res, text, err := forward(r, replicas[(first+i)%len(replicas)], body)
			if err != nil {
				continue
			}
			maps.Copy(w.Header(), res.Header)
			w.WriteHeader(res.StatusCode)
			w.Write(text)
			return
		}
		http.Error(w, "no replica answers", http.StatusBadGateway)
	}))
	t.Cleanup(front.Close)
	return front.URL
}
