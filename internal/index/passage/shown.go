package passage

import (
	"hash/fnv"
	"strconv"
)

// Shown maps the fingerprints of the passages that an agent has seen to the number of
// bytes of their text that it has seen, Whole for all.
type Shown map[string]int

// Whole is the value in Shown of a passage that was shown whole.
const Whole = 0

// Fingerprint identifies a passage by its text, which no rebuild of a database changes
// silently.
func (p *Passage) Fingerprint() string {
	h := fnv.New64a()
	h.Write([]byte(p.Text))
	return strconv.FormatUint(h.Sum64(), 36)
}
