package config

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
)

// A RoutesPlace determines which rule files apply.
type RoutesPlace struct {
	Config  string // the config file
	Project string // the project's folder
	Plugin  string // folder of the plugin that runs this hook
	Claude  string // the folder of Claude Code's settings
	Files   string // further rule files: the value of TOOL_ROUTING_ROUTES
}

// PlaceOf returns the place of a session that works in the folder cwd. Its project is the
// one that Claude Code names. Otherwise it is the nearest folder, from cwd upward, that
// contains .docsearch or is the root of a repository, or cwd if there is none.
func PlaceOf(l Locations, getenv Getenv, cwd string) RoutesPlace {
	p := RoutesPlace{
		Config: l.Config, Project: getenv("CLAUDE_PROJECT_DIR"), Plugin: getenv("CLAUDE_PLUGIN_ROOT"),
		Claude: getenv("CLAUDE_CONFIG_DIR"), Files: getenv("TOOL_ROUTING_ROUTES"),
	}
	home := Home(getenv)
	if p.Claude == "" && home != "" {
		p.Claude = Join(home, ".claude")
	}
	if p.Project != "" || !IsAbs(cwd) {
		return p
	}
	p.Project = nearestProject(cwd, home)
	return p
}

// nearestProject returns the nearest folder, from cwd upward, that contains .docsearch or is the
// root of a repository, or cwd if there is none below home.
func nearestProject(cwd, home string) string {
	for dir := cwd; dir != home; dir = Dir(dir) {
		if exists(dir, ".docsearch") || exists(dir, ".git") {
			return dir
		}
		if dir == Dir(dir) {
			break
		}
	}
	return cwd
}

// User returns the place without the project, and without the files of the environment,
// which a project's settings for an agent can set. It determines the rules of the user and of
// plugins.
func (p RoutesPlace) User() RoutesPlace {
	p.Project, p.Files = "", ""
	return p
}

func exists(dir, name string) bool {
	_, err := os.Lstat(Join(dir, name))
	return err == nil
}

// A RoutesSnapshot stores rules for the hook, as a Snapshot stores the config:
//
//	magic     "docsearch routes 4\n", the version of the format
//	checksum  [8] of all that follows, little endian: FNV-1a, eight bytes at a time
//	fields    in the order of RoutesSnapshot.code
//
// The rules of the user and of plugins have one file, for RoutesPlace.User, which holds in
// all projects. The rules that a project adds have another one for each project. So no file
// of a project is read before the user's rules are known, and none can make them unknown.
type RoutesSnapshot struct {
	Place    RoutesPlace
	User     int64   // Sum of the user's snapshot to which a project's rules were added; 0 in that one
	Sources  []Stamp // of every rule file, and of every path or folder where one may be created
	Rules    []Rule
	Problems []string

	sum       uint64           // checksum of the file; 0: not known yet
	candidate func(*Rule) bool // selects the rules to read; nil for all
}

// Sum identifies the contents of the whole snapshot, also of one that was read in part.
func (s *RoutesSnapshot) Sum() int64 {
	if s.sum == 0 {
		s.encode()
	}
	return int64(s.sum)
}

// routesMagic ends with the version of the format. Every change to the output of
// RoutesSnapshot.code must change it.
//
//	1  first
//	2  stamps with inode and change time
//	3  further rule files, rates
//	4  the rules of projects have a snapshot of their own
const routesMagic = "docsearch routes 4\n"

func (s *RoutesSnapshot) code(c *coder) {
	c.text(&s.Place.Config)
	c.text(&s.Place.Project)
	c.text(&s.Place.Plugin)
	c.text(&s.Place.Claude)
	c.text(&s.Place.Files)
	c.number(&s.User)
	codeList(c, &s.Sources, (*Stamp).code)
	s.codeRules(c)
	c.texts(&s.Problems)
}

// codeRules is codeList for rules. When it reads with a filter, rejected rules cost no
// memory.
func (s *RoutesSnapshot) codeRules(c *coder) {
	if c.writing || s.candidate == nil {
		codeList(c, &s.Rules, (*Rule).code)
		return
	}
	var r Rule
	for n := c.length(0); n > 0 && !c.corrupt; n-- {
		r.code(c)
		if s.candidate(&r) {
			s.Rules = append(s.Rules, r)
			r = Rule{}
		}
	}
}

