package cluster

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestStatisticsCache downloads statistics once. A damaged file of the cache is replaced,
// and one that was not read for long is removed.
func TestStatisticsCache(t *testing.T) {
	const content = "statistics"
	sum := sha256.Sum256([]byte(content))
	commit := &Commit{Tenant: "t", Stats: PartsRef{Digest: hex.EncodeToString(sum[:]), Size: len(content)}}
	requests := 0
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		if r.URL.Path != graphqlPath {
			t.Errorf("a request for %s hangs after the loss of the leader", r.URL.Path)
		}
		fmt.Fprintf(w, `{"data": {"Get": {"DocsearchParts1": [{"data": %q}]}}}`, base64.StdEncoding.EncodeToString([]byte(content)))
	})
	cache := filepath.Join(t.TempDir(), "clusters")
	read := func(wantRequests int) {
		t.Helper()
		c, err := NewClient(Options{URLs: []string{url}, Cache: cache})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		data, err := c.readStatistics(t.Context(), commit)
		if err != nil || string(data) != content || requests != wantRequests {
			t.Errorf("%q, %v, %d requests, want %d", data, err, requests, wantRequests)
		}
	}
	path := filepath.Join(cache, commit.Stats.Digest)
	read(1)
	read(1)
	if err := os.WriteFile(path, []byte("Statistics"), 0o600); err != nil {
		t.Fatal(err)
	}
	unused := filepath.Join(cache, "unused")
	if err := os.WriteFile(unused, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-unusedTime - time.Hour)
	if err := os.Chtimes(unused, long, long); err != nil {
		t.Fatal(err)
	}
	read(2)
	read(2)
	if _, err := os.Stat(unused); !os.IsNotExist(err) {
		t.Errorf("an unused file remains: %v", err)
	}
}
