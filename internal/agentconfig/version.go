package agentconfig

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/file/execpath"
)

// A Version is a version of Claude Code. The zero Version is unknown.
type Version [3]int

var (
	// allEventsVersion is the first version that knows all events that install
	// registers. Earlier versions ignore a file with an unknown event.
	allEventsVersion = Version{2, 1, 76}
	// ignoredEntriesVersion is the first tested version that ignores an invalid
	// hook and not the whole file. 2.1.197 ignores the whole file.
	ignoredEntriesVersion = Version{2, 1, 328}
)

// VersionOnPath returns the version of Claude Code on PATH. If PATH has none, the
// version is unknown: the user's Claude Code is then part of an editor, which
// updates itself.
//
// A launcher may choose a version by files in the working directory and in the folders
// above it, so the program runs in an empty folder in cache, where only the user writes.
func VersionOnPath(ctx context.Context, cache string) Version {
	if cache == "" || os.MkdirAll(cache, 0o700) != nil {
		return Version{}
	}
	dir, err := os.MkdirTemp(cache, "empty-")
	if err != nil {
		return Version{}
	}
	defer os.Remove(dir)
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := execpath.Command(ctx, "claude", "--version")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return Version{}
	}
	return parseVersion(string(out))
}

// parseVersion parses a version such as "2.0.30 (Claude Code)".
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

// before reports whether the version is known and older than other.
func (v Version) before(other Version) bool {
	return v != (Version{}) && slices.Compare(v[:], other[:]) < 0
}
