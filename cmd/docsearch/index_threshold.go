package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/activity"
	"github.com/docsearch/docsearch/internal/adapt"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/eventlog"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
)

func newIndexThresholdCommand(a *app) *cobra.Command {
	t := &thresholdCommand{app: a}
	cmd := &cobra.Command{
		Use:   "threshold [NAME|PATH]...",
		Short: "Show, set, or reset the confidence thresholds",
		Long: `Show, set, or reset the confidence thresholds of the databases in the config. The
hook denies a web search only if the confidence of the best passage reaches the
threshold. Without NAME, the command applies to all databases.

A build calibrates the threshold. You can set a higher one, or let the hook adapt
it: if "adapt" is true in the config's "hook", a threshold rises while agents retry
denied searches, and falls again, never below that of the build. Both stay until
you reset them.`,
		Example: `  docsearch index threshold
  docsearch index threshold gitlab --set 0.6
  docsearch index threshold gitlab --reset`,
		ValidArgsFunction: completeDatabases,
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.run(args, cmd.Flags().Changed("set"))
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().Float64Var(&t.value, "set", 0, fmt.Sprintf("set the threshold to `VALUE`, at least that of the build and at most %.2f", adapt.Highest))
	cmd.Flags().BoolVar(&t.reset, "reset", false, "restore the threshold of the build and forget the evidence")
	cmd.Flags().BoolVar(&t.asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&t.update, "update", false, "move the thresholds by the event log (run by the hook)")
	cobra.CheckErr(cmd.Flags().MarkHidden("update"))
	markExclusive(cmd, "set", "reset", "json")
	return cmd
}

// A thresholdCommand shows and changes confidence thresholds.
type thresholdCommand struct {
	*app
	value  float64
	reset  bool
	asJSON bool
	update bool
}

// A thresholdState is the confidence threshold of a database. It is JSON output.
type thresholdState struct {
	Name      string  `json:"name"`
	Path      string  `json:"path"`
	Build     float64 `json:"build"`     // threshold of the build
	Threshold float64 `json:"threshold"` // that the hook uses
	Origin    string  `json:"origin"`    // one of the constants below
	Denials   int     `json:"denials"`   // evidence for an adapted threshold
	Retried   int     `json:"retried"`
}

// Origins of a threshold.
const (
	fromBuild = "build"
	fromUser  = "set"
	fromLog   = "adapted"
)

func (t *thresholdCommand) run(args []string, set bool) error {
	l := config.Locate(os.Getenv)
	if l.State == "" {
		return errors.New("cannot find the thresholds: DOCSEARCH_STATE_DIR and the home directory are not set")
	}
	r, err := load.Load(l)
	if err != nil {
		return err
	}
	store := adapt.Store{Dir: l.State}
	if t.update {
		return updateThresholds(l, r, store)
	}
	chosen, err := t.chosen(l, r, args)
	if err != nil {
		return err
	}
	switch {
	case set:
		return t.setThreshold(l, store, chosen, args)
	case t.reset:
		err := changeThresholds(l, store, func(all *adapt.Thresholds) {
			for _, s := range chosen {
				all.Reset(s.Name, s.Path, time.Now())
			}
		})
		if err != nil {
			return err
		}
		for _, s := range chosen {
			fmt.Fprintf(t.stdout, "%s: threshold %.2f, as built\n", s.Name, s.Build)
		}
		return nil
	}
	return t.print(chosen)
}

// chosen returns the thresholds of the databases that the arguments name.
func (t *thresholdCommand) chosen(l config.Locations, r *load.Result, args []string) ([]thresholdState, error) {
	named, err := selectDatabases(args, nil, false)
	if err != nil {
		return nil, err
	}
	thresholds, err := (adapt.Store{Dir: l.State}).Read()
	if err != nil {
		if !t.reset {
			return nil, withHint(err, "run docsearch index threshold --reset")
		}
		thresholds = &adapt.Thresholds{}
	}
	var names []string
	for _, d := range named {
		if !d.Configured {
			return nil, withHint(fmt.Errorf("database %q is not in the config, so the hook does not search it", d.Name), "run docsearch setup %s %s", quoteArgument(d.Name), quoteArgument(d.Path))
		}
		names = append(names, d.Name)
	}
	chosen := []thresholdState{}
	for i := range r.Config.Databases {
		db := &r.Config.Databases[i]
		if len(names) > 0 && !slices.Contains(names, db.Name) {
			continue
		}
		s, err := thresholdOf(db, thresholds)
		switch {
		case err == nil:
			chosen = append(chosen, s)
		case len(names) > 0:
			return nil, withRepair(db.Path, err)
		}
	}
	return chosen, nil
}

// thresholdOf returns the threshold of a configured database. Its error is that of a
// database whose index cannot be read.
func thresholdOf(db *config.Database, all *adapt.Thresholds) (thresholdState, error) {
	info, err := index.Inspect(db.Path)
	if err != nil {
		return thresholdState{}, err
	}
	s := thresholdState{Name: db.Name, Path: db.Path, Build: quicksearch.Usable(info.Confidence).Threshold, Origin: fromBuild}
	if e := all.Entry(db.Name, db.Path); e != nil {
		s.Denials, s.Retried = e.Denials, e.Retries
		switch {
		case db.Threshold <= s.Build:
		case e.Set:
			s.Origin = fromUser
		default:
			s.Origin = fromLog
		}
	}
	s.Threshold = max(s.Build, db.Threshold)
	return s, nil
}

func (t *thresholdCommand) setThreshold(l config.Locations, store adapt.Store, chosen []thresholdState, args []string) error {
	if len(args) != 1 {
		return usagef("--set needs the name of one database, got %d", len(args))
	}
	s := chosen[0]
	if !(t.value >= s.Build && t.value <= adapt.Highest) {
		return usagef("invalid --set %g: want a number from %.2f, the threshold of the build, to %.2f", t.value, s.Build, adapt.Highest)
	}
	if err := changeThresholds(l, store, func(all *adapt.Thresholds) { all.Set(s.Name, s.Path, t.value) }); err != nil {
		return err
	}
	_, err := fmt.Fprintf(t.stdout, "%s: threshold %.2f, set (%.2f as built)\nto undo: docsearch index threshold %s --reset\n", s.Name, t.value, s.Build, quoteArgument(s.Name))
	return err
}

func (t *thresholdCommand) print(chosen []thresholdState) error {
	if t.asJSON {
		return t.printJSON(chosen)
	}
	if len(chosen) == 0 {
		return withHint(errors.New("the config has no database with an index"), "run docsearch setup NAME")
	}
	table := newTable(t.stdout, "NAME\tTHRESHOLD\tBUILD\tORIGIN")
	for i := range chosen {
		s := &chosen[i]
		fmt.Fprintf(table, "%s\t%.2f\t%.2f\t%s\n", s.Name, s.Threshold, s.Build, s.origin())
	}
	return table.Flush()
}

// origin describes the origin of a threshold, with its evidence.
func (s *thresholdState) origin() string {
	if s.Origin == fromUser || s.Denials == 0 {
		return s.Origin
	}
	return fmt.Sprintf("%s (%s, %s retried)", s.Origin, count(s.Denials, "denial"), thousands(s.Retried))
}

// changeThresholds changes the file of the thresholds, and makes the hook use them.
func changeThresholds(l config.Locations, store adapt.Store, change func(*adapt.Thresholds)) error {
	if err := store.Update(change); err != nil {
		return fmt.Errorf("cannot change the thresholds: %w", err)
	}
	return config.Forget(l)
}

// updateThresholds moves the thresholds by the events since the last update, if the config
// allows it.
func updateThresholds(l config.Locations, r *load.Result, store adapt.Store) error {
	if !r.Config.Hook.Adapt {
		return nil
	}
	lowerPriority()
	var f adapt.Follower
	_, err := (eventlog.Log{Dir: l.State}).Read(func(e eventlog.Event) error {
		f.Add(e)
		return nil
	})
	if err != nil {
		return fmt.Errorf("cannot read the event log: %w", err)
	}
	moved := false
	err = store.Update(func(all *adapt.Thresholds) {
		moved = all.Observe(activity.AnsweringDatabases(&r.Config), f.Searches(), time.Now().Add(-adapt.Window))
	})
	if err != nil || !moved {
		return err
	}
	return config.Forget(l)
}
