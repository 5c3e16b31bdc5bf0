package index

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/index/embed"
	"github.com/docsearch/docsearch/internal/index/embed/provider"
)

// While a model is opened, which blocks here, a search for its vectors waits only as long
// as it wants, and searches with another embedder do not wait.
func TestSlowModel(t *testing.T) {
	specs := []EmbedderSpec{{Kind: Ollama, Options: provider.Options{Model: "slow"}}, {Kind: OpenAI, Options: provider.Options{Model: "other", URL: "http://127.0.0.1:1/v1"}}}
	e := NewEmbedders(func() []EmbedderSpec { return specs }, time.Minute)
	other, err := specs[1].Open()
	if err != nil {
		t.Fatal(err)
	}
	began, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	slow := e.all()[0]
	go func() {
		defer close(ended)
		_, _ = slow.opening.Do(t.Context(), "", func(context.Context) (embed.Provider, error) {
			close(began)
			<-release
			return slow.open()
		})
	}()
	<-began
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := e.find(gone, Ollama+":slow"); !errors.Is(err, context.Canceled) {
		t.Errorf("a search that has ended: %v", err)
	}
	if a, err := e.find(t.Context(), other.ID()); err != nil || a.provider.ID() != other.ID() {
		t.Errorf("another embedder: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	close(release)
	<-ended
	if slow.provider != nil {
		t.Error("a model that was opened after the end stays open")
	}
}
