package config

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// maxSession is how much of a session's id is in the name of a file.
const maxSession = 120

// SessionName is what files of a session are called: its id, with everything
// but letters, digits, hyphens and underscores replaced; own reports whether
// no other session can have the same name.
func SessionName(session string) (name string, own bool) {
	var b strings.Builder
	own = true
	for _, r := range session {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			b.WriteRune(r)
		default:
			b.WriteByte('_')
			own = false
		}
	}
	name = b.String()
	if len(name) > maxSession {
		h := fnv.New64a()
		h.Write([]byte(session))
		name, own = fmt.Sprintf("%s-%016x", name[:maxSession-17], h.Sum64()), false
	}
	return name, own
}
