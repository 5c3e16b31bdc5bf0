package agentconfig

import "testing"

func TestInCache(t *testing.T) {
	for path, want := range map[string]bool{
		"/home/u/.npm/_npx/0a1b/node_modules/.bin/docsearch":                                                    true,
		"/home/u/.cache/pnpm/dlx/0a1b/node_modules/docsearch-cli/bin/docsearch":                                 true,
		"/tmp/dlx-4711/node_modules/docsearch-cli/bin/docsearch":                                                true,
		"/tmp/bunx-1000-docsearch-cli@latest/node_modules/docsearch-cli/bin/docsearch":                          true,
		"/home/u/.local/share/pnpm/global/5/.pnpm/docsearch-cli@1.2.3/node_modules/docsearch-cli/bin/docsearch": true,
		"/usr/lib/node_modules/docsearch-cli/bin/docsearch":                                                     false,
		"/home/u/project/node_modules/docsearch-cli-linux-x64/bin/docsearch":                                    false,
		"/home/dlxuser/.local/bin/docsearch":                                                                    false,
		"/opt/homebrew/bin/docsearch":                                                                           false,
	} {
		if got := InCache(path); got != want {
			t.Errorf("InCache(%q) = %t, want %t", path, got, want)
		}
	}
}
