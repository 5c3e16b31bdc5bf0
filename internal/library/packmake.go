package library

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/usererror"
	"github.com/docsearch/docsearch/recipes"
)

// KeyFile returns the file of the private key: the flag's value or the default.
func KeyFile(flag string) (string, error) {
	if flag != "" {
		return filepath.Abs(flag)
	}
	path := config.PublisherKeyPath(os.Getenv)
	if path == "" {
		return "",
			usererror.WithHint(errors.New("cannot find the data folder: DOCSEARCH_DATA and the home directory are not set"), "pass the file of the key")
	}
	return path, nil
}

// SigningFiles are the flags of commands that sign.
type SigningFiles struct{ Keys, Rotations []string }

// ReadKeys reads the private keys, or the default one if no flag is given.
func (f *SigningFiles) ReadKeys() (keys []*pack.SigningKey, rotations []string, err error) {
	files := f.Keys
	if len(files) == 0 {
		path, err := KeyFile("")
		if err != nil {
			return nil, nil, err
		}
		if !FileExists(path) {
			return nil, nil, usererror.WithHint(errors.New("cannot sign: you have no key"),
				"run docsearch pack key new NAME")
		}
		files = []string{path}
	}
	for _, file := range files {
		k, err := pack.ReadKey(file)
		if err != nil {
			return nil, nil, err
		}
		keys = append(keys, k)
	}
	for _, file := range f.Rotations {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, nil, err
		}
		rotations = append(rotations, string(text))
	}
	return keys, rotations, nil
}

// PackTexts are the texts that the user gives a pack. Where one is empty, it comes from the
// config, the recipe or the database.
type PackTexts struct {
	Name, Title, Version string
	License, Attribution string
	Recipe               string // argument that selects it
	Description          string
	Keywords, URLs       []string
}

// Manifest returns the manifest of a database as far as the config, the recipe and the texts
// define it.
func (m *PackTexts) Manifest(ctx context.Context, d Ref, info index.Info) (pack.Manifest, error) {
	p := pack.Manifest{Name: strings.ToLower(cmp.Or(m.Name, d.Name)), Source: packSourceOf(info), Version: m.Version,
		Language: OptionsOf(&info.Manifest, info.Dir).Language}
	entry := ConfiguredDatabase(d.Name)
	p.Description, p.Keywords, p.URLs = entry.Description, entry.Keywords, entry.URLs
	p.Version = cmp.Or(p.Version, entry.Version)
	r := recipeOf(d.Name, info)
	if m.Recipe != "" {
		chosen, err := FindRecipe(ctx, m.Recipe)
		if err != nil {
			return p, err
		}
		r = chosen.Recipe
	}
	if r != nil {
		p.Title, p.License, p.Attribution = r.Title, r.License, r.Attribution
		p.Description = cmp.Or(p.Description, r.Title+" documentation")
		if len(p.Keywords) == 0 {
			p.Keywords = r.Keywords
		}
		if len(p.URLs) == 0 {
			p.URLs = r.URLs
		}
	}
	if h, err := pack.Installed(GenerationOf(info)); err == nil { // a pack of a pack
		p.Title, p.License, p.Attribution, p.Source = h.Title, h.License, h.Attribution, h.Source
		p.Version = cmp.Or(p.Version, h.Version)
	}
	p.License, p.Attribution = cmp.Or(m.License, p.License), cmp.Or(m.Attribution, p.Attribution)
	p.Description = cmp.Or(m.Description, p.Description, cmp.Or(p.Title, d.Name)+" documentation")
	p.Title = cmp.Or(m.Title, p.Title, strings.TrimSuffix(p.Description, " documentation"))
	if m.Keywords != nil {
		p.Keywords = m.Keywords
	}
	if m.URLs != nil {
		p.URLs = m.URLs
	}
	if len(p.Keywords) == 0 {
		p.Keywords = []string{strings.ToLower(d.Name)}
	}
	if err := pack.CheckName(p.Name); err != nil {
		return p, usererror.WithHint(usererror.AsInvalid(err), "pass --name NAME")
	}
	if p.License == "" {
		return p, usererror.WithHint(fmt.Errorf("cannot make a pack of %s: its license is not known", d.Name),
			"pass --license SPDX --attribution TEXT with the license under which you may share the documentation")
	}
	if p.Attribution == "" {
		return p, usererror.WithHint(fmt.Errorf("cannot make a pack of %s: its authors are not known", d.Name),
			"pass --attribution TEXT")
	}
	return p, nil
}

// ConfiguredDatabase returns the config entry of that name, or a zero one.
func ConfiguredDatabase(name string) config.Database {
	r, err := load.Load(config.Locate(os.Getenv))
	if err != nil {
		return config.Database{}
	}
	for _, db := range r.Config.Databases {
		if strings.EqualFold(db.Name, name) {
			return db
		}
	}
	return config.Database{}
}

// recipeOf returns the recipe whose documentation a database contains, or nil. A recipe of
// the same name counts only if the source is the recipe's.
func recipeOf(name string, info index.Info) *recipes.Recipe {
	known, _, _ := strings.Cut(name, "@")
	for _, candidate := range []string{name, known, strings.TrimRight(name, "-.0123456789")} {
		r, err := recipes.Find(candidate)
		if err != nil {
			continue
		}
		for _, version := range []string{"", cmp.Or(versionSuffix(name), info.VersionOr(""))} {
			filled, err := r.At(version)
			if err == nil && filled.Source.Download() != "" &&
				sameSource(filled.Source.Download(), info.Source.Location) {
				return filled
			}
		}
	}
	return nil
}

// versionSuffix returns the version in the name of a recipe's database: "django-4.2".
func versionSuffix(name string) string {
	_, version, _ := strings.Cut(name, "-")
	return version
}

// packSourceOf describes the source of a database without paths of this machine.
func packSourceOf(info index.Info) pack.Source {
	s := pack.Source{Kind: info.Source.Kind, Commit: info.Source.Commit}
	u, err := url.Parse(info.Source.Location)
	if err != nil || !IsURL(info.Source.Location) {
		return s
	}
	u.User, u.Fragment = nil, ""
	s.Location = u.String()
	if s.Kind == ingest.KindSite {
		s.Date = info.Created.UTC().Format("2006-01-02")
	}
	return s
}
