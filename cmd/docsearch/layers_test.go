package main

import (
	"os/exec"
	"strings"
	"testing"
)

// layers are the packages from the top of the program to its base. A package imports
// packages of its own layer and of those below, never of one above. The longest
// prefix that matches decides.
var layers = [][]string{
	{"cmd", "test"},
	{"internal/agentconfig/installation", "internal/cluster/clustersearch", "internal/doctor", "internal/eval/judge", "internal/eventlog/activity", "internal/eventlog/replay", "internal/hook/explain", "internal/hook/startup", "internal/hook/crashguard", "internal/hook/uncached", "internal/httpserver", "internal/library", "internal/mcpserver", "internal/notes/notegaps", "internal/remote", "internal/setup", "internal/web", "recipes"},
	{"internal/hook/lookup", "internal/rules/check"},
	{"internal/hook"},
	{"internal/cluster", "internal/config/edit", "internal/config/load", "internal/ingest", "internal/notes/notebook", "internal/pack"},
	{"internal/ingest/source"},
	{"internal/ingest/chunk", "internal/ingest/format", "internal/ingest/secret"},
	{"internal/ingest/format/asciidoc", "internal/ingest/format/code", "internal/ingest/format/docbook", "internal/ingest/format/html", "internal/ingest/format/info", "internal/ingest/format/man", "internal/ingest/format/markdown", "internal/ingest/format/mdwriter", "internal/ingest/format/office", "internal/ingest/format/openapi", "internal/ingest/format/org", "internal/ingest/format/pdf", "internal/ingest/format/pod", "internal/ingest/format/rst", "internal/ingest/format/xmltree"},
	{"internal/ingest/document"},
	{"internal/rules", "internal/notes", "internal/agentconfig", "internal/index/indextest", "internal/hook/host"},
	{"internal/config/decode", "internal/eventlog", "internal/project", "internal/hook/match", "internal/hook/event", "internal/hook/deadline", "internal/hook/sessionfile", "internal/index"},
	{"internal/index/dense", "internal/index/embed", "internal/index/leann", "internal/index/lexical", "internal/index/quicksearch"},
	{"internal/index/container", "internal/index/generation", "internal/index/passage", "internal/index/urlmatch", "internal/index/vecmath"},
	{"internal/config", "internal/background", "internal/humanize/terminal", "internal/httpserver/accesstoken", "internal/sitefilter", "internal/provenance", "internal/safetext", "internal/hook/rawjson", "internal/rules/pattern", "internal/rules/shell", "docs", "plugin"},
	{"internal/buildversion", "internal/file", "internal/loopback", "internal/parallel", "internal/progress", "internal/eval", "internal/humanize", "internal/usererror"},
}

// TestLayers holds the layers of docs/architecture.md. Only the programs import the
// package whose init function ends the process.
func TestLayers(t *testing.T) {
	const module = "github.com/docsearch/docsearch/"
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		paths := strings.Fields(strings.ReplaceAll(line, module, ""))
		importer := paths[0]
		for _, imported := range paths[1:] {
			if imported == "internal/hook/startup" && importer != "cmd/docsearch" && importer != "cmd/docsearch-hook" {
				t.Errorf("%s imports %s, which can end the process", importer, imported)
			}
			from, to := layerOf(importer), layerOf(imported)
			switch {
			case from < 0:
				t.Errorf("%s is in no layer", importer)
			case 0 <= to && to < from:
				t.Errorf("%s (layer %d) imports %s (layer %d) upwards", importer, from, imported, to)
			}
		}
	}
}

// layerOf returns the place in layers of a package's longest prefix, -1 if there is
// none.
func layerOf(path string) int {
	layer, longest := -1, 0
	for i, prefixes := range layers {
		for _, prefix := range prefixes {
			if (path == prefix || strings.HasPrefix(path, prefix+"/")) && len(prefix) > longest {
				layer, longest = i, len(prefix)
			}
		}
	}
	return layer
}
