package served

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/docsearch/docsearch/internal/config"
)

// A blockedHandler is a log that nobody reads: a record waits until it is released.
type blockedHandler struct {
	slog.Handler
	release chan struct{}
}

func (h blockedHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h blockedHandler) Handle(context.Context, slog.Record) error {
	<-h.release
	return nil
}

// While a changed config is read, which blocks here, requests use the last one.
func TestSlowConfig(t *testing.T) {
	dir := t.TempDir()
	l := config.Locations{Config: filepath.Join(dir, "config.json"), Data: filepath.Join(dir, "data")}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(l.Config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"search": {"top_k": 3}}`)
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := &Databases{Locations: l, Log: slog.New(slog.DiscardHandler)}
		if got := s.Current().Search.TopK; got != 3 {
			t.Fatalf("top_k %d, want 3", got)
		}
		s.Log = slog.New(blockedHandler{slog.DiscardHandler, release})
		write(`{"unknown": 1, "search": {"top_k": 4}}`)
		for range 2 {
			if got := s.Current().Search.TopK; got != 3 {
				t.Errorf("top_k %d while the config is read, want the last one", got)
			}
		}
		close(release)
		synctest.Wait()
		if got := s.Current().Search.TopK; got != 4 {
			t.Errorf("top_k %d, want the new one", got)
		}
	})
}
