package startup

import (
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/hook/event"
)

func TestOptionsOf(t *testing.T) {
	for line, want := range map[string]struct {
		host    event.Host
		cli, ok bool
	}{
		"docsearch hook":                       {ok: true},
		"docsearch hook --cli":                 {cli: true, ok: true},
		"docsearch hook --client codex":        {host: event.Codex, ok: true},
		"docsearch hook --client codex --cli":  {host: event.Codex, cli: true, ok: true},
		"docsearch hook --client":              {},
		"docsearch hook --client nobody --cli": {cli: true},
		"docsearch hook --help":                {},
		"docsearch serve":                      {},
		"docsearch":                            {},
		"docsearch hook --cli --client codex":  {},
		"docsearch hook --client=codex --cli":  {cli: true},
	} {
		host, cli, ok := optionsOf(strings.Fields(line))
		if ok != want.ok || ok && (host != want.host || cli != want.cli) {
			t.Errorf("%s: %q, %t, %t; want %+v", line, host, cli, ok, want)
		}
	}
}
