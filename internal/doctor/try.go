package doctor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/usererror"
)

// HookTimeoutVariable overrides "timeout_ms" of the config's "hook".
const HookTimeoutVariable = "DOCSEARCH_HOOK_TIMEOUT_MS"

// TryHook sends a web search to the hook of this program, in a session of its own. The hook
// may take longer than in an agent.
func TryHook(ctx context.Context, query string) (agentconfig.Outcome, error) {
	state, err := os.MkdirTemp("", "docsearch-setup-")
	if err != nil {
		return agentconfig.Outcome{}, err
	}
	defer os.RemoveAll(state)
	ctx, cancel := context.WithTimeout(ctx, CheckTimeout)
	defer cancel()
	cmd, err := thisProgram(ctx, "hook")
	if err != nil {
		return agentconfig.Outcome{}, err
	}
	cmd.Env = append(os.Environ(), "DOCSEARCH_STATE_DIR="+state)
	if os.Getenv(HookTimeoutVariable) == "" {
		cmd.Env = append(cmd.Env, HookTimeoutVariable+"=10000") // the first start of a program may be slow
	}
	return agentconfig.RunHook(cmd, map[string]any{
		"session_id": "setup", "hook_event_name": "PreToolUse", "tool_name": "WebSearch",
		"tool_input": map[string]string{"query": query},
	})
}

// TryServer searches a database through the MCP server of this program, and returns the
// answer with the time of the search.
func TryServer(ctx context.Context, query, database string) (answer string, took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, CheckTimeout)
	defer cancel()
	cmd, err := thisProgram(ctx, "serve")
	if err != nil {
		return "", 0, err
	}
	session, err := agentconfig.StartServer(ctx, func(context.Context) *exec.Cmd { return cmd })
	if err != nil {
		return "", 0, usererror.WithHint(fmt.Errorf("cannot start the MCP server: %w", err),
			"run docsearch doctor to check the installation")
	}
	defer session.Close()
	start := time.Now()
	answer, err = session.Call(ctx, "search", map[string]any{"query": query, "database": database, "top_k": 3})
	return answer, time.Since(start), err
}

// thisProgram returns a command that runs this program.
func thisProgram(ctx context.Context, args ...string) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Args[0] = "docsearch"
	return cmd, nil
}
