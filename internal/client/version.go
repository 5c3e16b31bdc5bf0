package client

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// IsOld reports whether the Claude Code on PATH is one that throws a settings
// file away, all of it, if it names an event of later versions. Where there is
// none on PATH, the one that is used came with an editor, and keeps itself up
// to date.
func IsOld(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "claude", "--version").Output()
	return err == nil && tooOld(string(out))
}

// tooOld reports whether a version, such as "2.0.30 (Claude Code)", is older
// than 2.1.76, the first to know every event that install asks for.
func tooOld(version string) bool {
	number, _, _ := strings.Cut(strings.TrimSpace(version), " ")
	parts := strings.Split(number, ".")
	for i, first := range [...]int{2, 1, 76} {
		if i >= len(parts) {
			return false
		}
		n, err := strconv.Atoi(parts[i])
		if err != nil || n > first {
			return false
		}
		if n < first {
			return true
		}
	}
	return false
}
