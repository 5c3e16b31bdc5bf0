package main

import (
	"context"
	"fmt"
	"os"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/ingest/source/installed"
)

// runInstalled lists the documentation installed on this machine, or builds a
// database of the documentation that the argument names.
func (b *buildCommand) runInstalled(ctx context.Context, args []string) error {
	all, err := installed.Find(ctx, installed.MachineRoots(os.Getenv, config.Home(os.Getenv)))
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return b.listInstalled(ctx, all)
	}
	d, ok := installed.Choose(all, args[0])
	if !ok {
		return withHint(fmt.Errorf("installed documentation %q not found", args[0]),
			"run docsearch index build --installed to list it")
	}
	p, err := b.PlanInstalled(d)
	if err != nil {
		return err
	}
	return b.buildAndPrint(ctx, &p)
}

// listInstalled lists installed documentation with its size and the command
// that indexes it.
func (b *buildCommand) listInstalled(ctx context.Context, all []installed.Documentation) error {
	type entry struct {
		Name    string `json:"name"`
		Kind    string `json:"contents"`
		Folder  string `json:"folder"`
		Files   int    `json:"files"`
		Bytes   int64  `json:"bytes"`
		Command string `json:"command"`
	}
	list := []entry{}
	for _, d := range all {
		if err := installed.Measure(ctx, &d); err != nil {
			return err
		}
		if d.Files > 0 {
			list = append(list,
				entry{d.Name, d.Kind, d.Folder, d.Files, d.Bytes, "docsearch index build --installed " + quoteArgument(d.Name)})
		}
	}
	if b.json {
		return b.printEscapedJSON(list)
	}
	if len(list) == 0 {
		fmt.Fprintln(b.stdout, "no documentation found in the usual places")
		return nil
	}
	table := terminal.NewTable(b.stdout, "FILES\tSIZE\tCONTENTS\tCOMMAND")
	for _, e := range list {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", thousands(e.Files), size(e.Bytes), e.Kind, e.Command)
	}
	return table.Flush()
}
