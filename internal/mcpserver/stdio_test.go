package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// newTestStream serves two tools: "wait" blocks until its call is cancelled or
// release is closed, "echo" returns its argument.
func newTestStream(out io.Writer) (s *stdioConn, release chan struct{}) {
	release = make(chan struct{})
	m := server.NewMCPServer("test", "1", server.WithToolCapabilities(false), server.WithRecovery())
	m.AddTool(mcp.NewTool("wait"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		select {
		case <-release:
			return mcp.NewToolResultText("released"), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	m.AddTool(mcp.NewTool("echo"), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(r.GetString("text", "")), nil
	})
	return newStdioConn(m, slog.New(slog.DiscardHandler), out), release
}

func callLine(id any, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{"text":"x"}}}`+"\n", mustJSON(id), tool)
}

// answers returns the messages in out by ID.
func answers(t testing.TB, out []byte) map[string]json.RawMessage {
	t.Helper()
	got := make(map[string]json.RawMessage)
	for line := range bytes.Lines(out) {
		var m struct {
			ID json.RawMessage `json:"id"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("the answer is not JSON: %q", line)
		}
		if _, twice := got[string(m.ID)]; twice {
			t.Errorf("id %s was answered twice", m.ID)
		}
		got[string(m.ID)] = json.RawMessage(line)
	}
	return got
}

func TestStreamAnswersWhatIsInFlightAtTheEnd(t *testing.T) {
	var out bytes.Buffer
	s, release := newTestStream(&out)
	var in strings.Builder
	const n = 100
	for i := range n {
		in.WriteString(callLine(i, []string{"wait", "echo"}[i%2]))
	}
	time.AfterFunc(20*time.Millisecond, func() { close(release) })
	// The last line has no newline.
	if err := s.serve(t.Context(), strings.NewReader(strings.TrimSuffix(in.String(), "\n"))); err != nil {
		t.Fatal(err)
	}
	got := answers(t, out.Bytes())
	if len(got) != n {
		t.Errorf("%d of %d calls were answered", len(got), n)
	}
	for id, a := range got {
		if !bytes.Contains(a, []byte(`"result"`)) {
			t.Errorf("%s: %s", id, a)
		}
	}
}

