package accesstoken

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/config"
)

var now = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

func TestTokens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "tokens.json")
	admin, server := Open(path), Open(path)
	if exists, err := server.Exists(t.Context()); exists || err != nil {
		t.Fatalf("exists: %t, %v", exists, err)
	}
	text, err := admin.New("ci", Scopes{ReadScope("gitlab")}, now, now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.New("CI", Scopes{ScopeRead}, now, time.Time{}); !errors.Is(err, ErrExists) {
		t.Errorf("second token of that name: %v", err)
	}
	other, err := admin.New("laptop@amy", Scopes{ScopeRead, ScopeMetrics}, now, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(data), strings.TrimPrefix(text, Prefix)) {
		t.Fatalf("the file contains the token: %v", err)
	}
	if st, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	find := func(text string, at time.Time, want string) {
		t.Helper()
		got, ok, err := server.Find(t.Context(), text, at)
		if err != nil || ok != (want != "") || ok && got.Name != want {
			t.Errorf("token %q found: %t, %v, want %q", got.Name, ok, err, want)
		}
	}
	find(text, now, "ci")
	find(text, now.Add(time.Hour), "")
	find(other, now.AddDate(50, 0, 0), "laptop@amy")
	find("", now, "")
	find(text[:len(text)-1], now, "")
	find(strings.ToLower(text), now, "")

	if err := admin.Revoke("nobody"); !errors.Is(err, ErrNotFound) {
		t.Errorf("unknown name: %v", err)
	}
	if err := admin.Revoke("Ci"); err != nil {
		t.Fatal(err)
	}
	find(text, now, "")
	find(other, now, "laptop@amy")
	if err := admin.Revoke("laptop@amy"); err != nil {
		t.Fatal(err)
	}
	if exists, err := server.Exists(t.Context()); !exists || err != nil {
		t.Errorf("without tokens, the file exists: %t, %v", exists, err)
	}

	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := server.Find(t.Context(), other, now); ok || err == nil {
		t.Errorf("a corrupt file admits a token: %t, %v", ok, err)
	}
}

// A slow read delays only those that need its result, and these only as long as they want.
func TestSlowFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	admin, server := Open(path), Open(path)
	if _, err := admin.New("ci", Scopes{ScopeRead}, now, time.Time{}); err != nil {
		t.Fatal(err)
	}
	stamp, err := config.StampOf(path)
	if err != nil {
		t.Fatal(err)
	}
	began, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = server.reading.Do(t.Context(), fmt.Sprint(stamp), func(context.Context) (*snapshot, error) {
			close(began)
			<-release
			return nil, errors.New("too slow")
		})
	}()
	<-began
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, ok, err := server.Find(gone, "", now); ok || !errors.Is(err, context.Canceled) {
		t.Errorf("a request that has ended: %t, %v", ok, err)
	}
	other, err := admin.New("laptop", Scopes{ScopeRead}, now, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second from memory
		if _, ok, err := server.Find(t.Context(), other, now); !ok || err != nil {
			t.Errorf("after another change: %t, %v", ok, err)
		}
	}
	close(release)
	<-ended
}

// Concurrent writers lose no token.
func TestConcurrentWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			if _, err := Open(path).New(string(rune('a'+i)), Scopes{ScopeRead}, now, time.Time{}); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	if list, err := Open(path).List(); err != nil || len(list) != 8 {
		t.Errorf("%d tokens, %v", len(list), err)
	}
}

func TestScopes(t *testing.T) {
	for _, tt := range []struct {
		scopes             Scopes
		reads, all, metric bool
	}{
		{nil, false, false, false},
		{Scopes{ScopeRead}, true, true, false},
		{Scopes{"read:GitLab"}, true, false, false},
		{Scopes{"read:other"}, false, false, false},
		{Scopes{"metrics"}, false, false, true},
	} {
		if tt.scopes.Reads("gitlab") != tt.reads || tt.scopes.Reads("x") != tt.all || tt.scopes.Has(ScopeMetrics) != tt.metric {
			t.Errorf("%q", tt.scopes)
		}
	}
	for _, bad := range []string{"", "write", "read:", "READ"} {
		if (Scopes{bad}).Validate() == nil {
			t.Errorf("%q is valid", bad)
		}
	}
}

func TestNames(t *testing.T) {
	for _, bad := range []string{"", "a b", "a/b", "a\n", strings.Repeat("x", maxName+1)} {
		if _, err := Open(filepath.Join(t.TempDir(), "t")).New(bad, Scopes{ScopeRead}, now, time.Time{}); err == nil {
			t.Errorf("%q is valid", bad)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"version":1,"tokens":[{"name":"a","hash":"` + strings.Repeat("0f", 32) + `","scopes":["read"],"created":"2026-01-02T15:04:05Z"}]}`))
	f.Add([]byte(`{"version":2}`))
	f.Add([]byte(`{`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parse(data)
		if err != nil && len(c.Tokens) > 0 {
			t.Error("an invalid file has tokens")
		}
		for _, token := range c.Tokens {
			if len(token.Hash) != 64 || token.Scopes.Validate() != nil {
				t.Errorf("accepted %+v", token)
			}
		}
	})
}
