package hook

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/index/passage"
)

// codeLength is the length of a denial's code. Among the denials of the last five
// minutes, a code of 20 bits is unique.
const codeLength = 4

// shownCode returns the code of a denial in a session. The denial names it, so an agent
// that passes it to the search tool has read the denial: only then has it seen the
// passages, in whichever process, session or client it runs.
func shownCode(session string, c *Call) string {
	h := fnv.New64a()
	for _, s := range c.texts(session) {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	const letters = "abcdefghijkmnpqrstuvwxyz23456789"
	code, sum := make([]byte, codeLength), h.Sum64()
	for i := range code {
		code[i] = letters[sum%uint64(len(letters))]
		sum /= uint64(len(letters))
	}
	return string(code)
}

// Shown returns the passages that the denial with this code has shown. It returns nil if
// no session has such a denial, if several have, or if the states cannot be read.
func (s Store) Shown(code string, now time.Time) passage.Shown {
	if code == "" {
		return nil
	}
	var found []Denial
	for _, f := range s.live(now) {
		for _, state := range f.states() {
			for _, d := range slices.Concat(state.Denied, state.Passed) {
				if d.Code == code && d.valid(now) {
					found = append(found, d)
				}
			}
		}
	}
	if len(found) != 1 {
		return nil
	}
	return found[0].Shown
}

// states returns the states of all sessions in a file.
func (f *stateFile) states() []State {
	all := []State{f.State}
	for _, s := range f.sessions {
		all = append(all, s)
	}
	return all
}

// forgetShown removes the shown passages from the session's state when its context is
// compacted: a summary may keep the code of a denial without its passages.
func (p *Process) forgetShown(d *Decision, session string, s Store) {
	if d.Notes == nil || !d.Notes.Compacting && d.Notes.ContextReset != "compact" || s.Dir == "" {
		return
	}
	state, err := s.Read(session, p.Now())
	if err != nil || !slices.ContainsFunc(slices.Concat(state.Denied, state.Passed),
		func(d Denial) bool { return d.Code != "" }) {
		return // an unreadable state shows nothing, and the next denial replaces it
	}
	if _, err := s.Update(session, Change{Forget: true}, p.Now); err != nil {
		d.fault("state: %v", err)
	}
}

// forget returns the denials without the passages that they have shown.
func forget(list []Denial) []Denial {
	for i := range list {
		list[i].Code, list[i].Shown = "", nil
	}
	return list
}

// encodeShown encodes shown passages as strings: a fingerprint, then for a part of a
// passage a colon and its number of bytes.
func encodeShown(shown passage.Shown) []string {
	list := make([]string, 0, len(shown))
	for fingerprint, n := range shown {
		if n != passage.Whole {
			fingerprint += ":" + strconv.Itoa(n)
		}
		list = append(list, fingerprint)
	}
	slices.Sort(list)
	return list
}

// parseShown decodes the strings of encodeShown and skips others.
func parseShown(list []string) passage.Shown {
	if len(list) == 0 {
		return nil
	}
	shown := make(passage.Shown, len(list))
	for _, s := range list {
		fingerprint, part, partial := strings.Cut(s, ":")
		n, err := strconv.Atoi(part)
		switch {
		case !partial:
			shown[fingerprint] = passage.Whole
		case err == nil && n > 0:
			shown[fingerprint] = n
		}
	}
	return shown
}
