package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/eventlog/activity"
	"github.com/docsearch/docsearch/internal/hook/explain"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
)

func newWhyCommand(a *app) *cobra.Command {
	var tool string
	cmd := withJSON(&cobra.Command{
		Use:   "why [QUERY | URL | EVENT.json]",
		Short: "Explain what the hook does with a web search or another call",
		Long: `Explain what the hook does with a web search: for each database, the matching
keyword, the best results, the confidence, and the threshold; then the matching
rule and the outcome. The command ignores session state: it treats a search that
was just denied as new. Without QUERY, it explains the newest query in the event log.

For a URL, or another call with --tool, explain why each rule matches or does not match.
For a hook event in a file, or "-" for one on standard input, explain which notes and
passages the hook adds to the session.`,
		Example: `  docsearch why
  docsearch why 'gitlab ci cache between jobs'
  docsearch why --tool Bash 'kubectl get pods'
  docsearch why event.json`,
	}, func(_ *cobra.Command, args []string, asJSON bool) error {
		text := strings.Join(args, " ")
		switch {
		case tool != "" || isURL(text):
			return a.whyCall(text, tool)
		case len(args) == 1 && (text == "-" || filepath.Ext(text) == ".json"):
			return a.whyEvent(text, asJSON)
		case text == "":
			return a.whyNewest(asJSON)
		}
		return a.why(text, asJSON)
	})
	cmd.Flags().StringVar(&tool, "tool", "", "explain a call of `TOOL`, such as Bash, with the argument as its input")
	markExclusive(cmd, "tool", "json")
	return cmd
}

// whyCall explains which rule applies to a call.
func (a *app) whyCall(text, tool string) error {
	call, err := a.routeCall(text, tool)
	if err != nil {
		return err
	}
	routes, _, err := a.loadRules(nil)
	if err != nil {
		return err
	}
	return a.explainCall(routes, call)
}

// whyNewest explains the newest query in the event log.
func (a *app) whyNewest(asJSON bool) error {
	d, err := activity.Latest()
	if err != nil {
		return err
	}
	query, err := d.Query()
	if err != nil {
		return err
	}
	if !asJSON {
		fmt.Fprintf(a.stdout, "query: %s\n", printable(query))
	}
	return a.why(query, asJSON)
}

func (a *app) why(query string, asJSON bool) error {
	out, _, messages, err := explain.Explain(query)
	if err != nil {
		return err
	}
	for _, m := range messages {
		a.warn("%s", m)
	}
	if asJSON {
		return a.printJSON(out)
	}
	return a.printWhy(out)
}

func (a *app) printWhy(out *explain.Search) error {
	c := terminal.NewPalette(a.stdout)
	var b strings.Builder
	for i := range out.Databases {
		w := &out.Databases[i]
		fmt.Fprintf(&b, "%s%s%s\n", c.Title, w.Name, c.End)
		for _, step := range w.Steps() {
			b.WriteString(indent + step + "\n")
			if step != w.ConfidenceStep() {
				continue
			}
			for _, h := range w.Hits {
				score := fmt.Sprintf("%.2f", h.Score)
				if w.Server != "" {
					score = "-" // a server sends none
				}
				fmt.Fprintf(&b, "%s%s%s  %s\n", indent, c.Dim, score, h.Heading)
				fmt.Fprintf(&b, "%s%*s  %s%s\n", indent, len(score), "", printable(h.Source), c.End)
			}
		}
	}
	for _, fault := range out.Faults {
		fmt.Fprintf(&b, "%s\n", fault)
	}
	fmt.Fprintf(&b, "%soutcome: %s%s\n", c.Match, explain.Describe(out), c.End)
	return a.write(&b)
}
