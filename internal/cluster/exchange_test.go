package cluster

import (
	"io"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// hanging returns the URL of a node that accepts connections and never answers, and the
// number of its connections.
func hanging(t *testing.T) (string, *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accepted := &atomic.Int32{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var open []net.Conn
		for {
			c, err := l.Accept()
			if err != nil {
				break
			}
			accepted.Add(1)
			open = append(open, c)
		}
		for _, c := range open {
			c.Close()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return "http://" + l.Addr().String(), accepted
}

// counting returns the URL of a node that answers after a delay, and the number of requests
// that it got.
func counting(t *testing.T, delay time.Duration) (string, *atomic.Int32) {
	asked := &atomic.Int32{}
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		select {
		case <-time.After(delay):
			io.WriteString(w, nodesAnswer)
		case <-r.Context().Done():
		}
	}), asked
}

// TestHangingNode checks that one of three nodes that hangs costs at most the time of a
// hedge, and that it is not asked again at once.
func TestHangingNode(t *testing.T) {
	hung, accepted := hanging(t)
	client, err := NewClient(Options{URLs: []string{hung, serve(t, good), serve(t, good)}, Timeout: time.Minute, Hedge: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var times []time.Duration
	for range 60 {
		start := time.Now()
		if _, err := client.Nodes(t.Context()); err != nil {
			t.Fatal(err)
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	t.Logf("p50 %v, slowest %v; %d connections to the hanging node", times[30], times[59], accepted.Load())
	if times[30] > 50*time.Millisecond || times[59] > 5*time.Second || accepted.Load() > 3 {
		t.Errorf("p50 %v, slowest %v, %d connections to the hanging node", times[30], times[59], accepted.Load())
	}
}

// TestHangingAndBrokenNode checks that the third node is asked at once if the second one
// fails while the first one hangs.
func TestHangingAndBrokenNode(t *testing.T) {
	hung, _ := hanging(t)
	urls := []string{hung, serve(t, hostile["status 500"]), serve(t, good)}
	for range 3 { // each node is asked first by one client
		urls = append(urls[1:], urls[0])
		client, err := NewClient(Options{URLs: urls, Timeout: time.Minute, Hedge: 20 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Nodes(t.Context()); err != nil {
			t.Error(err)
		}
		client.Close()
	}
}

// TestHedgeLimit checks that slow nodes do not get many further requests.
func TestHedgeLimit(t *testing.T) {
	const requests = 100
	a, askedA := counting(t, 25*time.Millisecond)
	b, askedB := counting(t, 25*time.Millisecond)
	client, err := NewClient(Options{URLs: []string{a, b}, Hedge: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for range requests {
		if _, err := client.Nodes(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	hedges := int(askedA.Load()+askedB.Load()) - requests
	if hedges == 0 || hedges > maxHedges+requests/hedgeShare {
		t.Errorf("%d of %d requests were sent twice", hedges, requests)
	}
}

// TestHedgeOfWrite checks that a request that changes something is sent to one node only.
func TestHedgeOfWrite(t *testing.T) {
	a, askedA := counting(t, 50*time.Millisecond)
	b, askedB := counting(t, 50*time.Millisecond)
	client, err := NewClient(Options{URLs: []string{a, b}, Hedge: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.do(t.Context(), request{method: http.MethodPost, path: "/v1/batch/objects"}); err != nil {
		t.Fatal(err)
	}
	if n := askedA.Load() + askedB.Load(); n != 1 {
		t.Errorf("the request was sent %d times", n)
	}
}

func TestDownTime(t *testing.T) {
	n := &node{}
	now := time.Now()
	for _, want := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute, time.Minute} {
		n.failed(now)
		n.failed(now) // of a concurrent request
		if n.isDown(now.Add(want)) || !n.isDown(now.Add(want-time.Millisecond)) {
			t.Errorf("down until %v, want %v", time.Unix(0, n.down.Load()).Sub(now), want)
		}
		now = now.Add(want)
	}
	n.answered()
	n.failed(now)
	if n.isDown(now.Add(downTime)) {
		t.Error("an answer does not reset the time")
	}
}
