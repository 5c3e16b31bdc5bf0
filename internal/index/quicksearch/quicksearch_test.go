package quicksearch_test

import (
	"math"
	"testing"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
)

func TestJudge(t *testing.T) {
	good := lexical.Signals{Terms: 3, Named: true, MeanEvidence: 1, LowestEvidence: .5, KnownShare: 1, Coverage: 1, RelativeScore: .6, Proximity: .5}
	bad := lexical.Signals{Terms: 3, Unknown: 1, TechnologyRarity: 1, MeanEvidence: -1, LowestEvidence: -4, KnownShare: .4, Coverage: .2, RelativeScore: .2}
	if p, enough := quicksearch.Judge(nil, good); p < .9 || !enough {
		t.Errorf("what fits has probability %g", p)
	}
	if p, enough := quicksearch.Judge(nil, bad); p > .1 || enough {
		t.Errorf("what does not fit has probability %g", p)
	}
	want, _ := quicksearch.Judge(nil, good)
	odds := 0.
	for _, part := range quicksearch.Weigh(quicksearch.Default(), good) {
		odds += part
	}
	if got := 1 / (1 + math.Exp(-odds)); got != want {
		t.Errorf("the parts make %g, not %g", got, want)
	}
	old := &generation.Confidence{Weights: []float64{-1, 2, 3}, Threshold: 1}
	if p, enough := quicksearch.Judge(old, good); p != want || !enough {
		t.Errorf("with weights of other features: probability %g, enough %t, want %g and the default threshold", p, enough, want)
	}
	strict := quicksearch.Default()
	strict.Threshold = want + .001
	if p, enough := quicksearch.Judge(strict, good); p != want || enough {
		t.Errorf("below its own threshold: probability %g, enough %t", p, enough)
	}
}
