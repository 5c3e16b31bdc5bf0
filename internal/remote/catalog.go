package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/safetext"
)

// The list of a server's databases is kept in a file of the cache folder, because the hook
// needs their keywords before it asks: a query that concerns none of them is not sent. The
// file contains the response to DatabasesPath with the usable databases only.

// maxCatalog is the maximum size of the file in bytes.
const maxCatalog = 4 << 20

// Fetch downloads the list of a server's databases and stores it. It reports whether the
// list has changed.
func Fetch(ctx context.Context, c *Client, l config.Locations) (databases []Database, changed bool, err error) {
	list, err := c.Databases(ctx)
	if err != nil {
		return nil, false, err
	}
	databases = list.Databases
	data, err := json.Marshal(Databases{Databases: databases})
	if err != nil {
		return nil, false, err
	}
	path := config.RemoteCatalogPath(l, c.server.URL)
	if path == "" {
		return databases, false, errors.New("cannot store the list of databases: the home directory is not known")
	}
	if old, err := atomicfile.Read(path, maxCatalog); err == nil && bytes.Equal(old, data) {
		return databases, false, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return databases, false, err
	}
	return databases, true, atomicfile.Write(path, data, 0o600)
}

// AddTo adds the databases of the config's servers to the config, as far as their lists
// are known. A list that cannot be read is an error; the others are added.
func AddTo(c *config.Config, l config.Locations) error {
	var problems []error
	for i := range c.Remotes {
		r := &c.Remotes[i]
		list, err := Known(l, r.URL)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		databases := make([]config.Database, len(list))
		for i, d := range list {
			databases[i] = config.Database{Name: d.Name, Description: d.Description, Keywords: d.Keywords, URLs: d.URLs,
				Version: d.Version, Packages: d.Packages}
			if dir := config.MirrorPath(l, r.URL, d.Name); r.Mirror && d.Pack != "" && dir != "" &&
				generation.HasManifest(dir) {
				databases[i].Path, databases[i].Version = dir, "" // the mirror knows its version
				databases[i].Publisher = publisherOf(dir)
			}
		}
		c.AddRemote(r, databases)
	}
	return errors.Join(problems...)
}

// Known returns the last downloaded list of a server's databases, none if it was not
// downloaded yet.
func Known(l config.Locations, url string) ([]Database, error) {
	path := config.RemoteCatalogPath(l, url)
	if path == "" {
		return nil, nil
	}
	data, err := atomicfile.Read(path, maxCatalog)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := decodeCatalog(data)
	return list.Databases, err
}

// publisherOf returns the name of the publisher with whose key a mirror was built, or "".
// That of the server's list would prove nothing.
func publisherOf(mirror string) string {
	g, err := generation.Current(mirror)
	var options struct {
		Publisher string `json:"publisher"` // public key
	}
	if err != nil || json.Unmarshal(g.Options, &options) != nil {
		return ""
	}
	return safetext.Line(pack.Key(options.Publisher).Name())
}

// decodeCatalog decodes a list of databases. It omits databases that cannot be used, and
// cleans the texts, which a hook shows.
func decodeCatalog(data []byte) (Databases, error) {
	response, err := decode[Databases](data)
	if err != nil {
		return Databases{}, err
	}
	usable := []Database{}
	for _, d := range response.Databases {
		if !d.usable() || len(usable) == MaxDatabases {
			continue
		}
		d.Name, d.Description, d.Version = safetext.Line(d.Name), safetext.Line(d.Description), safetext.Line(d.Version)
		d.Pack = safetext.Identifier(d.Pack)
		for _, list := range [][]string{d.Keywords, d.URLs, d.Packages} {
			for i := range list {
				list[i] = safetext.Identifier(list[i])
			}
		}
		usable = append(usable, d)
	}
	return Databases{usable, safetext.Line(response.Version)}, nil
}
