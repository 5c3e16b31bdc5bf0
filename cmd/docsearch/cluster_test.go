package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/test/clustertest"
)

// TestClusterCommands runs the commands for a cluster with a real server that needs an API
// key.
func TestClusterCommands(t *testing.T) {
	c := clustertest.Start(t, 1, clustertest.Options{APIKeys: true})
	home := t.TempDir()
	docs := filepath.Join(home, "docs")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(docs, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(docs, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		write(fmt.Sprintf("page%d.md", i), fmt.Sprintf("# The command number%d\n\nRun number%d to start it.\n", i, i))
	}
	run := func(key string, args ...string) string {
		t.Helper()
		cmd := exec.Command("docsearch", args...)
		cmd.Env = append(os.Environ(), "HOME="+home, "USERPROFILE="+home, "DOCSEARCH_DATA="+filepath.Join(home, "data"), "WEAVIATE_KEY="+key)
		out, err := cmd.CombinedOutput()
		text := string(out)
		if err != nil {
			text += err.Error() + "\n"
		}
		if key != "" && strings.Contains(text, key) {
			t.Errorf("%v: the output contains the key: %s", args, text)
		}
		return text
	}
	expect := func(got, want string) {
		t.Helper()
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("output %q, want %q", got, want)
		}
	}
	to := []string{"--to", c.Nodes[0].URL, "--api-key-env", "WEAVIATE_KEY"}
	at := []string{"--cluster", c.Nodes[0].URL, "--api-key-env", "WEAVIATE_KEY"}
	push := append([]string{"cluster", "push", "docs"}, to...)
	expect(run("", "index", "build", docs), "docs: 40 passages")
	expect(run("", "cluster", "push", "docs", "--to", c.Nodes[0].URL), `does not accept the API key\nhint: pass --api-key-env VAR`)
	expect(run("wrong-key", push...), `does not accept the API key\n`)
	expect(run(clustertest.ReaderKey, push...), `the API key does not permit this: `)
	expect(run(clustertest.WriterKey, push...), `docs: 40 passages of 40 documents, pushed in .*; sent 41 objects`)
	expect(run(clustertest.WriterKey, push...), `docs: no changes`)
	write("page7.md", "# The command number7\n\nRun it twice.\n")
	expect(run("", "update", "docs"), "1 changed")
	expect(run(clustertest.WriterKey, append(push, "--json")...), `"incremental": true`)
	expect(run(clustertest.ReaderKey, append([]string{"list"}, at...)...), `(?m)^docs +- +40 +40 +20.* docs-[0-9a-f]{8}-[0-9a-f]{16}$`)
	expect(run(clustertest.ReaderKey, append([]string{"index", "verify"}, at...)...), `docs: valid; 40 passages of 40 documents on 1 node`)
	pull := []string{"cluster", "pull", "docs", "--name", "copy", "--from", c.Nodes[0].URL, "--api-key-env", "WEAVIATE_KEY"}
	expect(run(clustertest.ReaderKey, pull...), `copy: 40 passages of 40 documents`)
	expect(run(clustertest.ReaderKey, "update", "copy"), `copy: no changes`)
	expect(run(clustertest.ReaderKey, "search", "copy", "command number7 twice"), `Run it twice`)
	expect(run(clustertest.ReaderKey, append([]string{"index", "remove", "docs", "--yes"}, at...)...), `the API key does not permit this`)
	expect(run(clustertest.WriterKey, append([]string{"index", "remove", "docs", "--yes"}, at...)...), `removed the database docs from the cluster`)
	expect(run(clustertest.WriterKey, append([]string{"list"}, at...)...), `no databases; to push one`)
	expect(run(clustertest.ReaderKey, "update", "copy"), `the cluster does not contain the database`)
}
