package load

import (
	"errors"
	"fmt"
	"time"

	"github.com/docsearch/docsearch/internal/config/decode"
)

// The bounds of all files of a project that have rules or say where there are some. Reading
// files of this size takes the hook a tenth of a second.
const (
	MaxProjectBytes = 256 << 10
	MaxProjectRules = 1000

	maxProjectProblems = 20 // reported of one file
)

// bounds is what the files of a project may still cost. A nil *bounds is without limits.
type bounds struct {
	bytes int64
	rules int
	end   time.Time // zero: none
}

// errLate reports that the time does not suffice for the rules of a file.
var errLate = errors.New("too late")

func (b *bounds) addBytes(n int64) error {
	if n > b.bytes {
		return fmt.Errorf("want at most %d bytes in the rule files of a project, got %d", MaxProjectBytes,
			MaxProjectBytes-b.bytes+n)
	}
	b.bytes -= n
	return nil
}

func (b *bounds) addRules(n int) error {
	if b == nil {
		return nil
	}
	if n > b.rules {
		return fmt.Errorf("want at most %d rules in the files of a project, got %d", MaxProjectRules,
			MaxProjectRules-b.rules+n)
	}
	b.rules -= n
	return nil
}

func (b *bounds) late() bool { return b != nil && !b.end.IsZero() && time.Now().After(b.end) }

// isLate reports that the time is past, once for all files.
func (s *Routes) isLate(path string) bool {
	if !s.bounds.late() {
		return false
	}
	if !s.Late {
		s.Late, s.unread = true, true
		s.problem(path, decode.Problem{Expected: "rules that can be read in half of the hook's time", Got: "more",
			Effect: "ignored in this call"})
	}
	return true
}
