package agentconfig

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// A Version is a version of Claude Code; the zero Version is one that is not
// known.
type Version [3]int

var (
	// allEventsVersion is the first version that knows every event that install asks
	// for. Before it, a file that names an event of later versions is ignored.
	allEventsVersion = Version{2, 1, 76}
	// ignoredEntriesVersion is the first version that was seen to ignore a hook that it
	// does not understand, and not the file. 2.1.197 was seen to ignore the file.
	ignoredEntriesVersion = Version{2, 1, 328}
)

// VersionOnPath is the version of the Claude Code on PATH. It is not known where
// there is none: the one that is used came with an editor, and keeps itself up
// to date.
func VersionOnPath(ctx context.Context) Version {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "claude", "--version")
	cmd.Dir = os.TempDir() // launchers choose versions by the files of the folder that they run in
	out, err := cmd.Output()
	if err != nil {
		return Version{}
	}
	return parseVersion(string(out))
}

// parseVersion reads a version such as "2.0.30 (Claude Code)".
func parseVersion(text string) (v Version) {
	number, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	parts := strings.Split(number, ".")
	if len(parts) < len(v) {
		return Version{}
	}
	for i := range v {
		n, err := strconv.Atoi(parts[i])
		if err != nil || n < 0 {
			return Version{}
		}
		v[i] = n
	}
	return v
}

// before reports whether the version is known and older than another.
func (v Version) before(other Version) bool {
	if v == (Version{}) {
		return false
	}
	for i := range v {
		if v[i] != other[i] {
			return v[i] < other[i]
		}
	}
	return false
}
