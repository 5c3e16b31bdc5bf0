package generation

import "fmt"

// FewestLost is the smallest number of documents that HasLost counts as a loss.
const FewestLost = 5

// HasLost reports whether a source seems to have lost its documents: more than a quarter of
// all, and not replaced by as many new ones, as when they move. A few deleted documents are
// normal.
func HasLost(lost, fresh, all int) bool {
	const share = 4
	return lost >= FewestLost && lost*share > all && fresh < lost
}

// A LostError reports that an update kept the current generation, because its source seems
// to have lost its documents.
type LostError struct{ Lost, Documents int }

func (e *LostError) Error() string {
	return fmt.Sprintf("the source no longer has %d of %d documents", e.Lost, e.Documents)
}
