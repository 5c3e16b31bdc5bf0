package searching

import (
	"fmt"
	"math"
	"strings"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/lexical"
)

// A ScoreExplanation explains the rank of a hit. The relevance of a hit is the
// confidence of its database, reduced by how far its score is below the best
// one.
type ScoreExplanation struct {
	Score float64          `json:"score"`
	Best  float64          `json:"best_score"` // among the database's hits
	Parts []index.Part     `json:"parts"`      // addends of the score
	Terms []lexical.Reason `json:"terms"`
}

// A ConfidenceExplanation explains the confidence of a database.
type ConfidenceExplanation struct {
	Probability float64      `json:"probability"` // lexical; logistic function of the sum of the odds
	Threshold   float64      `json:"threshold"`
	Odds        []index.Part `json:"odds"`
}

// SumText formats the nonzero parts as a sum.
func SumText(parts []index.Part) string {
	var b strings.Builder
	for _, p := range parts {
		amount := fmt.Sprintf("%.2f", math.Abs(p.Adds))
		switch {
		case amount == "0.00":
			continue
		case b.Len() == 0 && p.Adds < 0:
			amount = "-" + amount
		case b.Len() > 0 && p.Adds < 0:
			b.WriteString(" - ")
		case b.Len() > 0:
			b.WriteString(" + ")
		}
		b.WriteString(p.Name + " " + amount)
	}
	if b.Len() == 0 {
		return "0"
	}
	return b.String()
}
