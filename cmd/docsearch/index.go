package main

import (
	"github.com/spf13/cobra"
)

func newIndexCommand(a *app) *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "index",
		Short: "Make, update, check, list and remove databases",
		Long: `Make, update, check, list and remove databases: folders with passages of documentation
and the index that finds them.

A database is named as the config file names it, or as its folder in docsearch's
data folder is named, or by its path.`,
	})
	cmd.AddCommand(newIndexBuildCommand(a), newIndexUpdateCommand(a), newIndexListCommand(a), newIndexInfoCommand(a), newIndexVerifyCommand(a), newIndexRemoveCommand(a))
	return cmd
}
