package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/indextest"
	"github.com/docsearch/docsearch/internal/index/leann"
)

// serveEnv keeps test servers away from the user's files.
func serveEnv(tb testing.TB) []string {
	dir := tb.TempDir()
	return []string{"DOCSEARCH_CONFIG_PATH=" + filepath.Join(dir, "config.json"), "DOCSEARCH_DATA=" + filepath.Join(dir, "data")}
}

// connect starts docsearch serve with the databases and returns a connected
// client.
func connect(t *testing.T, databases ...string) *client.Client {
	t.Helper()
	args := []string{"serve"}
	for _, db := range databases {
		args = append(args, "--db", db)
	}
	// TestMain adds this program to PATH under the name docsearch.
	c, err := client.NewStdioMCPClient("docsearch", serveEnv(t), args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("docsearch serve: %v", err)
		}
	})
	if _, err := c.Initialize(t.Context(), mcp.InitializeRequest{}); err != nil {
		t.Fatal(err)
	}
	return c
}

// search calls the search tool and returns its text.
func search(t *testing.T, c *client.Client, query string, databases ...string) string {
	t.Helper()
	r, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{
		Name: "search", Arguments: map[string]any{"query": query, "database": databases}}})
	if err != nil {
		t.Fatal(err)
	}
	return r.Content[0].(mcp.TextContent).Text
}

func rebuild(t *testing.T, dir string) {
	t.Helper()
	found, err := leann.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := index.Build(t.Context(), dir, index.FromLEANN(found), index.BuildOptions{}); err != nil {
		t.Fatal(err)
	}
}

// TestServeTwentyCallsAtOnce checks that concurrent calls are answered from the
// available databases, while one database is rebuilt and another one is
// corrupt.
func TestServeTwentyCallsAtOnce(t *testing.T) {
	good, moving, bad := indextest.Database(t, 300), indextest.Database(t, 300), indextest.Database(t, 300)
	c := connect(t, good, moving, bad)
	ctx := t.Context()
	for _, db := range []string{good, moving, bad} {
		if got := search(t, c, indextest.Question, db); !strings.Contains(got, indextest.Answer) {
			t.Fatalf("before: %s", got)
		}
	}
	g, err := generation.Current(bad)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bad, generation.Folder, "manifest.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	var builds sync.WaitGroup
	builds.Go(func() {
		for range 3 {
			rebuild(t, moving)
		}
	})
	var calls sync.WaitGroup
	for i := range 20 {
		calls.Go(func() {
			for range 5 {
				database := []string{good, moving, bad}[i%3]
				got := search(t, c, indextest.Question, database)
				if want := map[bool]string{false: indextest.Answer, true: "to fix it, run: docsearch index build " + bad}[database == bad]; !strings.Contains(got, want) {
					t.Errorf("call %d: %q is missing in\n%s", i, want, got)
				}
				if ctx.Err() != nil {
					return
				}
			}
		})
	}
	calls.Wait()
	builds.Wait()
	if got := search(t, c, indextest.Question); !strings.Contains(got, indextest.Answer) || !strings.Contains(got, "Note: ") {
		t.Errorf("all at once: %s", got)
	}
	rebuild(t, bad)
	if now, err := generation.Current(bad); err != nil || now.Generation == g.Generation {
		t.Fatalf("%v: the rebuild made generation %s", err, now.Generation)
	}
	if got := search(t, c, indextest.Question, bad); !strings.Contains(got, indextest.Answer) {
		t.Errorf("repaired: %s", got)
	}
}

