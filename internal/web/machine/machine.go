// Package machine describes the databases and the config on this machine, as the page of
// docsearch web and the commands show them.
package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/agentconfig/installation"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/edit"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/doctor"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/usererror"
	"github.com/docsearch/docsearch/internal/web/manage"
)

// A Machine is what the page of "docsearch web" shows of this machine: what the commands
// list, index info and config show print.
type Machine struct{ Locations config.Locations }

var _ manage.Machine = Machine{}

// Config reads the config.
func (m Machine) Config() (config.Config, error) {
	r, err := load.Load(m.Locations)
	if err != nil {
		return config.Config{}, err
	}
	return r.Config, nil
}

// Databases lists the databases with their states.
func (m Machine) Databases(context.Context) ([]manage.Database, error) {
	all, err := library.List(m.Locations)
	if err != nil {
		return nil, err
	}
	c, err := m.Config()
	if err != nil {
		return nil, err
	}
	var list []manage.Database
	for _, ref := range all {
		d := databaseOf(ref)
		if i := slices.IndexFunc(c.Databases, func(db config.Database) bool { return ref.Configured && db.Name == ref.Name }); i >= 0 {
			d.Mode, d.Keywords = c.Databases[i].Mode, c.Databases[i].Keywords
		}
		list = append(list, d)
	}
	return list, nil
}

// SetDatabase changes the mode and the keywords of a database in the config.
func (m Machine) SetDatabase(d *manage.Database, mode config.Mode, keywords []string) error {
	return m.change("database "+d.Name, func(path string, data []byte) ([]byte, error) {
		data, err := edit.SetMode(path, data, d.Name, mode)
		if err == nil && !slices.Equal(keywords, d.Keywords) {
			data, err = edit.SetKeywords(path, data, d.Name, keywords)
		}
		return data, err
	})
}

// SetLogQueries decides whether the event log keeps the queries of web searches.
func (m Machine) SetLogQueries(on bool) error {
	return m.change("log_queries", func(path string, data []byte) ([]byte, error) {
		return edit.Set(path, data, "hook", "log_queries", on)
	})
}

// change edits the config. It backs up the file.
func (m Machine) change(subject string, edit func(path string, data []byte) ([]byte, error)) error {
	path := m.Locations.Config
	c, err := agentconfig.Rewrite(path, subject, func(data []byte) ([]byte, error) { return edit(path, data) })
	if err == nil && !c.None() {
		_, err = c.Apply()
	}
	if err != nil {
		return fmt.Errorf("cannot change %s: %w; edit the file yourself", path, err)
	}
	return nil
}

// databaseOf describes a database, without its mode and keywords.
func databaseOf(ref library.Ref) manage.Database {
	info, state, why := library.Inspect(ref.Path)
	d := manage.Database{Name: ref.Name, Path: ref.Path, Configured: ref.Configured, State: state,
		IsOK: state == library.StateOK, Why: why, Version: ref.Version,
		Removable: state != library.StateMissing || library.IsIncomplete(ref.Path) || library.HasMirror(ref.Path)}
	if info.Generation == "" {
		return d
	}
	d.Generation, d.Source = info.Generation, SourceOf(info)
	d.Version = info.VersionOr(ref.Version)
	d.Passages, d.Documents, d.Bytes, d.TextBytes = info.Passages, info.Documents, info.Bytes, info.TextBytes
	d.Built, d.Checked, d.Updatable = info.Created, info.Checked, library.MayRead(info.Dir)
	return d
}

func (Machine) Skipped(d *manage.Database) ([]manage.Skipped, error) {
	db, err := index.Open(d.Path)
	if err != nil {
		return nil, errors.New(usererror.Message(err))
	}
	defer db.Close()
	skipped, err := ingest.ReadSkipped(library.GenerationOf(db.Info()))
	if err != nil {
		return nil, errors.New(usererror.Message(err))
	}
	var list []manage.Skipped
	for _, s := range skipped {
		list = append(list, manage.Skipped{Name: s.Name, Reason: s.Reason})
	}
	return list, nil
}

// Settings describes the config and its problems.
func (m Machine) Settings() (*manage.Settings, error) {
	r, err := load.Load(m.Locations)
	if err != nil {
		return nil, err
	}
	problems, err := doctor.ConfigProblems(r, load.LoadRoutes(r, installation.Here(config.Locate(os.Getenv))))
	if err != nil {
		return nil, err
	}
	l := m.Locations
	return &manage.Settings{File: r.Path, Exists: r.Exists, Problems: problems, LogQueries: r.Config.Hook.LogQueries,
		Folders: []manage.Folder{{Name: "State", Path: l.State}, {Name: "Cache", Path: l.Cache}, {Name: "Databases", Path: l.Data}}}, nil
}
