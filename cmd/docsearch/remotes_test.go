package main

import (
	"encoding/json"
	"fmt"
	"net"
	"regexp"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/web/machine"
)

// A closedURL returns the URL of a port without a listener.
func closedURL(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

// TestRemoteCommands runs the commands with the databases of a team server and a cluster
// that is down. The server's list of databases was never downloaded.
func TestRemoteCommands(t *testing.T) {
	server := newTestMachine(t, "DOCSEARCH_TOKEN=s3cret")
	server.write("docs/cert.md", "# Rotate the signing certificate\n\nRun `deployctl rotate --signing-certificate` on the registry host.\n")
	server.write("docs/news.md", "# Release notes\n\nThe signing certificate has another name.\n")
	server.run(0, "", "index", "build", "docs", "--name", "handbook", "-q")
	url, stop := server.serve()

	m := newTestMachine(t, "TEAM_TOKEN=s3cret")
	m.write("near/moon.md", "# Moon phases\n\nThe moon has eight phases, which the command moonctl prints.\n")
	m.run(0, "", "index", "build", "near", "-q")
	down := closedURL(t)
	config, err := json.Marshal(map[string]any{
		"databases": []any{map[string]any{"name": "wiki", "keywords": []string{"wiki"}, "description": "Wiki",
			"weaviate": map[string]any{"urls": []string{down}, "database": "wiki-prod", "api_key_env": "PATH"}}},
		"servers": []any{map[string]any{"url": url, "token_env": "TEAM_TOKEN", "timeout_ms": 30_000}},
	})
	if err != nil {
		t.Fatal(err)
	}
	m.write("config.json", string(config))
	expect := func(out string, patterns ...string) {
		t.Helper()
		for _, p := range patterns {
			if !regexp.MustCompile(p).MatchString(out) {
				t.Errorf("output without %q:\n%s", p, out)
			}
		}
		if strings.Contains(out, "s3cret") {
			t.Errorf("the token is in %s", out)
		}
	}

	// The first command is a search: it downloads the list.
	out := m.run(0, "", "search", "rotate the signing certificate")
	expect(out, `(?m)^1\. Rotate the signing certificate$`, `(?m)cert\.md:1  handbook on 127\.0\.0\.1$`, `wiki on 127\.0\.0\.1: no node of the cluster answered`)
	out = m.run(0, "", "list")
	expect(out, `(?m)^near +ok +1 +1 +2\d+-.* /.*near$`,
		`(?m)^handbook +ok +2 +2 +- +`+regexp.QuoteMeta(url)+` \(docsearch server\)$`,
		`(?m)^wiki +unreachable +- +- +- +`+regexp.QuoteMeta(down)+` \(Weaviate cluster\): no node of the cluster answered`)
	var list []machine.Info
	if err := json.Unmarshal([]byte(m.run(0, "", "list", "--json")), &list); err != nil || len(list) != 3 {
		t.Fatalf("%d databases, %v", len(list), err)
	}
	for _, i := range list {
		if (i.Name == "handbook") != (i.Server == url) || (i.Name == "handbook") != (i.Passages == 2) || (i.Path == "") != (i.Server != "") || (i.State == "unreachable") != (i.Name == "wiki") {
			t.Errorf("list: %+v", i)
		}
	}
	expect(m.run(0, "", "index", "info", "handbook"), `server +`+regexp.QuoteMeta(url)+` \(docsearch server\), database handbook`, `passages +2 of 2 documents`)
	expect(m.run(1, "", "index", "info", "wiki"), `cannot ask for wiki on 127\.0\.0\.1: no node of the cluster answered`, `hint: run docsearch doctor`)

	// Named with or without the host; with a filter, an explanation, and as JSON.
	for _, name := range []string{"handbook", "handbook on 127.0.0.1"} {
		out = m.run(0, "", "search", "--db", name, "--filter", "*news*", "--explain", "signing certificate")
		expect(out, `(?m)^1\. Release notes$`, `127\.0\.0\.1 sends no parts of the score`)
		if strings.Contains(out, "deployctl") {
			t.Errorf("the filter has no effect: %s", out)
		}
	}
	var found struct {
		Hits      []hitJSON
		Databases []databaseResultJSON
	}
	if err := json.Unmarshal([]byte(m.run(0, "", "search", "--db", "handbook", "--json", "rotate the signing certificate")), &found); err != nil {
		t.Fatal(err)
	}
	if len(found.Hits) == 0 || found.Hits[0].Database != "handbook" || len(found.Databases) != 1 || found.Databases[0].Server != url || found.Databases[0].Path != "" {
		t.Errorf("search: %+v", found)
	}

	// Commands that need a local database name one that works.
	elsewhere := `the database "%s" is on 127\.0\.0\.1, and this command needs one on this machine\nhint: run docsearch %s`
	for _, tt := range []struct {
		args         []string
		name, advice string
	}{
		{[]string{"update", "handbook"}, "handbook", "search --db handbook QUERY"},
		{[]string{"cluster", "push", "handbook", "--to", down}, "handbook", "search --db handbook QUERY"},
		{[]string{"update", "wiki"}, "wiki", "cluster pull wiki-prod --from " + down + " --api-key-env PATH"},
		{[]string{"index", "verify", "wiki"}, "wiki", "index verify wiki-prod --cluster " + down + " --api-key-env PATH"},
		{[]string{"index", "remove", "wiki"}, "wiki", "index remove wiki-prod --cluster " + down + " --api-key-env PATH"},
	} {
		expect(m.run(1, "", tt.args...), fmt.Sprintf(elsewhere, tt.name, tt.advice))
	}

	stop()
	out = m.run(0, "", "list")
	expect(out, `(?m)^near +ok`, `(?m)^handbook +unreachable +- +- +- +`+regexp.QuoteMeta(url)+` \(docsearch server\): cannot connect to`)
	expect(m.run(0, "", "search", "moon phases moonctl"), `(?m)^1\. Moon phases$`, `handbook on 127\.0\.0\.1: `)
	expect(m.run(1, "", "search", "--db", "handbook", "moon"), `cannot connect to 127\.0\.0\.1`)
}
