package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/hook"
)

func newExtractQueryCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "extract-query",
		Short: "Print the query that the hook makes of an event",
		Long: `Print the query that the hook makes of an event on standard input: of a web
search its own, of a fetch what the page is read for, and of any other call what
its input, or its failure, is about. Nothing, where the hook asks nothing.`,
		Example: `  docsearch extract-query <event.json`,
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			event, err := a.readEvent("-")
			if err != nil {
				return err
			}
			query := event.Search.Query + event.Fetch.Prompt
			if query == "" {
				event.Said = hook.LastSaid(event.Transcript)
				query = hook.CallOf(event).Query().String()
			}
			if query == "" {
				return nil
			}
			_, err = fmt.Fprintln(a.stdout, query)
			return err
		},
	}
}
