package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docsearch/docsearch/test/clustertest"
)

// rounds is the number of times that the fault tests kill a node.
var rounds = flag.Int("rounds", 6, "kill a node `N` times in each fault test")

// victim returns the node to kill in each round: the leader, a follower, and then all
// nodes in turn.
func victim(c *clustertest.Cluster, round int) (node int, role string) {
	leader := c.Leader()
	switch {
	case leader < 0 || round%5 >= 2:
		return round % 3, "in turn"
	case round%5 == 0:
		return leader, "leader"
	}
	return (leader + 1) % 3, "follower"
}

// TestKillDuringQueries kills nodes with SIGKILL while clients search. No search may fail,
// and a restarted node must answer as before.
func TestKillDuringQueries(t *testing.T) {
	c := clustertest.Start(t, 3, clustertest.Options{})
	content := newContent(t, 3000)
	writer := newTestClient(t, c)
	if _, err := writer.Push(t.Context(), content, PushOptions{Name: "django"}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var searches, failures atomic.Int64
	var slowest atomic.Int64
	var clients sync.WaitGroup
	for range 2 {
		d, err := Open(t.Context(), Options{URLs: c.URLs(), Timeout: 800 * time.Millisecond}, "django")
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		clients.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				start := time.Now()
				err := searchFor(t.Context(), d, content, i*37%len(content.passages))
				if took := int64(time.Since(start)); took > slowest.Load() {
					slowest.Store(took)
				}
				searches.Add(1)
				if err != nil {
					failures.Add(1)
					t.Errorf("search %d: %v", i, err)
				}
			}
		})
	}
	for round := range *rounds {
		n, role := victim(c, round)
		node := c.Nodes[n]
		node.Kill()
		time.Sleep(time.Second)
		start := time.Now()
		node.Start()
		if err := node.WaitReady(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		ready := time.Since(start)
		if err := sameAnswers(t.Context(), node.URL, content); err != nil {
			t.Errorf("restarted %s: %v", node.Name, err)
		}
		t.Logf("round %d: killed %s (%s), ready %v after its start; %d searches, %d failed", round, node.Name, role, ready.Round(100*time.Millisecond), searches.Load(), failures.Load())
	}
	stop()
	clients.Wait()
	t.Logf("%d searches, %d failed, slowest %v", searches.Load(), failures.Load(), time.Duration(slowest.Load()).Round(time.Millisecond))
}

// searchFor searches a passage by its own word.
func searchFor(ctx context.Context, d *Database, content *fakeContent, passage int) error {
	state, err := d.State(ctx)
	if err != nil {
		return err
	}
	found, err := d.Find(ctx, state, fmt.Sprintf("only%d w1", passage), 200)
	if err != nil {
		return err
	}
	if len(found) != 200 || found[0].Line != content.passages[passage].Line {
		return fmt.Errorf("found %d passages, or another first one", len(found))
	}
	return nil
}

// sameAnswers checks the answers of one node. It is ready before it has loaded a tenant.
func sameAnswers(ctx context.Context, url string, content *fakeContent) error {
	d, err := Open(ctx, Options{URLs: []string{url}}, "django")
	if err != nil {
		return err
	}
	defer d.Close()
	for i := range 20 {
		if err := searchFor(ctx, d, content, i*101%len(content.passages)); err != nil {
			return err
		}
	}
	return nil
}

// TestKillDuringPush kills nodes while a push is running. A push must end in time. If it
// succeeds, all nodes have its passages; if it fails, the state before it stays. Readers
// always see the passages of one push.
func TestKillDuringPush(t *testing.T) {
	c := clustertest.Start(t, 3, clustertest.Options{})
	client := newTestClient(t, c)
	content := newContent(t, 3000)
	push := func(version int) error {
		info, _ := json.Marshal(version)
		_, err := client.Push(t.Context(), content, PushOptions{Name: "django", Info: info, Settle: 2 * time.Minute})
		return err
	}
	if err := push(0); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	var reads atomic.Int64
	d, err := Open(t.Context(), Options{URLs: c.URLs(), Timeout: 800 * time.Millisecond}, "django")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	readers.Go(func() {
		for ctx.Err() == nil {
			if err := readsOneVersion(t.Context(), d); err != nil {
				t.Errorf("reader: %v", err)
			}
			reads.Add(1)
		}
	})
	version := 0
	for round := range *rounds {
		// Every second push is incremental: it edits 60 passages of the tenant in use.
		edited := content.passages
		if round%2 == 0 {
			edited = edited[:60]
		}
		next := version + 1
		for i := range edited {
			edited[i].Line = fmt.Sprintf(`{"id": "p%d", "text": "edited version%d"}`, i, next)
			edited[i].Bag = strings.TrimSuffix(edited[i].Bag, " edited") + " edited"
		}
		n, role := victim(c, round)
		node := c.Nodes[n]
		done := make(chan error, 1)
		start := time.Now()
		go func() { done <- push(next) }()
		time.Sleep(time.Duration(round%4) * 300 * time.Millisecond)
		node.Kill()
		time.Sleep(2 * time.Second)
		node.Start()
		err := <-done
		took := time.Since(start)
		if took > 5*time.Minute {
			t.Errorf("round %d: the push took %v", round, took)
		}
		if err := node.WaitReady(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		t.Logf("round %d: killed %s (%s), push ended after %v: %v", round, node.Name, role, took.Round(100*time.Millisecond), err)
		if err != nil {
			if err := push(next); err != nil {
				t.Fatalf("round %d: the push fails again: %v", round, err)
			}
		}
		version = next
		commit, problems, err := client.Verify(t.Context(), "django", nil)
		if err != nil || len(problems) > 0 || commit.Passages.Count != 3000 {
			t.Errorf("round %d: verify: %v %v", round, problems, err)
		}
		for _, node := range c.Nodes {
			if err := sameAnswers(t.Context(), node.URL, content); err != nil {
				t.Errorf("round %d: %s: %v", round, node.Name, err)
			}
		}
	}
	stop()
	readers.Wait()
	t.Logf("%d reads", reads.Load())
}

// readsOneVersion reads a state and its edited passages, which must all be of the state's
// version or, if an incremental push did not edit them, older.
func readsOneVersion(ctx context.Context, d *Database) error {
	d.mu.Lock()
	d.readAt = time.Time{} // read the state now
	d.mu.Unlock()
	state, err := d.State(ctx)
	if err != nil {
		return err
	}
	var version int
	if err := json.Unmarshal(state.Info, &version); err != nil {
		return err
	}
	found, err := d.Find(ctx, state, "only3 only7 only11", 3)
	if err != nil {
		return err
	}
	if len(found) != 3 {
		return fmt.Errorf("version %d: found %d of 3 passages", version, len(found))
	}
	for _, p := range found {
		want := fmt.Sprintf("edited version%d\"", version)
		if version > 0 && !strings.Contains(p.Line, want) {
			return errors.New("found " + p.Line + ", want " + want)
		}
	}
	return nil
}
