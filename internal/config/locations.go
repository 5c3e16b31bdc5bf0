package config

import (
	"cmp"
	"os"
	"runtime"
	"strings"
)

// A Getenv returns the value of an environment variable, as os.Getenv does.
type Getenv func(string) string

// Locations are the paths of docsearch's files. A path that the environment does not
// determine, such as without a home directory, is empty.
type Locations struct {
	Config string // the config file
	State  string // folder of the hook's state
	Cache  string // folder of files that can be recreated
	Data   string // folder of the databases that docsearch builds
	// Projects is the folder of the databases that belong to projects, and of their
	// registrations. It is the same in a plugin's hook and on the command line.
	Projects string
}

// Locate returns the locations:
//
//	Config  $DOCSEARCH_CONFIG_PATH, else ~/.claude/hooks/docsearch-config.json
//	State   $DOCSEARCH_STATE_DIR, else the folder of the config file
//	Cache   $DOCSEARCH_CACHE_DIR, else $XDG_CACHE_HOME/docsearch, else the system's cache folder
//	Data    $DOCSEARCH_DATA, else $CLAUDE_PLUGIN_DATA/databases, else $XDG_DATA_HOME/docsearch,
//	        else ~/.local/share/docsearch, on Windows %LocalAppData%\docsearch
//	Projects .projects in the data folder that Data would be without a plugin
func Locate(getenv Getenv) Locations {
	home := Home(getenv)
	set := func(name string) string { return absolute(Expand(getenv(name), home)) }
	under := func(dir string, names ...string) string {
		if dir == "" {
			return ""
		}
		return Join(dir, names...)
	}
	var l Locations
	l.Config = set("DOCSEARCH_CONFIG_PATH")
	if l.Config == "" {
		l.Config = under(home, ".claude", "hooks", "docsearch-config.json")
	}
	l.State = set("DOCSEARCH_STATE_DIR")
	if l.State == "" && l.Config != "" {
		l.State = Dir(l.Config)
	}
	l.Cache = cmp.Or(
		set("DOCSEARCH_CACHE_DIR"),
		under(set("XDG_CACHE_HOME"), "docsearch"),
		systemCache(getenv, home, under))
	own := cmp.Or(under(set("XDG_DATA_HOME"), "docsearch"), systemData(getenv, home, under))
	l.Data = cmp.Or(set("DOCSEARCH_DATA"), under(set("CLAUDE_PLUGIN_DATA"), "databases"), own)
	l.Projects = under(cmp.Or(set("DOCSEARCH_DATA"), own), ".projects")
	return l
}

// KeyPath returns the file of the user's key for seals (see package provenance), or "" if
// there is no data folder. It ignores the plugin's data folder, because the same databases
// may be built on the command line and updated by a plugin's hook.
func KeyPath(getenv Getenv) string { return inUserData(getenv, ".provenance.key") }

// PublisherKeyPath returns the default file of the user's private key for packs (see
// package pack), or "" if there is no data folder.
func PublisherKeyPath(getenv Getenv) string { return inUserData(getenv, ".publisher.key") }

// TokensPath returns the file of the tokens of the HTTP server (see package accesstoken),
// or "" if there is no data folder.
func TokensPath(getenv Getenv) string { return inUserData(getenv, ".tokens.json") }

// MigrationPath returns the folder with the copies of files that "docsearch migrate" changed, or ""
// if there is no data folder.
func MigrationPath(getenv Getenv) string { return inUserData(getenv, ".migration") }

// ProgramPath returns the file of a copy of docsearch for the agents' settings, or "" if
// there is no data folder.
func ProgramPath(getenv Getenv) string {
	name := "docsearch"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return inUserData(getenv, ".bin", name)
}

// inUserData returns a path in the user's data folder, also in the plugin's hook.
func inUserData(getenv Getenv, names ...string) string {
	own := func(name string) string {
		if name == "CLAUDE_PLUGIN_DATA" {
			return ""
		}
		return getenv(name)
	}
	data := Locate(own).Data
	if data == "" {
		return ""
	}
	return Join(data, names...)
}

// Home returns the user's home directory, or "" if the environment does not contain it.
func Home(getenv Getenv) string {
	if runtime.GOOS == "windows" {
		return getenv("USERPROFILE")
	}
	return getenv("HOME")
}

func systemCache(getenv Getenv, home string, under func(string, ...string) string) string {
	switch runtime.GOOS {
	case "windows":
		return under(getenv("LOCALAPPDATA"), "docsearch", "cache")
	case "darwin":
		return under(home, "Library", "Caches", "docsearch")
	}
	return under(home, ".cache", "docsearch")
}

func systemData(getenv Getenv, home string, under func(string, ...string) string) string {
	if runtime.GOOS == "windows" {
		return under(getenv("LOCALAPPDATA"), "docsearch", "data")
	}
	return under(home, ".local", "share", "docsearch")
}

// Expand replaces a leading "~" with the home directory, as a shell does and the settings
// of an agent do not.
func Expand(path, home string) string {
	if home == "" || path == "" || path[0] != '~' || len(path) > 1 && !os.IsPathSeparator(path[1]) {
		return path
	}
	return home + path[1:]
}

// IsAbs, Join and Dir replace those of path/filepath, whose position in the order of
// package initialization would delay the hook.

// IsAbs reports whether path is absolute.
func IsAbs(path string) bool {
	if runtime.GOOS != "windows" {
		return path != "" && path[0] == '/'
	}
	drive := len(path) > 2 && path[1] == ':' && os.IsPathSeparator(path[2])
	share := len(path) > 2 && os.IsPathSeparator(path[0]) && os.IsPathSeparator(path[1])
	return drive || share
}

// Join appends names to dir.
func Join(dir string, names ...string) string {
	for _, name := range names {
		if dir == "" || !os.IsPathSeparator(dir[len(dir)-1]) {
			dir += string(os.PathSeparator)
		}
		dir += name
	}
	return dir
}

// Dir returns the parent folder of path.
func Dir(path string) string {
	i := len(path) - 1
	for i >= 0 && !os.IsPathSeparator(path[i]) {
		i--
	}
	switch {
	case i < 0:
		return "."
	case i == 0 || path[i-1] == ':':
		return path[:i+1]
	}
	return path[:i]
}

// absolute makes a path from the environment independent of the working directory, which
// differs between hooks.
func absolute(path string) string {
	if path == "" || IsAbs(path) {
		return path
	}
	dir, err := os.Getwd()
	if err != nil {
		return path
	}
	return Join(dir, path)
}

// ShellPath quotes a path for sh, which on Windows is part of Git and accepts slashes. Agents'
// settings and the hook's texts name a program in the same way, because a permission must begin
// as the command does.
func ShellPath(path string) string {
	if runtime.GOOS == "windows" {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	plain := func(r rune) bool {
		return r > 0x7f || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
			strings.ContainsRune("/._-+:@%,=", r)
	}
	if path != "" && strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(path) + `"`
}
