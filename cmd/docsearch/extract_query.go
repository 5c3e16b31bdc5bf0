package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/hook"
)

func newExtractQueryCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "extract-query",
		Short: "Print the search query of a hook event",
		Long: `Print the search query of a hook event on standard input. For a web search, it is
the query; for a fetch, the prompt; for other calls, terms from the input or the
failure. If the hook does not search for the event, print nothing.`,
		Example: `  docsearch extract-query < event.json`,
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			event, err := a.readEvent("-")
			if err != nil {
				return err
			}
			query := event.Search.Query + event.Fetch.Prompt
			if query == "" {
				event.UserText = hook.LastUserText(event.Transcript)
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
