package provider

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/index/embed"
	"github.com/docsearch/docsearch/internal/progress"
)

func TestCollect(t *testing.T) {
	s := serve(t)
	p, err := OpenAI(Options{URL: s.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	text := func(i int) (string, error) { return fmt.Sprint("passage ", i), nil }
	var done, total int64
	v, err := embed.Collect(t.Context(), p, 1100, text, func(e progress.Event) { done, total = e.Done, e.Total })
	if err != nil {
		t.Fatal(err)
	}
	if v.Len() != 1100 || v.Dimensions() != 3 || done != 1100 || total != 1100 {
		t.Errorf("%d vectors of %d dimensions, %d of %d reported", v.Len(), v.Dimensions(), done, total)
	}
	u := make([]float32, 3)
	for _, i := range []int{0, 511, 512, 1099} {
		if err := v.Vector(i, u); err != nil || !cmp.Equal(u, vector(fmt.Sprint("passage ", i))) {
			t.Errorf("vector %d is %v, %v", i, u, err)
		}
	}
	if v, err := embed.Collect(t.Context(), p, 0, text, nil); err != nil || v.Len() != 0 {
		t.Errorf("no passages: %v", err)
	}
	gone := errors.New("gone")
	if _, err := embed.Collect(t.Context(), p, 3, func(int) (string, error) { return "", gone }, nil); !errors.Is(err, gone) {
		t.Errorf("error %v, want %v", err, gone)
	}
	s.fail = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusBadRequest)
		return true
	}
	if _, err := embed.Collect(t.Context(), p, 3, text, nil); err == nil || !strings.Contains(err.Error(), "openai") {
		t.Errorf("error %v", err)
	}
}
