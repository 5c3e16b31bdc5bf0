package terminal

import (
	"slices"
	"testing"
)

func TestDefaultPager(t *testing.T) {
	cmd := pagerCommand(func(string) (string, bool) { return "", false })
	if got := cmd.Args[len(cmd.Args)-1]; got != "less -FRX" || !slices.Contains(cmd.Env, "LESS=FRX") {
		t.Errorf("%v with %v", cmd.Args, cmd.Env)
	}
}
