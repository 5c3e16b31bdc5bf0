package config

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// A Remote is a docsearch server on another machine. At most one source of its token is
// set. The config never contains the token itself.
type Remote struct {
	URL          string   `json:"url"`                     // scheme and host
	TokenFile    string   `json:"token_file,omitempty"`    // absolute path
	TokenEnv     string   `json:"token_env,omitempty"`     // name of an environment variable
	TokenCommand []string `json:"token_command,omitempty"` // program with its arguments
	TimeoutMS    int      `json:"timeout_ms"`              // of the hook's request
	// Mirror keeps the server's databases that came as packs on this machine, too. They
	// are then used without the server.
	Mirror bool `json:"mirror,omitempty"`
}

// DefaultRemoteTimeoutMS is the default time for the hook's request to a server.
const DefaultRemoteTimeoutMS = 400

// RemoteDownTime is how long the hook does not ask a server again that did not answer.
const RemoteDownTime = 30 * time.Second

// AddRemote adds the databases of a server to those of the config. A database with a Path
// has a mirror there, which is used instead of the server. Each database keeps its name
// unless that is taken; then it is the name, "@" and the server's host. Called again after
// a change of either list, it gives the same names if the list before it is the same.
func (c *Config) AddRemote(r *Remote, databases []Database) {
	host := Host(r.URL)
	for _, db := range databases {
		db.Mode, db.Entry = ModeAnswer, -1
		if db.Path == "" {
			db.Remote, db.RemoteName = r.URL, db.Name
		}
		if len(db.Keywords) == 0 {
			db.Keywords = []string{db.Name}
		}
		if c.hasName(db.Name) {
			db.Name += "@" + host
		}
		if !c.hasName(db.Name) {
			c.Databases = append(c.Databases, db)
		}
	}
}

// RemoteCatalogPath returns the file with the list of a server's databases, which is
// written by package remote, or "" if there is no cache folder.
func RemoteCatalogPath(l Locations, url string) string { return remotePath(l, url, ".json") }

// MirrorFolder returns the folder of the mirrors of all servers' databases, or "" if there
// is no data folder.
func MirrorFolder(l Locations) string {
	if l.Data == "" {
		return ""
	}
	return Join(l.Data, ".mirrors")
}

// MirrorPath returns the folder of the mirror of a server's database, or "". Its name does
// not depend on what a server can choose.
func MirrorPath(l Locations, url, name string) string {
	dir := MirrorFolder(l)
	if dir == "" {
		return ""
	}
	return Join(dir, fmt.Sprintf("%016x", checksum([]byte(url+"\x00"+name))))
}

// RemoteDown reports whether a server did not answer within the last RemoteDownTime.
func RemoteDown(l Locations, url string, now time.Time) bool {
	path := remotePath(l, url, ".down")
	if path == "" {
		return false
	}
	st, err := os.Stat(path)
	return err == nil && now.Sub(st.ModTime()).Abs() < RemoteDownTime
}

// SetRemoteDown records whether a server answers. The record is a file whose
// modification time counts.
func SetRemoteDown(l Locations, url string, down bool) error {
	path := remotePath(l, url, ".down")
	switch {
	case path == "":
		return nil
	case down:
		return writeCacheFile(l, path, []byte("down\n"))
	}
	return removeCacheFile(path)
}

// RelayPath returns the folder and the name of the socket through which hooks ask servers,
// see package remote. There is one per config file.
func RelayPath(l Locations) (dir, socket string) {
	if l.Cache == "" || l.Config == "" {
		return "", ""
	}
	dir = Join(l.Cache, "relay")
	return dir, Join(dir, fmt.Sprintf("%016x", checksum([]byte(l.Config))))
}

func remotePath(l Locations, url, extension string) string {
	return cacheFile(l, "server", url, extension)
}

// IsServerURL reports whether url can be that of a server: https and a host, or http on
// this machine, because a token must not cross a network in the clear.
func IsServerURL(url string) bool {
	rest, secure := strings.CutPrefix(url, "https://")
	if !secure {
		var plain bool
		if rest, plain = strings.CutPrefix(url, "http://"); !plain {
			return false
		}
	}
	host := Host(url)
	if rest == "" || host == "" || strings.ContainsAny(rest, "/?#@ \t\r\n") {
		return false
	}
	return secure || host == "localhost" || host == "127.0.0.1" || strings.HasPrefix(rest, "[::1]")
}
