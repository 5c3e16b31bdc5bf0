package main

import (
	"os"
	"runtime/debug"

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

// spareMemory has garbage collected when there is half as much of it as of what
// is in use, instead of as much. Reading documents makes a lot of it, and who
// builds has other programs at work; it takes a quarter less memory and hardly
// longer. GOGC has the last word.
func spareMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
}
