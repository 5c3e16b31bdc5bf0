// Package sessionfile names the files of which the hook has one for each session,
// and removes old ones.
package sessionfile

import (
	"fmt"
	"hash/fnv"
	"os"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/config"
)

// maxName is how much of a session's id is in the name of a file.
const maxName = 120

// SafeName is what files of a session are called: its id, with everything
// but letters, digits, hyphens and underscores replaced; own reports whether
// no other session can have the same name.
func SafeName(session string) (name string, own bool) {
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
	if len(name) > maxName {
		name, own = fmt.Sprintf("%s-%016x", name[:maxName-17], checksum([]byte(session))), false
	}
	return name, own
}

// Name is the name of a file of which each session has its own: an id
// that is not its own name is told from others by its hash.
func Name(prefix, session, suffix string) string {
	name, own := SafeName(session)
	if !own {
		name += fmt.Sprintf("-%016x", checksum([]byte(session)))
	}
	return prefix + name + suffix
}

// Clean removes the files in dir with such names that nobody has changed
// for longer than age. What cannot be looked at or removed stays.
func Clean(dir, prefix, suffix string, now time.Time, age time.Duration) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), prefix) || !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > age {
			os.Remove(config.Join(dir, e.Name()))
		}
	}
}

func checksum(data []byte) uint64 {
	h := fnv.New64a()
	h.Write(data)
	return h.Sum64()
}
