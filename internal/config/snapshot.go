package config

import (
	"errors"
	"io/fs"
)

// A Snapshot is a resolved config. It saves the hook from reading the config file, because
// the libraries for that take longer to initialize than the hook takes to run. It is a
// cache and can be deleted at any time.
//
// Its file is read on every tool call. It is not JSON, because parsing that would take
// longer than everything else:
//
//	magic     "docsearch snapshot 19\n", the version of the format
//	checksum  [8] of all that follows, little endian: FNV-1a, eight bytes at a time
//	fields    in the order of Snapshot.code: numbers as varints, texts and
//	          lists after their length
type Snapshot struct {
	Source   Stamp
	Projects Stamp    // of the folder of the projects' registrations
	Env      []string // values of Overrides
	Home     string
	Config   Config
	Problems []string // for the hook to print
}

// snapshotMagic ends with the version of the format. Every change to the output of
// Snapshot.code must change it.
//
//	1  first
//	2  embedders with fields of their own
//	3  without routes, which have snapshots of their own
//	4  notes
//	5  the age of databases
//	6  updates
//	7  the event log
//	8  stamps with inode and change time
//	9  folders of notes
//	10 adapted thresholds
//	11 number of notes, vectors
//	12 documented packages
//	13 publishers of packs
//	14 databases of servers
//	15 mirrors of servers
//	16 the checksum of the other snapshots
//	17 folders of projects
//	18 queries in the event log by default
//	19 databases that projects ignore
const snapshotMagic = "docsearch snapshot 19\n"

func (s *Snapshot) code(c *coder) {
	s.Source.code(c)
	s.Projects.code(c)
	c.texts(&s.Env)
	c.text(&s.Home)
	c.texts(&s.Problems)
	codeList(c, &s.Config.Databases, (*Database).code)
	h := &s.Config.Hook
	c.text((*string)(&h.Retry))
	c.int(&h.TimeoutMS)
	c.text(&h.Tool)
	c.flag(&h.Log)
	c.flag(&h.LogQueries)
	c.flag(&h.Adapt)
	c.int(&s.Config.Search.TopK)
	c.int(&s.Config.Search.MaxTokens)
	c.int(&s.Config.Search.MaxAgeDays)
	s.Config.Inject.code(c)
	c.flag(&s.Config.Update.OnSessionStart)
	codeList(c, &s.Config.Embedders, (*Embedder).code)
	codeList(c, &s.Config.Remotes, (*Remote).code)
	codeList(c, &s.Config.Projects, (*ProjectFolder).code)
}

func (r *Remote) code(c *coder) {
	c.text(&r.URL)
	c.text(&r.TokenFile)
	c.text(&r.TokenEnv)
	c.texts(&r.TokenCommand)
	c.int(&r.TimeoutMS)
	c.flag(&r.Mirror)
}

func (d *Database) code(c *coder) {
	c.text(&d.Name)
	c.texts(&d.Keywords)
	c.text(&d.Path)
	c.text(&d.Description)
	c.text(&d.Tool)
	c.texts(&d.URLs)
	c.text((*string)(&d.Mode))
	c.text(&d.Version)
	c.text(&d.Publisher)
	c.texts(&d.Inject)
	c.text(&d.Notes)
	c.float(&d.Threshold)
	c.texts(&d.Packages)
	c.text(&d.Remote)
	c.text(&d.RemoteName)
	c.int(&d.Entry)
}

func (e *Embedder) code(c *coder) {
	c.text(&e.Provider)
	c.text(&e.Model)
	c.text(&e.URL)
	c.text(&e.KeyEnv)
	c.text(&e.QueryPrompt)
	c.text(&e.DocumentPrompt)
	c.int(&e.Dimensions)
	c.int(&e.Batch)
	c.float(&e.Weight)
}

// ReadSnapshot returns the snapshot of the config file at l.Config. It returns an error if
// the environment or the file has changed since it was written.
func ReadSnapshot(l Locations, getenv Getenv) (*Snapshot, error) {
	path := snapshotPath(l)
	data, err := readCacheFile(path)
	if err != nil {
		return nil, err
	}
	s, err := parseSnapshot(data)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	now, err := StampOf(l.Config)
	switch {
	case err != nil:
		return nil, err
	case now != s.Source:
		return nil, errors.New(path + " is outdated: changed " + l.Config)
	case !s.sameEnvironment(getenv):
		return nil, errors.New(path + " is for another environment")
	}
	if now, err := StampOf(l.Projects); err != nil || now != s.Projects {
		return nil, errors.New(path + " is outdated: changed " + l.Projects)
	}
	s.Config.SetSession(getenv)
	return s, nil
}

func parseSnapshot(data []byte) (*Snapshot, error) {
	s := new(Snapshot)
	if err := decodeFields(data, snapshotMagic, s.code); err != nil {
		return nil, err
	}
	for _, db := range s.Config.Databases {
		if len(db.Keywords) == 0 {
			return nil, errors.New("corrupt snapshot: no keywords")
		}
	}
	return s, nil
}

func (s *Snapshot) encode() []byte { return encodeFields(snapshotMagic, s.code) }

func (s *Snapshot) sameEnvironment(getenv Getenv) bool {
	overrides := Overrides()
	if len(s.Env) != len(overrides) || s.Home != Home(getenv) {
		return false
	}
	for i, o := range overrides {
		if s.Env[i] != getenv(o.Env) {
			return false
		}
	}
	return true
}

// Write writes the snapshot to l.Cache.
func (s *Snapshot) Write(l Locations, getenv Getenv) error {
	s.Home, s.Env = Home(getenv), nil
	for _, o := range Overrides() {
		s.Env = append(s.Env, getenv(o.Env))
	}
	return writeCacheFile(l, snapshotPath(l), s.encode())
}

// snapshotPath returns the path of a config file's snapshot.
func snapshotPath(l Locations) string { return cacheFile(l, "config", l.Config, ".snapshot") }

// Forget removes the snapshot, so that the hook reads the config file and the names of its
// databases again.
func Forget(l Locations) error { return removeCacheFile(snapshotPath(l)) }
