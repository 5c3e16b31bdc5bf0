package hook

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/hook/event"
)

// The example event in the README is valid.
func TestSampleEvent(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "websearch.json"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := event.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	want := event.Search{Query: "gitlab ci cache node_modules between jobs", Allowed: []string{"docs.gitlab.com"}}
	if diff := cmp.Diff(want, e.Search); diff != "" || e.Tool != "WebSearch" || e.Host != event.Claude {
		t.Errorf("tool %s, host %s, (-want +got)\n%s", e.Tool, e.Host, diff)
	}
}
