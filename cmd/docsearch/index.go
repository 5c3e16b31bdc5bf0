package main

import (
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newIndexCommand(a *app) *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "index",
		Short: "Build, update, list, verify, and remove databases",
		Long: `Build, update, list, verify, and remove databases. A database is a folder that
contains passages of documentation and their search index.

NAME is the name of a database in the config file, or of its folder in
docsearch's data folder. PATH is the path of a database.`,
	})
	cmd.AddCommand(newIndexBuildCommand(a), newIndexUpdateCommand(a), newIndexListCommand(a), newIndexInfoCommand(a), newIndexVerifyCommand(a), newIndexRemoveCommand(a))
	return cmd
}

// limitMemory has garbage collected when there is half as much of it as of what
// is in use, instead of as much. Reading documents makes a lot of it, and who
// builds has other programs at work; it takes a quarter less memory and hardly
// longer. GOGC has the last word.
func limitMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
}