// TestServeEndsAtSIGTERM checks that SIGTERM, with which clients stop their
// servers, ends the server immediately and without an error.
func TestServeEndsAtSIGTERM(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: Windows has no SIGTERM")
	}
	p := startServe(t, "docsearch", serveEnv(t))
	p.ask(pingLine)
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.cmd.Wait()
	if code := p.cmd.ProcessState.ExitCode(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

const (
	pingLine       = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	initializeLine = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
	listToolsLine  = `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`
)

// A process is a running docsearch serve with one request at a time.
type process struct {
	tb  testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startServe(tb testing.TB, binary string, env []string, args ...string) *process {
	tb.Helper()
	p := &process{tb: tb, cmd: exec.Command(binary, append([]string{"serve"}, args...)...)}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = os.Stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		tb.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	p.out = bufio.NewReaderSize(out, 1<<20)
	if err := p.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	return p
}

// ask sends a line and returns the next line of output.
func (p *process) ask(line string) string {
	p.tb.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.tb.Fatal(err)
	}
	answer, err := p.out.ReadString('\n')
	if err != nil || !strings.Contains(answer, `"result"`) {
		p.tb.Fatalf("%v: %s", err, answer)
	}
	return answer
}

func (p *process) close() {
	p.tb.Helper()
	p.in.Close()
	if err := p.cmd.Wait(); err != nil {
		p.tb.Error(err)
	}
}

// BenchmarkServeInitialize measures the time from process start to the response
// to initialize, with ten databases of 20,000 passages in the config. The limit
// is 15 ms, most of which is initialization of the program's libraries. x-empty
// is the ratio to the run time of an empty Go program.
func BenchmarkServeInitialize(b *testing.B) {
	programs, original := binary(b), indextest.Database(b, 20_000)
	var entries []map[string]any
	for i := range 10 {
		dir := filepath.Join(b.TempDir(), fmt.Sprintf("docs-%d", i))
		if err := os.CopyFS(dir, os.DirFS(original)); err != nil {
			b.Fatal(err)
		}
		entries = append(entries, map[string]any{"keywords": []string{fmt.Sprintf("docs-%d", i)}, "path": dir, "description": "Made-up documentation"})
	}
	data, err := json.Marshal(map[string]any{"databases": entries})
	if err != nil {
		b.Fatal(err)
	}
	configPath := filepath.Join(b.TempDir(), "config.json")
	if err := os.WriteFile(configPath, data, 0o644); err != nil {
		b.Fatal(err)
	}
	env := append(serveEnv(b), "DOCSEARCH_CONFIG_PATH="+configPath)
	var times, empties []time.Duration
	for b.Loop() {
		empties = append(empties, timed(b, exec.Command(filepath.Join(programs, executable("empty"))), ""))
		start := time.Now()
		p := startServe(b, filepath.Join(programs, executable("docsearch")), env)
		p.ask(initializeLine)
		answer := p.ask(listToolsLine)
		times = append(times, time.Since(start))
		if !strings.Contains(answer, "docs-9: Made-up documentation") {
			b.Fatalf("the description of search is not complete: %s", answer)
		}
		p.close()
	}
	b.ReportMetric(milliseconds(median(times))/milliseconds(median(empties)), "x-empty")
	reportPercentiles(b, times)
}

// BenchmarkServeSearch measures the time from writing a search call to reading
// the response, with a database of 20,000 passages. The limit is 3 ms.
func BenchmarkServeSearch(b *testing.B) {
	p := startServe(b, filepath.Join(binary(b), executable("docsearch")), serveEnv(b), "--db", indextest.Database(b, 20_000))
	defer p.close()
	p.ask(initializeLine)
	rng := rand.New(rand.NewPCG(3, 4))
	words := strings.Fields(indextest.Question)
	var times []time.Duration
	for b.Loop() {
		rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		query, err := json.Marshal(strings.Join(words[:4+rng.IntN(len(words)-4)], " "))
		if err != nil {
			b.Fatal(err)
		}
		line := fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":{"query":%s,"keywords":["zymotic"]}}}`, query)
		start := time.Now()
		p.ask(line)
		times = append(times, time.Since(start))
	}
	reportPercentiles(b, times)
}

func reportPercentiles(b *testing.B, times []time.Duration) {
	slices.Sort(times)
	b.ReportMetric(0, "ns/op")
	for _, p := range []int{50, 90, 99} {
		b.ReportMetric(milliseconds(times[len(times)*p/100]), fmt.Sprintf("p%d-ms", p))
	}
}
