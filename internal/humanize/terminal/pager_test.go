package terminal

import (
	"slices"
	"strings"
	"testing"
)

func TestDefaultPager(t *testing.T) {
	cmd := pagerCommand(func(string) (string, bool) { return "", false })
	if got := strings.Join(cmd.Args, " "); !strings.HasSuffix(got, "less -FRX") || !slices.Contains(cmd.Env, "LESS=FRX") {
		t.Errorf("%v with %v", cmd.Args, cmd.Env)
	}
}
