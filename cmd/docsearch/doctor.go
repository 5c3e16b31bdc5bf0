package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/doctor"
	"github.com/docsearch/docsearch/internal/web/manage"
)

func newDoctorCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the installation and print how to fix problems",
		Long: `Check the installation and print how to fix problems: the program, the config,
the databases, the hook, and the MCP server in each agent that has them. The doctor
runs the hook and the server as the agent runs them, if they are this program. It
lists other programs in the settings without running them. The exit code is 1 if a
check fails.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := doctor.New(buildVersion(), func(c manage.Check) { a.printDoctorCheck(c, asJSON) })
			if err := d.Run(cmd.Context()); err != nil {
				return err
			}
			return failureIf(d.Failures > 0)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one check per line")
	return cmd
}

// printDoctorCheck prints the result of a check, which may contain text from files of others.
func (a *app) printDoctorCheck(c manage.Check, asJSON bool) {
	if asJSON {
		if line, err := json.Marshal(c); err == nil {
			fmt.Fprintln(a.stdout, string(line))
		}
		return
	}
	status := map[manage.Status]string{manage.CheckOK: "ok    ", manage.CheckNote: "note  ", manage.CheckFailed: "FAIL  "}
	fmt.Fprintln(a.stdout, printable(status[c.Status]+c.Name+": "+c.Text))
	if c.Fix != "" {
		fmt.Fprintln(a.stdout, printable("      fix: "+c.Fix))
	}
}
