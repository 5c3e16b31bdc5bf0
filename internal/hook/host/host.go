// Package host answers each host in its own terms: exit code, JSON, which text goes where,
// the names of tools, and the events that take a context. Package event reads what they
// send.
package host

import (
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/rawjson"
)

// A Verdict is the hook's ruling on a tool call.
type Verdict string

const (
	Pass  Verdict = ""      // no decision: the call runs as usual
	Deny  Verdict = "deny"  // the call does not run
	Allow Verdict = "allow" // the call runs without a permission prompt
	Ask   Verdict = "ask"   // the client asks the user
)

// A Reply is a decision about an event, before it is put into a host's format.
type Reply struct {
	Verdict Verdict
	Reason  string // of any verdict except Pass
	Context string // additional text for the agent
	Message string // one line for the person, in hosts that show one
}

// An Output is a reply in a host's format.
type Output struct {
	Stdout []byte
	Stderr string
	Code   int
}

// Exit codes as the hosts read them.
const (
	ExitPass = 0
	ExitDeny = 2
)

// A Client describes how a host is answered.
type Client struct {
	Host event.Host
	// Loader is the tool that loads the schema of another one, by {"query": "select:NAME"}.
	// It is empty if the host loads all tools at once.
	Loader string
	// Volatile reports that the host does not store the context of a session with the
	// conversation. It is needed again when the host restarts.
	Volatile bool
	// MaxReason limits the text of a denial in bytes, of which the agent sees no more and no
	// context. It is 0 for hosts without such a limit.
	MaxReason int
	// Nothing is an output without effect. It is for hosts that show the person the stderr of a
	// hook without one, before and after each call.
	Nothing []byte
	// CompactsOnce reports that PostCompact is the only event of a compaction.
	CompactsOnce bool

	contexts []string // events whose context reaches the agent
	prefix   string   // of an MCP tool's name
	joint    string   // between the server's and the tool's name
	reversed bool     // the tool's name comes before the server's
	through  through  // tool that calls the tools of servers
	permits  bool     // the host understands the verdicts Allow and Ask
	messages bool     // the host shows the person a message with an answer
	callName func(e *event.Event) string
	render   func(e *event.Event, r Reply) Output
}

var clients = [...]*Client{
	&codex, &gemini, &copilot, &openCode, &qwen, &crush, &cursor, &vsCode, &windsurf, &goose, &kiro, &grok, &droid, &devin,
	&cline, &auggie,
}

// Of returns the description of a host.
func Of(h event.Host) *Client {
	for _, c := range clients {
		if c.Host == h {
			return c
		}
	}
	return &claude
}

// Render puts a reply into the host's format. If the host cannot ask its user, a call with
// the verdict Ask is denied: it must not run without confirmation.
func (c *Client) Render(e *event.Event, r Reply) Output {
	if !c.messages {
		r.Message = ""
	}
	switch {
	case r.Verdict == Ask && !c.permits:
		r.Verdict = Deny
	case r.Verdict == Allow && !c.permits, r.Verdict == Pass && !c.TakesContext(e.Name):
		r = Reply{}
	}
	return c.render(e, r)
}

// TakesContext reports whether the host shows the agent a context for an event that is not
// denied.
func (c *Client) TakesContext(name string) bool { return slices.Contains(c.contexts, name) }

// ShowsContext reports whether the agent is known to see the context of a denial. In Claude
// Code it does since 2.1.9; the event has a prompt_id since 2.1.196. All other hosts without
// a MaxReason show it, most of them as part of the reason.
func (c *Client) ShowsContext(e *event.Event) bool {
	return c.MaxReason == 0 && (c.Host != event.Claude || e.PromptID != "")
}

// LoadsSearch reports whether the agent sees the description of docsearch's search tool
// from the start of a session. The tool asks Claude Code for that.
func (c *Client) LoadsSearch() bool { return c.Loader == "" || c.Host == event.Claude }

// ToolName returns the name under which the agent calls an MCP tool ("mcp__server__tool").
func (c *Client) ToolName(tool string) string {
	server, ok := config.ServerName(tool)
	if !ok {
		return tool
	}
	name := tool[strings.LastIndex(tool, "__")+2:]
	if c.reversed {
		return c.prefix + name + c.joint + server
	}
	return c.prefix + server + c.joint + name
}

// through is a tool that calls the tools of MCP servers, with the names of its arguments. It is
// empty if the agent calls them directly.
type through struct{ tool, name, arguments string }

// CallsThrough reports whether the agent calls the tools of MCP servers through another tool,
// which needs no loading of them. Qwen Code does since its events have a prompt_id.
func (c *Client) CallsThrough(e *event.Event) bool {
	return c.through.tool != "" && (c.Host != event.Qwen || e.PromptID != "")
}

// Call returns the call of an MCP tool ("mcp__server__tool") with JSON arguments, as the agent
// makes it.
func (c *Client) Call(e *event.Event, tool, arguments string) string {
	name := c.ToolName(tool)
	if !c.CallsThrough(e) {
		return name + " " + arguments
	}
	t := &c.through
	return t.tool + ` {"` + t.name + `": "` + name + `", "` + t.arguments + `": ` + arguments + "}"
}

// CommonName returns the full name "mcp__server__tool" of an MCP tool from its name in an
// event. If the name can be split into server and tool in several ways, known decides, and
// otherwise the server's name is the shortest.
func (c *Client) CommonName(tool string, known func(name string) bool) string {
	rest, ok := strings.CutPrefix(tool, c.prefix)
	if _, full := config.ServerName(tool); full || !ok {
		return tool
	}
	first := tool
	for at := 1; at < len(rest); at++ {
		name, ok := strings.CutPrefix(rest[at:], c.joint)
		if !ok || name == "" {
			continue
		}
		full := "mcp__" + rest[:at] + "__" + name
		if c.reversed {
			full = "mcp__" + name + "__" + rest[:at]
		}
		if known(full) {
			return full
		}
		if first == tool || c.reversed {
			first = full
		}
	}
	return first
}

// CallName returns the name of the event's tool as the agent calls it.
func (c *Client) CallName(e *event.Event) string {
	switch {
	case c.callName != nil:
		return c.callName(e)
	case e.ClientTool != "":
		return e.ClientTool
	}
	return e.Tool
}

// claudeJSON returns the line that Claude Code reads, and hosts that follow it, with the keys
// in o before it.
func claudeJSON(o rawjson.Writer, e *event.Event, r Reply) []byte {
	var specific rawjson.Writer
	specific.Text("hookEventName", e.Name)
	specific.Text("permissionDecision", string(r.Verdict))
	specific.Text("permissionDecisionReason", r.Reason)
	specific.Text("additionalContext", r.Context)
	o.Raw("hookSpecificOutput", specific.End())
	o.Text("systemMessage", r.Message)
	return line(o)
}

// claudeOutput returns the output of hosts that read Claude Code's JSON at exit code 0 and
// show the agent the context of a denial.
func claudeOutput(e *event.Event, r Reply) Output {
	if r == (Reply{}) {
		return Output{}
	}
	return Output{Stdout: claudeJSON(nil, e, r)}
}

// joinedOutput is claudeOutput for hosts that drop the context of a denial.
func joinedOutput(e *event.Event, r Reply) Output {
	if r.Verdict == Deny {
		r.Reason, r.Context = r.joined(), ""
	}
	return claudeOutput(e, r)
}

// joined returns the reason and the context in one text.
func (r *Reply) joined() string {
	if r.Context == "" {
		return r.Reason
	}
	return r.Reason + "\n\n" + r.Context
}

func line(o rawjson.Writer) []byte { return append(o.End(), '\n') }
