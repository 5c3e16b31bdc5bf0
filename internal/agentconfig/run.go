package agentconfig

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// An Outcome is the result of a hook run.
type Outcome struct {
	Decision string // "deny", "allow", or "" without a decision
	Reason   string
	Context  string
	Code     int    // exit code
	Stderr   string // without the reason of a denial
	Took     time.Duration
}

// RunHook sends an event to the hook that cmd starts and reads its output, both
// as Claude Code does. Output that Claude Code would discard is an error.
func RunHook(cmd *exec.Cmd, event any) (Outcome, error) {
	input, err := json.Marshal(event)
	if err != nil {
		return Outcome{}, err
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &stdout, &stderr
	start := time.Now()
	err = cmd.Run()
	o := Outcome{Took: time.Since(start), Stderr: strings.TrimSpace(stderr.String())}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return o, err
	}
	if o.Code = cmd.ProcessState.ExitCode(); o.Code != 0 && o.Code != 2 {
		return o, fmt.Errorf("exit code %d: %s", o.Code, firstLine(o.Stderr))
	}
	if stdout.Len() == 0 {
		if o.Code == 2 {
			o.Decision, o.Reason, o.Stderr = "deny", o.Stderr, ""
		}
		return o, nil
	}
	var answer struct {
		Output struct {
			Event    string `json:"hookEventName"`
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
			Context  string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(stdout.Bytes(), &answer); err != nil {
		return o, fmt.Errorf("invalid output: want one JSON object, got %s", firstLine(stdout.String()))
	}
	if answer.Output.Event != "PreToolUse" {
		return o, fmt.Errorf("invalid output: wrong event %q", answer.Output.Event)
	}
	o.Decision, o.Reason, o.Context = answer.Output.Decision, answer.Output.Reason, answer.Output.Context
	o.Stderr = strings.TrimSpace(strings.Replace(o.Stderr, o.Reason, "", 1))
	return o, nil
}

// Shell returns the command that runs a program's hook as Claude Code runs the
// command that install writes.
func Shell(ctx context.Context, program string) *exec.Cmd {
	sh := "/bin/sh"
	if runtime.GOOS == "windows" {
		var err error
		if sh, err = exec.LookPath("sh"); err != nil {
			return exec.CommandContext(ctx, program, "hook") // the shell of Git may not be on PATH
		}
	}
	return exec.CommandContext(ctx, sh, "-c", HookCommand(User, program))
}

// A Session is a connection to an MCP server that it started.
type Session struct {
	client *client.Client
	stderr lines

	Server string // name and version that the server reports
	Tools  []string
	Took   time.Duration // until the response to initialize
}

// StartServer starts an MCP server and lists its tools. start creates the command
// for the server process.
func StartServer(ctx context.Context, start func(context.Context) *exec.Cmd) (*Session, error) {
	s := &Session{}
	began := time.Now()
	c, err := client.NewStdioMCPClientWithOptions("docsearch", nil, nil,
		transport.WithCommandFunc(func(ctx context.Context, _ string, _, _ []string) (*exec.Cmd, error) {
			return start(ctx), nil
		}),
		transport.WithCommandStderrWriter(&s.stderr))
	if err != nil {
		return nil, err
	}
	s.client = c
	hello := mcp.InitializeRequest{}
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "docsearch", Version: "1"}
	answer, err := c.Initialize(ctx, hello)
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("no response to initialize: %w%s", err, s.stderrLine())
	}
	s.Took = time.Since(began)
	s.Server = answer.ServerInfo.Name + " " + answer.ServerInfo.Version
	tools, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("no response to tools/list: %w%s", err, s.stderrLine())
	}
	for _, tool := range tools.Tools {
		s.Tools = append(s.Tools, tool.Name)
	}
	return s, nil
}

// Call calls a tool and returns the text of the result.
func (s *Session) Call(ctx context.Context, tool string, arguments any) (string, error) {
	call := mcp.CallToolRequest{}
	call.Params.Name, call.Params.Arguments = tool, arguments
	answer, err := s.client.CallTool(ctx, call)
	if err != nil {
		return "", fmt.Errorf("cannot call %s: %w", tool, err)
	}
	var text strings.Builder
	for _, content := range answer.Content {
		if part, ok := content.(mcp.TextContent); ok {
			text.WriteString(part.Text)
		}
	}
	if answer.IsError {
		return "", fmt.Errorf("cannot call %s: %s", tool, text.String())
	}
	return text.String(), nil
}

// Close closes the connection and stops the server.
func (s *Session) Close() error { return s.client.Close() }

// stderrLine returns the first line of the server's stderr as the suffix of an
// error.
func (s *Session) stderrLine() string {
	if line := firstLine(s.stderr.String()); line != "" {
		return ": " + line
	}
	return ""
}

// A lines is a buffer that is safe for concurrent use.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
