package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/docs"
	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/doctor"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
)

func newDemoCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show docsearch at work in a temporary folder",
		Long: `Show docsearch at work in a temporary folder. The demo builds a database from
docsearch's own documentation, sends a web search to the hook, makes the MCP call
from the denial, and sends the search again. It runs this binary as hook and
server. It does not read or change your files.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			program, err := os.Executable()
			if err != nil {
				return fmt.Errorf("cannot find this program: %w", err)
			}
			dir, err := os.MkdirTemp("", "docsearch-demo-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(dir)
			// A closed output pipe (SIGPIPE) must not leave the folder behind.
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGPIPE)
			defer stop()
			d := &demo{app: a, Steps: terminal.NewSteps(a.stdout), program: program, dir: dir}
			err = d.run(ctx)
			if ctx.Err() != nil {
				return exitStatus(exitFailure)
			}
			return err
		},
	}
}

// Queries of the demo. docsearch's documentation answers the first; the second
// contains the keyword but is off topic.
const (
	demoQuestion = "docsearch escape hatch: how does a denied web search go through"
	demoOffTopic = "docsearch weather in Paris on Sunday"
)

// A demo runs the real hook, server and index builder in a temporary home.
type demo struct {
	*app
	*terminal.Steps
	program string
	dir     string
	denial  agentconfig.Outcome // of the first search
}

func (d *demo) run(ctx context.Context) error {
	d.Text("This demo uses a database of docsearch's own documentation. It runs in a " +
		"temporary folder and does not read or change your settings.")
	for _, step := range []func(context.Context) error{d.build, d.search, d.ask, d.searchAgain, d.searchOffTopic} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	d.Title("Use your own documentation")
	d.Command("docsearch setup django")
	d.Command("docsearch setup project ~/src/project/docs")
	d.Text("Each command builds a database, adds it to the config file, and offers to add the " +
		"hook and the MCP server to the settings of your agents. To list the names that " +
		"docsearch knows, run docsearch recipes list.")
	return nil
}

// build builds the database and writes a config that lists it.
func (d *demo) build(ctx context.Context) error {
	d.Step("Build a database")
	source := filepath.Join(d.dir, "docs")
	if err := os.CopyFS(source, docs.Files); err != nil {
		return fmt.Errorf("cannot write the documentation to %s: %w", source, err)
	}
	config, err := json.Marshal(map[string]any{"databases": []any{map[string]any{
		"keywords": []string{"docsearch"}, "path": filepath.Join(d.dir, "data", "docsearch"),
		"description": "docsearch documentation",
	}}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(d.configPath(), config, 0o600); err != nil {
		return err
	}
	d.Command("docsearch index build docs --name docsearch")
	var problems bytes.Buffer // and the progress
	build := d.docsearch(ctx, "index", "build", source, "--name", "docsearch")
	build.Stderr = &problems
	out, err := build.Output()
	if err != nil {
		return fmt.Errorf("cannot build the database: %w: %s", err, doctor.FirstLine(problems.String()))
	}
	d.Quote(string(out), 6)
	d.Text(`The config file lists the keyword "docsearch": the hook searches the database if a web search contains it.`)
	return nil
}

// search sends a web search through the hook, which denies it.
func (d *demo) search(ctx context.Context) error {
	d.Step("The agent searches the web")
	d.WebSearch(demoQuestion)
	d.Text("Before Claude Code runs the tool, it runs the hook:")
	d.Command("docsearch hook < event.json")
	o, err := d.hook(ctx, demoQuestion)
	if err != nil {
		return err
	}
	if o.Decision != "deny" {
		return fmt.Errorf("the hook did not deny the search, although the documentation answers it: %s", o.Stderr)
	}
	d.Text(fmt.Sprintf("The hook denied it in %s. You would see this in the session:", o.Took.Round(time.Millisecond)))
	d.Quote(o.Message, 10)
	d.Quote(o.Reason, 10)
	d.Text(fmt.Sprintf("The model receives the second line and %d characters of passages:",
		utf8.RuneCountInString(o.Context)))
	d.Quote(o.Context, 14)
	d.denial = o
	return nil
}

// ask runs the tool call that the denial contains.
func (d *demo) ask(ctx context.Context) error {
	d.Step("The agent searches further")
	tool, arguments, err := namedCall(d.denial.Context)
	if err != nil {
		return err
	}
	d.Call(tool + " " + string(arguments))
	d.Text("Claude Code started the MCP server with the session:")
	d.Command("docsearch serve")
	session, err := agentconfig.StartServer(ctx, func(ctx context.Context) *exec.Cmd { return d.docsearch(ctx, "serve") })
	if err != nil {
		return fmt.Errorf("cannot start the MCP server: %w", err)
	}
	defer session.Close()
	start := time.Now()
	answer, err := session.Call(ctx, tool[strings.LastIndex(tool, "__")+2:], arguments)
	if err != nil {
		return err
	}
	d.Text(fmt.Sprintf("The server returned to the model in %s:", time.Since(start).Round(time.Millisecond)))
	d.Quote(answer, 20)
	return nil
}

// searchAgain repeats the search, which the hook does not deny.
func (d *demo) searchAgain(ctx context.Context) error {
	took, err := d.searchUsual(ctx, "The agent retries the web search", demoQuestion,
		"the hook denied the retry of a search")
	if err == nil {
		d.Text(fmt.Sprintf("The hook returned no decision in %s, so the web search runs as usual. "+
			"The hook never denies a retry.", took.Round(time.Millisecond)))
	}
	return err
}

// searchOffTopic sends a search that the documentation does not answer.
func (d *demo) searchOffTopic(ctx context.Context) error {
	_, err := d.searchUsual(ctx, "The documentation does not have the answer", demoOffTopic,
		"the hook denied a search that the documentation does not answer")
	if err == nil {
		d.Text("The search contains the keyword, but no passage answers it. The hook does not " +
			"deny it, and the web search runs as usual.")
	}
	return err
}

// searchUsual sends a search that runs as usual. denied is the error if the hook denies it.
func (d *demo) searchUsual(ctx context.Context, title, query, denied string) (took time.Duration, err error) {
	d.Step(title)
	d.WebSearch(query)
	o, err := d.hook(ctx, query)
	if err == nil && o.Decision != "" {
		err = errors.New(denied)
	}
	return o.Took, err
}

func (d *demo) hook(ctx context.Context, query string) (agentconfig.Outcome, error) {
	o, err := agentconfig.RunHook(d.docsearch(ctx, "hook"), map[string]any{
		"session_id": "demo", "prompt_id": "demo", "hook_event_name": "PreToolUse", "tool_name": "WebSearch",
		"tool_input": map[string]string{"query": query},
	})
	if err != nil {
		return o, fmt.Errorf("cannot run the hook: %w", err)
	}
	return o, nil
}

// docsearch returns a command that runs this program in the demo's home.
func (d *demo) docsearch(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, d.program, args...)
	cmd.Args[0] = "docsearch"
	cmd.Dir = d.dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "DOCSEARCH_") && !strings.HasPrefix(v, "CLAUDE_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env,
		"DOCSEARCH_CONFIG_PATH="+d.configPath(),
		"DOCSEARCH_DATA="+filepath.Join(d.dir, "data"),
		"DOCSEARCH_CACHE_DIR="+filepath.Join(d.dir, "cache"),
		doctor.HookTimeoutVariable+"=10000") // show the hook's answer even on a busy machine
	return cmd
}

func (d *demo) configPath() string { return filepath.Join(d.dir, "config.json") }

// namedCall extracts the tool call from a denial, as the agent does. It follows the passages,
// which may quote calls.
func namedCall(denial string) (tool string, arguments json.RawMessage, err error) {
	found := regexp.MustCompile(`(?m)^(mcp__\w+) (\{.*\})$`).FindAllStringSubmatch(denial, -1)
	if len(found) == 0 {
		return "", nil, errors.New("the denial does not contain a call")
	}
	last := found[len(found)-1]
	if !json.Valid([]byte(last[2])) {
		return "", nil, errors.New("the denial does not contain a call with JSON arguments")
	}
	return last[1], json.RawMessage(last[2]), nil
}
