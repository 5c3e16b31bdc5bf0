package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/agentconfig/installation"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/setup/migrate"
)

func newMigrateCommand(a *app) *cobra.Command {
	m := &migrateCommand{app: a}
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Replace the hooks, rules, notes and indexes of older tools",
		Long: `Replace what older tools have set up for Claude Code:

  docsearch.py  its hook becomes docsearch's; its config file stays as it is
  Lore          its hook becomes docsearch's, and knowledge_dir a database of notes
  tool-routing  its rules are copied to docsearch-routes, and the plugin is turned off
  LEANN         the indexes in ~/.leann/projects.json become databases

Without flags, migrate prints the changes as a diff and writes nothing. With --yes,
it builds the databases, copies each file to the data folder, and changes it. With
--undo, it restores the files byte for byte, and removes the databases that it built.

Migrate reads the settings of Claude Code for you and for the project in the working
folder. It does not uninstall the older tools, and it keeps their files.`,
		Example: `  docsearch migrate
  docsearch migrate --yes
  docsearch migrate --undo`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if m.undo {
				return m.runUndo()
			}
			return m.run(cmd.Context())
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVarP(&m.yes, "yes", "y", false, "make the changes")
	cmd.Flags().BoolVar(&m.undo, "undo", false, "undo all migrations")
	markExclusive(cmd, "yes", "undo")
	return cmd
}

// A migrateCommand replaces older tools.
type migrateCommand struct {
	*app
	yes, undo bool
}

func (m *migrateCommand) run(ctx context.Context) error {
	claude, err := installation.Claude()
	if err != nil {
		return err
	}
	claude.Version = agentconfig.VersionOnPath(ctx, config.Locate(os.Getenv).Cache)
	found, err := migrate.Find(claude, config.Locate(os.Getenv))
	if err != nil {
		return err
	}
	for _, left := range found.Left {
		m.warn("%s", left)
	}
	if found.Empty() {
		_, err := fmt.Fprintln(m.stdout, "nothing to migrate: no older tool is set up")
		return err
	}
	program, err := m.programFor(agentconfig.User, !m.yes)
	if err != nil {
		return err
	}
	if m.yes {
		return m.apply(ctx, found, program)
	}
	changes, err := found.Changes(program)
	if err != nil {
		return explainInstall(err)
	}
	for _, d := range found.Databases {
		fmt.Fprintf(m.stdout, "would build the database %s from %s\n", d.Entry.Keywords[0], printable(d.Source))
	}
	if err := m.showPlan(changes); err != nil {
		return err
	}
	_, err = fmt.Fprintln(m.stdout, "to make these changes, run: docsearch migrate --yes")
	return err
}

// apply migrates and prints each step.
func (m *migrateCommand) apply(ctx context.Context, found *migrate.Migration, program agentconfig.Program) error {
	limitMemory()
	failed := 0
	err := found.Apply(ctx, program, m.build, func(s migrate.Step) {
		switch {
		case s.Database != nil && s.Database.Failed != nil:
			failed++
			m.warn("%s: not migrated: %v", printable(s.Database.Source), s.Database.Failed)
		case s.Change != nil:
			fmt.Fprintf(m.stdout, "changed %s\n", s.Change.Path)
			if s.Backup != "" {
				fmt.Fprintf(m.stdout, "  backup: %s\n", s.Backup)
			}
		}
	})
	if err != nil {
		return explainInstall(err)
	}
	fmt.Fprintln(m.stdout, "migrated; new sessions use docsearch. To undo this, run: docsearch migrate --undo")
	if failed > 0 {
		return fmt.Errorf("cannot build %s", count(failed, "database"))
	}
	return nil
}

// build builds a database. Lore's notes are only its Markdown files.
func (m *migrateCommand) build(ctx context.Context, d *migrate.Database) error {
	b := newBuildCommand(m.app)
	if d.IsNotes() {
		b.Name, b.Options.Include = d.Entry.Keywords[0], []string{"*.md", "*.markdown"}
		b.Set = func(option string) bool { return option == "name" || option == "include" }
	}
	plan, err := b.Plan(d.Source)
	if err != nil {
		return err
	}
	plan.Configured = true // the migration adds it later
	return b.buildAndPrint(ctx, &plan)
}

// runUndo undoes all migrations.
func (m *migrateCommand) runUndo() error {
	claude, err := installation.Claude()
	if err != nil {
		return err
	}
	u, err := migrate.Undo(claude, config.Locate(os.Getenv))
	if err != nil {
		return err
	}
	for _, path := range u.Restored {
		fmt.Fprintf(m.stdout, "restored %s\n", path)
	}
	for _, path := range u.Removed {
		fmt.Fprintf(m.stdout, "removed %s\n", path)
	}
	if len(u.Restored)+len(u.Removed)+len(u.Changed) == 0 {
		fmt.Fprintln(m.stdout, "nothing to undo")
	}
	for _, path := range slices.Sorted(maps.Keys(u.Changed)) {
		before := "it did not exist"
		if copied := u.Changed[path]; copied != "" {
			before = "it was " + copied
		}
		m.warn("%s has changed since the migration and stays as it is; before, %s", path, before)
	}
	if len(u.Changed) > 0 {
		return withHint(errors.New("cannot undo the whole migration"), "compare each of these files to its copy")
	}
	return nil
}
