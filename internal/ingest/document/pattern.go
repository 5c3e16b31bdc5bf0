package document

import (
	"regexp"
	"sync"
)

// Lazily returns a regular expression that is compiled at its first use. Every command links
// the readers of documents, and most commands read none.
func Lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
