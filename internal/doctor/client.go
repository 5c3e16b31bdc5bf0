package doctor

import (
	"context"
	"os/exec"
	"slices"
	"time"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/agentconfig/installation"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/usererror"
)

// An agent is how the doctor refers to a client.
type agent struct {
	name   string // prefix of the links; "" for Claude Code
	title  string
	option string // command-line option, with a leading space; "" for Claude Code
}

var claudeAgent = agent{title: "Claude Code"}

func agentOf(c *agentconfig.Client) agent {
	return agent{c.Name + " ", c.Title, " --client " + c.Name}
}

// link returns the name of a check.
func (a agent) link(name string) string { return a.name + name }

// install returns the command that installs docsearch in a scope.
func (a agent) install(s agentconfig.Scope) string {
	return "docsearch install" + a.option + installation.ScopeOption(s)
}

// installedClients returns the clients with entries of docsearch, without Claude
// Code. Some clients also read Claude Code's settings. These do not make a client
// installed if it is not on this machine, or if it has no entry of its own.
func (d *Doctor) installedClients() []*agentconfig.Client {
	return slices.DeleteFunc(agentconfig.Clients(), func(c *agentconfig.Client) bool {
		if c.IsClaude() {
			return true
		}
		in := c.Installed(d.places)
		if c.Follows() || !c.Found(d.places) {
			in.Hooks = slices.DeleteFunc(in.Hooks, func(h agentconfig.Hook) bool { return d.isClaudeFile(h.Path) })
		}
		return len(in.Hooks)+len(in.Servers) == 0
	})
}

// isClaudeFile reports whether a file is one of Claude Code's settings files.
func (d *Doctor) isClaudeFile(path string) bool {
	return slices.ContainsFunc(agentconfig.Scopes,
		func(s agentconfig.Scope) bool { return library.SamePath(path, d.claude.Settings(s)) })
}

// usesClaude reports whether Claude Code is on this machine or has docsearch.
func (d *Doctor) usesClaude() bool {
	in := installation.Find(d.claude)
	return installation.UsesClaude() || len(in.Hooks)+len(in.Servers)+len(in.PluginHooks) > 0
}

// checkClient checks the installation in a client other than Claude Code.
func (d *Doctor) checkClient(ctx context.Context, c *agentconfig.Client) {
	a, in := agentOf(c), c.Installed(d.places)
	if !c.Tested {
		d.note(c.Name, "docsearch's tests do not run "+c.Title+"; its entries follow its documentation")
	}
	for _, err := range in.Ignored {
		d.fail(a.link("settings"), usererror.Message(err), "fix the file")
	}
	for _, o := range c.Blocked(d.places, in.Hooks) {
		d.fail(a.link("settings"), o.Problem, o.Fix)
	}
	if doubles := c.Doubles(in.Hooks); doubles != nil {
		last := doubles[len(doubles)-1]
		d.fail(a.link("settings"), installation.ClientDoubles(c, doubles),
			"remove the entry from "+last.Path+", or run docsearch uninstall"+a.option+
				installation.ScopeOption(last.Scope))
	}
	d.runClientHooks(ctx, c, in.Hooks)
	if len(in.Servers) == 0 {
		d.fail(a.link("server"), c.Title+" has no MCP server "+d.places.Server, a.install(agentconfig.User))
	}
	for _, s := range in.Servers {
		d.checkServer(ctx, s, a, "remove it from "+s.Path+", if you no longer need it")
	}
}

// runClientHooks sends an event in the client's format to each hook that runs this
// program.
func (d *Doctor) runClientHooks(ctx context.Context, c *agentconfig.Client, hooks []agentconfig.Hook) {
	a := agentOf(c)
	for h := range d.ownHooks(hooks, a, c.MayDeny) {
		o, err := d.runClientHook(ctx, c, h, c.Sample(d.sampleQuery(ctx)))
		took := o.Took.Round(time.Millisecond)
		switch {
		case err != nil:
			d.fail(a.link("hook"), h.Path+": "+err.Error(), a.install(h.Scope))
		case o.Stderr != "":
			d.fail(a.link("hook"), h.Path+": "+FirstLine(o.Stderr),
				"run DOCSEARCH_DEBUG=1 docsearch hook --client "+c.Name+" to see each step")
		case o.Decision == "deny":
			d.ok(a.link("hook"), "in %s: denied a sample call in %s: %s", h.Path, took, FirstLine(o.Reason))
		default:
			d.ok(a.link("hook"), "in %s: let a sample call run (%s)", h.Path, took)
		}
	}
}

func (d *Doctor) runClientHook(ctx context.Context, c *agentconfig.Client, h agentconfig.Hook,
	event map[string]any) (agentconfig.Outcome, error) {
	return runHookCommand(ctx, func(ctx context.Context,
		program string) *exec.Cmd {
		return c.Command(ctx, h, program)
	},
		func(cmd *exec.Cmd) (agentconfig.Outcome, error) { return c.RunHook(cmd, event) })
}
