package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// writeTranscripts writes transcripts of made-up sessions into a folder and
// returns the number of tool calls.
func writeTranscripts(tb testing.TB, folder string, n int) (calls int) {
	tb.Helper()
	at := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	filler := bytes.Repeat([]byte("a line of a file that was read\n"), 100)
	for i := range n {
		project := filepath.Join(folder, fmt.Sprintf("-src-project%d", i%20))
		if err := os.MkdirAll(project, 0o755); err != nil {
			tb.Fatal(err)
		}
		session := fmt.Sprintf("%08d-aaaa-bbbb-cccc-dddddddddddd", i)
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		line := func(kind string, content any) {
			at = at.Add(time.Second)
			if err := enc.Encode(map[string]any{
				"type": kind, "sessionId": session, "cwd": "/src/project", "isSidechain": false,
				"timestamp": at.Format(time.RFC3339Nano), "message": map[string]any{"role": kind, "content": content},
			}); err != nil {
				tb.Fatal(err)
			}
		}
		use := func(name string, input map[string]any) {
			id := fmt.Sprintf("toolu_%d_%d", i, calls)
			calls++
			line("assistant", []any{map[string]any{"type": "tool_use", "id": id, "name": name, "input": input}})
			line("user", []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": string(filler)}})
		}
		line("user", "mend the pipeline")
		for j := range 10 {
			use("Bash", map[string]any{"command": fmt.Sprintf("make test-%d", j), "description": "Run the tests"})
			use("Read", map[string]any{"file_path": "/src/project/main.go"})
			use("Edit", map[string]any{"file_path": "/src/project/main.go", "old_string": "a", "new_string": "func b() {}"})
		}
		use("WebSearch", map[string]any{"query": "widget spin backwards"})
		use("WebSearch", map[string]any{"query": fmt.Sprintf("weather in town %d", i)})
		use("Bash", map[string]any{"command": "kubectl get pods"})
		if err := os.WriteFile(filepath.Join(project, session+".jsonl"), b.Bytes(), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return calls
}

// BenchmarkReplay replays 2,000 transcripts with the real program.
func BenchmarkReplay(b *testing.B) {
	folder := b.TempDir()
	const sessions = 2000
	calls := writeTranscripts(b, folder, sessions)
	home := b.TempDir()
	docs := filepath.Join(home, "docs")
	if err := os.MkdirAll(docs, 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(docs, "widget.md"), []byte("# Widgets\n\nA widget is spun.\n\n## Spin a widget backwards\n\nTurn the crank of the widget to the left: it spins backwards.\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	data := filepath.Join(home, "widget")
	env := append(os.Environ(), "HOME="+home, "DOCSEARCH_CONFIG_PATH="+filepath.Join(home, "config.json"))
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(binary(b), executable("docsearch")), args...)
		cmd.Env = env
		return cmd
	}
	if out, err := command("index", "build", docs, "--out", data).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	config := fmt.Sprintf(`{"databases": [{"keywords": ["widget"], "path": %q, "description": "Widgets", "mode": "redirect"}],
		"routes": {"kubectl": {"command_pattern": "^kubectl\\s", "message": "Use the dashboard."}}}`, data)
	if err := os.WriteFile(filepath.Join(home, "config.json"), []byte(config), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		cmd := command("replay", folder, "--show", "0")
		out, err := cmd.Output()
		if err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		if !bytes.Contains(out, []byte("2,000 denied of 22,000")) {
			b.Fatalf("got %s", out)
		}
		b.ReportMetric(float64(peakMemory(cmd.ProcessState))/1e6, "MB-peak")
	}
	b.ReportMetric(float64(calls)*float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}
