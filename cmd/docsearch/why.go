package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/eventlog/activity"
	"github.com/docsearch/docsearch/internal/hook/explain"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
)

func newWhyCommand(a *app) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "why [QUERY]",
		Short: "Explain what the hook does with a web search",
		Long: `Explain what the hook does with a web search: for each database, the matching
keyword, the best results, the confidence, and the threshold; then the matching
rule and the outcome. The command ignores session state: it treats a search that
was just denied as new. Without QUERY, it explains the newest query in the event log.`,
		Example: `  docsearch why 'gitlab ci cache between jobs'
  docsearch why`,
	}, func(_ *cobra.Command, args []string, asJSON bool) error {
		query := strings.Join(args, " ")
		if query == "" {
			d, err := activity.Latest()
			if err != nil {
				return err
			}
			if query, err = d.Query(); err != nil {
				return err
			}
			if !asJSON {
				fmt.Fprintf(a.stdout, "query: %s\n", printable(query))
			}
		}
		return a.why(query, asJSON)
	})
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