func TestStreamAnswersInOrderAndAtOnce(t *testing.T) {
	in, client := io.Pipe()
	server, out := io.Pipe()
	s, release := newTestStream(out)
	defer close(release)
	ended := make(chan error, 1)
	go func() { ended <- s.serve(t.Context(), in) }()
	answers := bufio.NewReader(server)
	ask := func(message, want string) {
		t.Helper()
		if _, err := io.WriteString(client, message+"\n"); err != nil {
			t.Fatal(err)
		}
		got, err := answers.ReadString('\n')
		if err != nil || !strings.Contains(got, want) {
			t.Fatalf("%s was answered with %s (%v), want %s", message, got, err, want)
		}
	}
	// A long call does not delay other messages.
	io.WriteString(client, callLine("slow", "wait"))
	ask(`{"jsonrpc":"2.0","id":"server-discover-probe-1","method":"server/discover","params":{}}`, `"id":"server-discover-probe-1","error":{"code":-32601`)
	ask(`{"jsonrpc":"2.0","id":"x","method":"no/such"}`, `"id":"x","error":{"code":-32601`)
	ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, `"protocolVersion":"2025-11-25"`)
	ask(`this is no JSON`, `"id":null,"error":{"code":-32700`)
	ask(`{"jsonrpc":"2.0","id":2`, `"id":null,"error":{"code":-32700`)
	ask(`[1,2]`, `"id":null,"error":{"code":-32600`)
	ask(`"text"`, `"id":null,"error":{"code":-32600`)
	ask("\x00\xff\xfe", `"id":null,"error":{"code":-32700`)
	ask(`{"jsonrpc":"2.0","id":3,"method":"ping","params":{"x":"`+strings.Repeat("x", maxMessage)+`"}}`, `"id":null,"error":{"code":-32600`)
	ask("\n\r\n"+`{"jsonrpc":"2.0","id":4,"method":"ping"}`, `"id":4,"result"`)
	ask(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow"}}`, `"id":"slow"`)
	client.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestStreamEndsWithItsContext(t *testing.T) {
	in, client := io.Pipe()
	defer client.Close()
	var out bytes.Buffer
	s, _ := newTestStream(&out)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.serve(ctx, in) }()
	io.WriteString(client, callLine(1, "wait"))
	io.WriteString(client, "\n")
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestStreamSurvivesAPanic(t *testing.T) {
	var out bytes.Buffer
	s, _ := newTestStream(&out)
	hooks := &server.Hooks{}
	hooks.AddBeforePing(func(context.Context, any, *mcp.PingRequest) { panic("oh") })
	s.server = server.NewMCPServer("test", "1", server.WithHooks(hooks))
	in := `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"no/such"}`
	if err := s.serve(t.Context(), strings.NewReader(in)); err != nil {
		t.Fatal(err)
	}
	got := answers(t, out.Bytes())
	if !bytes.Contains(got["1"], []byte("-32603")) || !bytes.Contains(got["2"], []byte("-32601")) {
		t.Errorf("got %s", out.Bytes())
	}
}

// TestReadLines checks how readLines splits its input.
func TestReadLines(t *testing.T) {
	long := strings.Repeat("x", maxMessage)
	for _, tt := range []struct {
		name, in string
		want     []string // "" means a line that is too long
	}{
		{"nothing", "", nil},
		{"one", "a\n", []string{"a"}},
		{"no newline at the end", "a\nb", []string{"a", "b"}},
		{"blank lines", "\n \n\ta\n\r\n", []string{"\ta"}},
		{"longer than the buffer", strings.Repeat("y", 200_000) + "\nb\n", []string{strings.Repeat("y", 200_000), "b"}},
		{"as long as can be", long + "\nb\n", []string{long, "b"}},
		{"too long", long + "x\nb\n", []string{"", "b"}},
		{"too long at the end", "a\n" + long + "xx", []string{"a", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := collectLines(t, tt.in)
			if len(got) != len(tt.want) {
				t.Fatalf("%d lines, want %d", len(got), len(tt.want))
			}
			for i, want := range tt.want {
				if got := string(got[i]); got != want {
					t.Errorf("line %d has %d bytes, want %d", i, len(got), len(want))
				}
			}
		})
	}
}

func collectLines(t testing.TB, in string) [][]byte {
	t.Helper()
	lines, ended := make(chan []byte), make(chan error, 1)
	go func() {
		ended <- readLines(t.Context(), strings.NewReader(in), lines)
		close(lines)
	}()
	var got [][]byte
	for l := range lines {
		got = append(got, l)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return got
}

// FuzzStream checks that for any input, every output line is a JSON message and
// a later request is still answered.
func FuzzStream(f *testing.F) {
	for _, s := range []string{
		"", "\n\n", "x", "{}", "[]", "null", "0", `"s"`, "{\"id\":1}", callLine(1, "echo"), callLine("a", "none"),
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"method":"tools/call"}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"1.0","method":5}`, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":[]}",
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
		"\xff\x00\n{", `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{}}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		var out bytes.Buffer
		s, release := newTestStream(&out)
		close(release)
		const last = `"the last"`
		if err := s.serve(t.Context(), strings.NewReader(in+"\n"+`{"jsonrpc":"2.0","id":`+last+`,"method":"ping"}`)); err != nil {
			t.Fatal(err)
		}
		answered := false
		for line := range bytes.Lines(out.Bytes()) {
			if !json.Valid(line) {
				t.Fatalf("no JSON: %q", line)
			}
			answered = answered || bytes.Contains(line, []byte(last))
		}
		if !answered {
			t.Errorf("the last request was not answered: %s", out.Bytes())
		}
	})
}
