package edit

import (
	"errors"
	"testing"
)

func TestPutServer(t *testing.T) {
	server := Server{URL: "https://docs.example.com", TokenFile: "/t"}
	for _, tt := range []struct {
		name, file, before, want string
		server                   Server
		err                      error
	}{
		{"new file", "c.json", "", "{\n  \"servers\": [\n    {\n      \"url\": \"https://docs.example.com\",\n      \"token_file\": \"/t\"\n    }\n  ]\n}\n", server, nil},
		{"second server", "c.json", `{"servers": [{"url": "https://a"}]}`, `{"servers": [{"url": "https://a"}, {"url": "https://docs.example.com", "token_env": "T"}]}`, Server{URL: server.URL, TokenEnv: "T"}, nil},
		{"unchanged", "c.json", `{"Servers": [{"URL": "https://docs.example.com/", "token_file": "/t"}]}`, `{"Servers": [{"URL": "https://docs.example.com/", "token_file": "/t"}]}`, server, nil},
		{"with a token", "c.json", `{"servers": [{"url": "https://docs.example.com"}]}`, `{"servers": [{"url": "https://docs.example.com", "token_file": "/t"}]}`, server, nil},
		{"without a token", "c.json", `{"servers": [{"url": "https://docs.example.com", "token_env": "T"}]}`, `{"servers": [{"url": "https://docs.example.com", "token_env": "T"}]}`, Server{URL: server.URL}, nil},
		{"another token", "c.json", `{"servers": [{"url": "https://docs.example.com", "token_env": "T"}]}`, "", server, ErrManualEdit},
		{"with a mirror", "c.json", `{"servers": [{"url": "https://docs.example.com", "token_file": "/t"}]}`, `{"servers": [{"url": "https://docs.example.com", "token_file": "/t", "mirror": true}]}`, Server{URL: server.URL, TokenFile: "/t", Mirror: true}, nil},
		{"mirror stays", "c.json", `{"servers": [{"url": "https://docs.example.com", "mirror": true}]}`, `{"servers": [{"url": "https://docs.example.com", "mirror": true}]}`, Server{URL: server.URL}, nil},
		{"mirror turned off", "c.json", `{"servers": [{"url": "https://docs.example.com", "mirror": false}]}`, "", Server{URL: server.URL, Mirror: true}, ErrManualEdit},
		{"new with a mirror", "c.yaml", "hook:\n  log: false\n", "hook:\n  log: false\nservers:\n  - url: \"https://docs.example.com\"\n    mirror: true\n", Server{URL: server.URL, Mirror: true}, nil},
		{"yaml", "c.yaml", "hook:\n  log: false # no\n", "hook:\n  log: false # no\nservers:\n  - url: \"https://docs.example.com\"\n    token_file: \"/t\"\n", server, nil},
		{"yaml list", "c.yaml", "servers:\n  - url: https://docs.example.com # ours\n  - url: https://a\n", "servers:\n  - url: https://docs.example.com # ours\n    token_file: \"/t\"\n  - url: https://a\n", server, nil},
		{"toml list", "c.toml", "[[servers]]\nurl = \"https://docs.example.com\"\n", "[[servers]]\nurl = \"https://docs.example.com\"\ntoken_file = \"/t\"\n", server, nil},
		{"toml", "c.toml", "[hook]\nlog = false\n", "[hook]\nlog = false\n\n[[servers]]\nurl = \"https://docs.example.com\"\ntoken_file = \"/t\"\n", server, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := PutServer("/home/me/"+tt.file, []byte(tt.before), tt.server)
			if !errors.Is(err, tt.err) || string(got) != tt.want {
				t.Errorf("%v, got\n%s\nwant\n%s", err, got, tt.want)
			}
		})
	}
	if _, err := PutServer("/c.json", []byte(`{"servers": "x"}`), server); err == nil {
		t.Error("a text in place of the list")
	}
}
