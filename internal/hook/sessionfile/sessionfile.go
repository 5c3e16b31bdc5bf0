// Package sessionfile names the hook's per-session files and removes old ones.
package sessionfile

import (
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/config"
)

// maxName limits the part of a session ID that is in a file name, in bytes.
const maxName = 120

// SafeName returns a session's ID as part of a file name: every character except letters,
// digits, hyphens and underscores is replaced, and a long ID is cut. own reports that no
// other session can have the same name.
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

// Name returns the name of a session's file. An ID that is not its own safe name is
// distinguished by its hash.
func Name(prefix, session, suffix string) string {
	name, own := SafeName(session)
	if !own {
		name += fmt.Sprintf("-%016x", checksum([]byte(session)))
	}
	return prefix + name + suffix
}

// maxChecked limits the files that Clean checks, because a file takes longer than its name.
const maxChecked = 500

// Clean removes the files in dir with the prefix and suffix that were last modified more
// than age ago. Of many files it checks maxChecked, not always the same ones. It skips
// files that it cannot check or remove.
func Clean(dir, prefix, suffix string, now time.Time, age time.Duration) {
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	names, _ := f.Readdirnames(-1)
	f.Close()
	names = slices.DeleteFunc(names, func(name string) bool {
		return !strings.HasPrefix(name, prefix) || !strings.HasSuffix(name, suffix)
	})
	if more := len(names) - maxChecked; more > 0 {
		first := int(now.UnixNano() % int64(more+1))
		names = names[first : first+maxChecked]
	}
	for _, name := range names {
		path := config.Join(dir, name)
		if st, err := os.Lstat(path); err == nil && st.Mode().IsRegular() && now.Sub(st.ModTime()) > age {
			os.Remove(path)
		}
	}
}

func checksum(data []byte) uint64 {
	h := fnv.New64a()
	h.Write(data)
	return h.Sum64()
}
