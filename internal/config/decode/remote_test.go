package decode

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestServers(t *testing.T) {
	server := func(fields map[string]any) []any { return []any{fields} }
	const url = "https://docs.example.com"
	for _, tt := range []struct {
		name    string
		servers any
		usable  int
		problem string
	}{
		{"none", nil, 0, ""},
		{"one", server(map[string]any{"url": url + "/", "token_file": filepath.Join(t.TempDir(), "t"), "timeout_ms": 200}), 1, ""},
		{"command", server(map[string]any{"url": url, "token_command": []any{"pass", "show", "x"}}), 1, ""},
		{"this machine", server(map[string]any{"url": "http://127.0.0.1:7373", "token_env": "T"}), 1, ""},
		{"no list", "x", 0, "want a list of servers"},
		{"no object", []any{"x"}, 0, `want a server with "url"`},
		{"no URL", server(map[string]any{}), 0, "want the server's URL"},
		{"http", server(map[string]any{"url": "http://docs.example.com"}), 0, "http is for this machine only"},
		{"http in disguise", server(map[string]any{"url": "http://127.0.0.1@evil.example"}), 0, "want the server's URL"},
		{"path", server(map[string]any{"url": url + "/mcp"}), 0, "want the server's URL"},
		{"user", server(map[string]any{"url": "https://me:secret@docs.example.com"}), 0, "want the server's URL"},
		{"token", server(map[string]any{"url": url, "token": "s3cret"}), 0, "must not contain the token"},
		{"token as variable", server(map[string]any{"url": url, "token_env": "docsearch_S3CRET-x"}), 0, "not the token"},
		{"two tokens", server(map[string]any{"url": url, "token_env": "T", "token_file": "/t"}), 0, "only one of"},
		{"command without a program", server(map[string]any{"url": url, "token_command": []any{}}), 0, "want a list of a program"},
		{"unknown key", server(map[string]any{"url": url, "tokenfile": "/t"}), 1, `did you mean "token_file"?`},
		{"timeout", server(map[string]any{"url": url, "timeout_ms": 0}), 1, "using 400"},
		{"twice", []any{map[string]any{"url": url}, map[string]any{"url": url}}, 1, "not in the list yet"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, problems := Config(Settings{Values: map[string]any{"servers": tt.servers}, Line: func(string) int { return 0 }, Dir: "/c", Home: "/home/me"})
			text := ""
			for _, p := range problems {
				text += p.String() + "\n"
			}
			if len(c.Remotes) != tt.usable || !strings.Contains(text, tt.problem) || (text == "") != (tt.problem == "") {
				t.Errorf("%d servers, problems %s", len(c.Remotes), text)
			}
			if strings.Contains(strings.ToLower(text), "s3cret") {
				t.Errorf("a secret is in %s", text)
			}
			if tt.usable == 1 && tt.name == "one" && (c.Remotes[0].URL != url || c.Remotes[0].TimeoutMS != 200) {
				t.Errorf("got %+v", c.Remotes[0])
			}
		})
	}
}