func (r *Rule) code(c *coder) {
	c.text(&r.Name)
	c.text(&r.Origin)
	c.int(&r.Line)
	c.texts(&r.Tools)
	r.ToolPattern.code(c)
	r.Pattern.code(c)
	r.CommandPattern.code(c)
	codeList(c, &r.Unless, (*Pattern).code)
	c.flag(&r.Parsed)
	c.text((*string)(&r.Action))
	c.text(&r.Message)
	c.int(&r.Limit)
	c.int(&r.Rate.Calls)
	c.int(&r.Rate.Seconds)
	c.text(&r.Database)
}

func (p *Pattern) code(c *coder) {
	c.text(&p.Text)
	if p.Text == "" {
		if !c.writing {
			*p = Pattern{} // the value may be left from another rule
		}
		return
	}
	c.text(&p.Expr)
	c.texts(&p.Groups)
	c.texts(&p.Literals)
}

func (s *Stamp) code(c *coder) {
	c.text(&s.Path)
	c.flag(&s.Exists)
	c.number(&s.Size)
	c.number(&s.ModTime)
	c.number(&s.Inode)
	c.number(&s.Change)
}

// ReadUserRoutes returns the rules of the user and of plugins from their snapshot, unless a
// source file has changed since it was written. If candidate is not nil, only rules that it
// accepts are returned.
func ReadUserRoutes(l Locations, p RoutesPlace, candidate func(*Rule) bool) (*RoutesSnapshot, error) {
	return readRoutes(l, p.User(), 0, candidate)
}

// ReadProjectRoutes is ReadUserRoutes for the rules that a project adds to those of the
// user's snapshot.
func ReadProjectRoutes(l Locations, p RoutesPlace, user *RoutesSnapshot,
	candidate func(*Rule) bool) (*RoutesSnapshot, error) {
	return readRoutes(l, p, user.Sum(), candidate)
}

func readRoutes(l Locations, p RoutesPlace, user int64, candidate func(*Rule) bool) (*RoutesSnapshot, error) {
	path := routesPath(l, p)
	data, err := readCacheFile(path)
	if err != nil {
		return nil, err
	}
	s, err := parseRoutesSnapshot(data, candidate)
	switch {
	case err != nil:
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	case s.Place != p:
		return nil, errors.New(path + " is for another folder")
	case s.User != user:
		return nil, errors.New(path + " is outdated: changed rules of the user")
	}
	if changed := firstChanged(s.Sources); changed != "" {
		return nil, errors.New(path + " is outdated: changed " + changed)
	}
	return s, nil
}

// PlaceIn returns the place of the rules snapshot in a file, even if the snapshot
// is outdated.
func PlaceIn(path string) (RoutesPlace, error) {
	data, err := readCacheFile(path)
	if err != nil {
		return RoutesPlace{}, err
	}
	s, err := parseRoutesSnapshot(data, func(*Rule) bool { return false })
	if err != nil {
		return RoutesPlace{}, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return s.Place, nil
}

func parseRoutesSnapshot(data []byte, candidate func(*Rule) bool) (*RoutesSnapshot, error) {
	s := &RoutesSnapshot{candidate: candidate}
	if err := decodeFields(data, routesMagic, s.code); err != nil {
		return nil, err
	}
	s.sum, s.candidate = binary.LittleEndian.Uint64(data[len(routesMagic):]), nil
	return s, nil
}

// Write writes the snapshot to l.Cache.
func (s *RoutesSnapshot) Write(l Locations) error {
	return writeCacheFile(l, routesPath(l, s.Place), s.encode())
}

func (s *RoutesSnapshot) encode() []byte {
	data := encodeFields(routesMagic, s.code)
	s.sum = binary.LittleEndian.Uint64(data[len(routesMagic):])
	return data
}

func routesPath(l Locations, p RoutesPlace) string {
	return cacheFile(l, "routes", p.Config+"\x00"+p.Project+"\x00"+p.Plugin+"\x00"+p.Claude+"\x00"+p.Files, ".snapshot")
}

// FirstAbsent returns the topmost folder below root that path needs and that does not
// exist, or path itself. As long as that folder does not exist, path does not either.
func FirstAbsent(root, path string) string {
	absent := path
	for dir := Dir(path); len(dir) > len(root); dir = Dir(dir) {
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			absent = dir
		}
	}
	return absent
}
