package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/eventlog/adapt"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/project"
	"github.com/docsearch/docsearch/internal/web/manage"
)

// A machine is what the page of "docsearch web" shows of this machine: what the commands
// index list, index info, project and config show print.
type machine struct{ locations config.Locations }

var _ manage.Machine = machine{}

func (m machine) Config() (config.Config, error) {
	r, err := load.Load(m.locations)
	if err != nil {
		return config.Config{}, err
	}
	return r.Config, nil
}

func (m machine) Databases(context.Context) ([]manage.Database, error) {
	all, err := library.List(m.locations)
	if err != nil {
		return nil, err
	}
	c, err := m.Config()
	if err != nil {
		return nil, err
	}
	thresholds := &adapt.Thresholds{}
	if c.Hook.Adapt {
		if read, err := (adapt.Store{Dir: m.locations.State}).Read(); err == nil { // otherwise those of the builds hold
			thresholds = read
		}
	}
	var list []manage.Database
	for _, ref := range all {
		d := databaseOf(ref)
		if i := slices.IndexFunc(c.Databases, func(db config.Database) bool { return ref.Configured && db.Name == ref.Name }); i >= 0 {
			if t := thresholdOf(&c.Databases[i], thresholds); t != nil {
				d.Threshold, d.Origin = t.Threshold, t.origin()
			}
		}
		list = append(list, d)
	}
	return list, nil
}

// databaseOf returns a database with the threshold of its build.
func databaseOf(ref library.Ref) manage.Database {
	info, state, why := library.Inspect(ref.Path)
	d := manage.Database{Name: ref.Name, Path: ref.Path, Configured: ref.Configured, State: state, IsOK: state == library.StateOK, Why: why, Version: ref.Version,
		Removable: state != library.StateMissing || library.IsIncomplete(ref.Path) || library.HasMirror(ref.Path)}
	if info.Generation == "" {
		return d
	}
	d.Generation, d.Source = info.Generation, sourceOf(info)
	d.Version = info.VersionOr(ref.Version)
	d.Passages, d.Documents, d.Bytes, d.TextBytes = info.Passages, info.Documents, info.Bytes, info.TextBytes
	d.Built, d.Checked, d.Updatable = info.Created, info.Checked, library.MayRead(info.Dir)
	d.Threshold, d.Origin = quicksearch.Usable(info.Confidence).Threshold, fromBuild
	return d
}

func (machine) Skipped(d *manage.Database) ([]manage.Skipped, error) {
	db, err := index.Open(d.Path)
	if err != nil {
		return nil, errors.New(userMessage(err))
	}
	defer db.Close()
	skipped, err := ingest.ReadSkipped(library.GenerationOf(db.Info()))
	if err != nil {
		return nil, errors.New(userMessage(err))
	}
	return collect(skipped, func(s generation.Skipped) manage.Skipped { return manage.Skipped{Name: s.Name, Reason: s.Reason} }), nil
}

func (m machine) Project(context.Context) (*manage.Project, error) {
	p, err := project.Read(".", config.Home(os.Getenv))
	if err != nil {
		return nil, err
	}
	c, err := m.Config()
	if err != nil {
		return nil, err
	}
	c.AddProject(p.Dir)
	return &manage.Project{Folder: p.Dir, Uses: usesWithDatabases(p, c.Databases), Problems: p.Problems}, nil
}

func (m machine) Settings() (*manage.Settings, error) {
	r, err := load.Load(m.locations)
	if err != nil {
		return nil, err
	}
	problems, err := configProblems(r, load.LoadRoutes(r, placeHere(config.Locate(os.Getenv))))
	if err != nil {
		return nil, err
	}
	shown := showConfig(m.locations, r)
	data, err := json.MarshalIndent(shown.Config, "", "  ")
	if err != nil {
		return nil, err
	}
	s := &manage.Settings{File: shown.File, Exists: shown.Exists, Config: string(data), Problems: problems, Folders: []manage.Setting{
		{Name: "State", Value: shown.State}, {Name: "Cache", Value: shown.Cache}, {Name: "Databases", Value: shown.Data}}}
	var values map[string]any
	if err := json.Unmarshal(data, &values); err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(shown.From)) {
		if value := valueAt(values, path); value != "" {
			s.Values = append(s.Values, manage.Setting{Name: path, Value: value, Origin: shown.From[path]})
		}
	}
	for _, v := range variables() {
		if v.value != "" {
			s.Variables = append(s.Variables, manage.Setting{Name: v.name, Value: v.value})
		}
	}
	return s, nil
}

// valueAt returns the value of a decoded config at a path such as "databases[0].name" as
// JSON, or "" if it has none.
func valueAt(values map[string]any, path string) string {
	var value any = values
	for name := range strings.SplitSeq(path, ".") {
		name, position, isItem := strings.Cut(name, "[")
		fields, ok := value.(map[string]any)
		if !ok {
			return ""
		}
		if value, ok = fields[name]; !ok {
			return ""
		}
		if !isItem {
			continue
		}
		i := 0
		items, ok := value.([]any)
		if _, err := fmt.Sscanf(position, "%d]", &i); err != nil || !ok || i >= len(items) {
			return ""
		}
		value = items[i]
	}
	data, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(data)
}
