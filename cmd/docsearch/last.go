package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/eventlog/activity"
)

func newLastCommand(a *app) *cobra.Command {
	var limit int
	var wrong bool
	cmd := withJSON(&cobra.Command{
		Use:   "last [--wrong [NUMBER]]",
		Short: "List the hook's last decisions, or mark one as wrong",
		Long: `List the hook's last decisions with their outcome, the newest first. They are in the
local event log, which keeps queries for seven days. To keep none, run
docsearch config set hook.log_queries false.

With --wrong, mark the newest denied web search, or decision NUMBER of the list, as
wrong. A mark is an example for "docsearch eval" and changes no decision.`,
		Example: `  docsearch last -n 3
  docsearch last --wrong`,
		Args: atMostOne,
	}, func(_ *cobra.Command, args []string, asJSON bool) error {
		number := 0
		if len(args) > 0 {
			var err error
			if number, err = strconv.Atoi(args[0]); err != nil || number < 1 || !wrong {
				return usagef("invalid argument %q: want --wrong NUMBER", args[0])
			}
		}
		d, err := activity.Latest()
		switch {
		case err != nil:
			return err
		case wrong:
			marked, err := d.MarkWrong(number)
			if err == nil {
				_, err = fmt.Fprintf(a.stdout, "marked as wrong: %s\n", printable(marked.Query))
			}
			return err
		case asJSON:
			return a.printJSON(d.All[:min(max(limit, 0), len(d.All))])
		}
		return d.Print(a.stdout, max(limit, 0))
	})
	cmd.Flags().IntVarP(&limit, "number", "n", 10, "list at most `N` decisions")
	cmd.Flags().BoolVar(&wrong, "wrong", false, "mark a decision as wrong")
	return cmd
}
