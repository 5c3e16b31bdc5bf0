package format

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
)

func TestParseData(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string // headings and anchors of sections
		err      string
	}{
		{name: "config.yaml", in: "# Where the server listens.\nport: 80\n\n# Encryption.\ntls:\n  cert: a.pem\n", want: []string{"[port] []", "[tls] []"}},
		{name: "Config.TOML", in: "# Title.\ntitle = \"x\"\n\n# The server.\n[server.http]\nport = 80\n", want: []string{"[title] []", "[server.http] []"}},
		{name: "tsconfig.json", in: "{\n  // Where the output goes.\n  \"outDir\": \"dist\"\n}\n", want: []string{"[] []"}},
		{name: "a.graphql", in: "\"\"\"\nA book of the library.\n\"\"\"\ntype Book {\n  title: String\n}\n\nextend type Query { books: [Book] }\n\ndirective @auth on FIELD\n", want: []string{"[type Book] []", "[type Query] []", "[directive auth] []"}},
		{name: "a.proto", in: "syntax = \"proto3\";\n\n// A book.\nmessage Book {\n  string title = 1;\n}\n", want: []string{"[] []", "[message Book] []"}},
		{name: "api.yml", in: "openapi: 3.0.0\ninfo: {title: A}\npaths: {/a: {get: {operationId: getA}}}\n", want: []string{"[A] []", "[A Operations] [{tag/operations 3}]", "[A Operations getA (GET /a)] [{getA 5}]"}},
		{name: "api.json.gz", err: "not a gzip file", in: "{}"},
		{name: "package.json", in: `{"name": "x"}`, err: "data without comments"},
		{name: "data.yaml", in: "# one\n" + strings.Repeat("a: 1\n", 60), err: "data without comments"},
		{name: "huge.yaml", in: "# one\n" + strings.Repeat("# x\n", maxData/4), err: "data larger than 1 MiB"},
		{name: "api.yaml", in: "openapi: 3.0.0\npaths: [\n", err: "invalid YAML: "},
		{name: "empty.json", in: " ", err: "empty"},
	} {
		doc, err := ParserFor(tt.name)([]byte(tt.in), tt.name)
		if tt.err != "" || err != nil {
			if err == nil || !strings.HasPrefix(err.Error(), tt.err) || tt.err == "" {
				t.Errorf("%s: %v, want %q", tt.name, err, tt.err)
			}
			continue
		}
		var got []string
		for _, s := range doc.Sections {
			got = append(got, fmt.Sprint(s.Headings, " ", s.Anchors))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.name, diff)
		}
		ingesttest.CheckPassages(t, doc, 0)
	}
	for _, name := range []string{"package-lock.json", "a/pnpm-lock.yaml", `a\x.lock.json`, "npm-shrinkwrap.json"} {
		if ParserFor(name) != nil || UnsupportedReason(name) != "lock file" {
			t.Errorf("%s: %s", name, UnsupportedReason(name))
		}
	}
	if reason := UnsupportedReason("a.png"); reason != "unsupported file type: .png" || isLockFile("lock") {
		t.Errorf("a.png: %s", reason)
	}
}

func FuzzData(f *testing.F) {
	f.Add("a.json", []byte("{\n  // comment\n  \"a\": [1, {\"b\": null}]\n}"))
	f.Add("a.yaml", []byte("# comment\na: &x {b: 1}\nc: *x\n"))
	f.Add("a.toml", []byte("# comment\n[[a.b]]\nc = \"d\"\n"))
	f.Add("a.graphql", []byte("\"\"\"\ntext\n\"\"\"\ntype A {\n b: C!\n}\n"))
	f.Add("a.yaml", []byte("swagger: '2.0'\npaths: {/a: {post: {parameters: [{in: body, schema: {properties: {a: {}}}}]}}}\n"))
	f.Fuzz(func(t *testing.T, name string, in []byte) {
		parse := ParserFor(name)
		if parse == nil || len(in) > 1<<16 || (Limit(name) == MaxFile && !strings.HasSuffix(name, ".graphql")) {
			return
		}
		doc, err := parse(in, name)
		if err == nil {
			ingesttest.CheckPassages(t, doc, 0)
		}
	})
}
