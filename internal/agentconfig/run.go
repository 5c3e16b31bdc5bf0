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

	"github.com/docsearch/docsearch/internal/file/execpath"
)

// An Outcome is the result of a hook run.
type Outcome struct {
	Decision string // "deny", "allow", or "" without a decision
	Reason   string
	Context  string
	Message  string // for the person
	Code     int    // exit code
	Stderr   string // without the reason of a denial
	Took     time.Duration
}

// An output is the output of a hook's process.
type output struct {
	stdout, stderr string
	code           int
}

// RunHook sends an event to the hook that cmd starts and reads its output, both
// as Claude Code does. Output that Claude Code would discard is an error.
func RunHook(cmd *exec.Cmd, event any) (Outcome, error) {
	o, raw, err := run(cmd, event)
	if err != nil {
		return o, err
	}
	if raw.stdout == "" {
		if o.Code == 2 {
			o.Decision, o.Reason, o.Stderr = "deny", o.Stderr, ""
		}
		return o, nil
	}
	answer, err := raw.answer()
	if err != nil {
		return o, err
	}
	if answer.Output.Event != "PreToolUse" {
		return o, fmt.Errorf("invalid output: wrong event %q", answer.Output.Event)
	}
	o.Decision, o.Reason, o.Context, o.Message = answer.Output.Decision, answer.Output.Reason, answer.Output.Context,
		answer.Message
	o.Stderr = strings.TrimSpace(strings.Replace(o.Stderr, o.Reason, "", 1))
	return o, nil
}

// RunHook sends an event to the hook that cmd starts and reads its output, both
// as the client does.
func (c *Client) RunHook(cmd *exec.Cmd, event any) (Outcome, error) {
	if c.answer == nil {
		return RunHook(cmd, event)
	}
	o, raw, err := run(cmd, event)
	if err != nil {
		return o, err
	}
	o.Decision, o.Reason = c.answer(raw)
	o.Stderr = strings.TrimSpace(strings.Replace(o.Stderr, o.Reason, "", 1))
	return o, nil
}

// exitAnswer reads the decision from the exit code.
func exitAnswer(o output) (decision, reason string) {
	if o.code == 2 {
		return "deny", strings.TrimSpace(o.stderr)
	}
	return "", ""
}

// decisionAnswer reads the decision from the member "decision".
func decisionAnswer(o output) (decision, reason string) {
	answer, err := o.answer()
	if err != nil {
		return "", ""
	}
	if answer.Decision == "block" {
		return "deny", answer.Reason
	}
	return answer.Decision, answer.Reason
}

// An answer is the JSON that a hook prints.
type answer struct {
	Output struct {
		Event    string `json:"hookEventName"`
		Decision string `json:"permissionDecision"`
		Reason   string `json:"permissionDecisionReason"`
		Context  string `json:"additionalContext"`
	} `json:"hookSpecificOutput"`
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
	Message  string `json:"systemMessage"`
}

func (o output) answer() (a answer, err error) {
	if err := json.Unmarshal([]byte(o.stdout), &a); err != nil {
		return a, fmt.Errorf("invalid output: want one JSON object, got %s", firstLine(o.stdout))
	}
	return a, nil
}

// run sends an event to a hook. An exit code other than 0 and 2 is an error.
func run(cmd *exec.Cmd, event any) (Outcome, output, error) {
	input, err := json.Marshal(event)
	if err != nil {
		return Outcome{}, output{}, err
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &stdout, &stderr
	start := time.Now()
	err = cmd.Run()
	o := Outcome{Took: time.Since(start), Stderr: strings.TrimSpace(stderr.String())}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return o, output{}, err
	}
	if o.Code = cmd.ProcessState.ExitCode(); o.Code != 0 && o.Code != 2 {
		return o, output{}, fmt.Errorf("exit code %d: %s", o.Code, firstLine(o.Stderr))
	}
	return o, output{stdout.String(), stderr.String(), o.Code}, nil
}

// Shell returns the command that runs a program's hook as Claude Code runs the
// command that install writes.
func Shell(ctx context.Context, program string) *exec.Cmd {
	return shellCommand(ctx, HookCommand(User, program), program, "hook")
}

// Command returns the command that runs a hook of the client. If the entry is as
// install writes it, that is its command line; otherwise, it is that of a new
// entry for program, because the doctor must not run the text of other people.
func (c *Client) Command(ctx context.Context, h Hook, program string) *exec.Cmd {
	v := invocation{scope: h.Scope, client: c.Name, exitCode: c.exitCode}
	line := v.command(program)
	if v.command(h.Program) == h.Command {
		line = h.Command
	}
	return shellCommand(ctx, line, program, "hook", "--client", c.Name)
}

// shellCommand returns a command that runs a command line in the shell of hooks, or the
// program if there is no such shell.
func shellCommand(ctx context.Context, line, program string, args ...string) *exec.Cmd {
	sh := "/bin/sh"
	if runtime.GOOS == "windows" {
		var err error
		if sh, err = execpath.Find("sh"); err != nil {
			return exec.CommandContext(ctx, program, args...) // the shell of Git may not be on PATH
		}
	}
	return exec.CommandContext(ctx, sh, "-c", line)
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
