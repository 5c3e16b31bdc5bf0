package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/edit"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/setup"
)

// writeEntry adds the database to the config.
func (s *setupCommand) writeEntry(ctx context.Context) error {
	s.Step("Add it to the config")
	var err error
	if s.evidence, err = setup.Gather(s.plan.Dir, s.keyword, library.MayRead(s.plan.Dir)); err != nil {
		return err
	}
	old, exists, err := library.ConfigEntry(s.locations, s.name, s.plan.Dir)
	if err != nil {
		return err
	}
	e, err := s.proposeEntry(ctx, old, exists)
	if err != nil {
		return err
	}
	change, err := agentconfig.Rewrite(s.locations.Config, "the entry "+e.Name, func(data []byte) ([]byte, error) {
		return edit.Put(s.locations.Config, data, e)
	})
	if errors.Is(err, edit.ErrManualEdit) {
		return withHint(err, "add this entry to \"databases\": %s", exampleEntry(s.plan))
	}
	if err != nil {
		return withHint(err, "run docsearch config check to list all problems")
	}
	if err := s.applyEntry(ctx, change, e.Name, exists); err != nil {
		return err
	}
	if s.pack != nil {
		if err := s.pack.Accept(s.locations, s.builder.Console); err != nil {
			return err
		}
	}
	r, err := load.Load(s.locations)
	if err != nil {
		return err
	}
	for _, p := range r.Problems {
		s.warn("config %s: %s", r.Path, p)
	}
	i := slices.IndexFunc(r.Config.Databases, func(d config.Database) bool { return strings.EqualFold(d.Name, e.Name) })
	if i < 0 {
		return withHint(fmt.Errorf("config %s: the entry %s is not usable", r.Path, e.Name),
			"run docsearch config check to see why")
	}
	s.entry = r.Config.Databases[i]
	if err := library.LeaveToUser(s.locations, &s.entry); err != nil {
		s.warn("cannot remove the projects' databases of the same version: %v", err)
	}
	library.ReportSharedKeywords(s.entry, r.Config.Databases, s.warn)
	s.undoCommands = slices.Insert(s.undoCommands, 0, s.removeCommand()) // the last one to run
	s.printQuestions()
	return nil
}

// proposeEntry creates the config entry from the flags, the existing entry,
// and, for a new entry, suggestions from the documentation. At a terminal, the
// user can edit it.
func (s *setupCommand) proposeEntry(ctx context.Context, old config.Database, exists bool) (edit.Entry, error) {
	var before *config.Database
	if exists {
		before = &old
	}
	e := s.plan.ProposeEntry(s.name, &s.evidence, s.recipe, s.pack, before)
	if s.builder.Set("keywords") {
		e.Keywords = s.keywords
	}
	if s.builder.Set("urls") {
		e.URLs = s.urls
	}
	e.Description = cmp.Or(s.description, e.Description)
	given := s.builder.Set("keywords") && s.builder.Set("urls") && s.description != ""
	if s.prompter != nil && s.recipe == nil && s.pack == nil && !exists && !given {
		fmt.Fprintln(s.stderr)
		for _, field := range []struct {
			question string
			list     *[]string
		}{
			{"Keywords, separated by commas", &e.Keywords},
			{"URL prefixes of the pages, separated by commas", &e.URLs},
		} {
			answer, err := s.prompter.Ask(ctx, field.question, strings.Join(*field.list, ", "))
			if err != nil {
				return e, err
			}
			*field.list = humanize.SplitList(answer)
		}
		var err error
		if e.Description, err = s.prompter.Ask(ctx, "Description that the agent sees", e.Description); err != nil {
			return e, err
		}
	}
	if !slices.ContainsFunc(e.Keywords, func(k string) bool { return strings.EqualFold(k, s.keyword) }) {
		e.Keywords = append([]string{s.keyword}, e.Keywords...)
	}
	return e, nil
}

// applyEntry prints the config change and applies it. exists reports whether
// the config already had an entry for the database.
func (s *setupCommand) applyEntry(ctx context.Context, change *agentconfig.Change, name string, exists bool) error {
	path := change.Path
	if change.None() {
		fmt.Fprintf(s.stdout, "\n%s already has the entry %s\n", path, name)
		s.created = append(s.created, fmt.Sprintf("the entry %s in %s", name, path))
		return nil
	}
	agreed, err := s.confirmAddition(ctx, change)
	if err != nil {
		return err
	}
	if !agreed {
		return withHint(errors.New("the database is built, but not in the config"), "run %s to add it later", s.commandLine())
	}
	s.created = append(s.created, fmt.Sprintf("the entry %s in %s", name, path))
	if exists {
		s.undoCommands = append(s.undoCommands, fmt.Sprintf("revert the entry %s in %s as shown above", name, path))
	}
	return nil
}

// confirmAddition prints a change that adds to the config, and applies it if the user
// agrees, at a terminal or with --yes.
func (s *setupCommand) confirmAddition(ctx context.Context, change *agentconfig.Change) (agreed bool, err error) {
	s.Text(change.Path + ":")
	s.Diff(change.Diff())
	if agreed, err = s.prompter.Agree(ctx, "Write this change to "+change.Path+"?", s.yes); err != nil || !agreed {
		return false, err
	}
	fmt.Fprintln(s.stdout)
	return true, s.applyAddition(change)
}

// applyAddition applies a change that adds to the config.
func (a *app) applyAddition(change *agentconfig.Change) error {
	return a.applyChange(change, "add %s to %s", "added %s to %s")
}
