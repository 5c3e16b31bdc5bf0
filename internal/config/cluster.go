package config

import (
	"slices"
	"strings"
)

// A Cluster is a Weaviate cluster with a database in it. The config never contains the
// cluster's API key.
type Cluster struct {
	URLs     []string `json:"urls"`                  // of the nodes: scheme and host; at least one
	Database string   `json:"database"`              // name of the database in the cluster
	KeyEnv   string   `json:"api_key_env,omitempty"` // name of the environment variable with the API key
}

// AddClustered adds the databases in clusters to the databases of the config. Each gets
// the URL of its cluster's first node as its server.
func (c *Config) AddClustered() {
	for _, db := range c.Clustered {
		db.Remote, db.RemoteName = db.Cluster.URLs[0], db.Cluster.Database
		taken := slices.ContainsFunc(c.Databases,
			func(have Database) bool { return strings.EqualFold(have.Name, db.Name) })
		if !taken {
			c.Databases = append(c.Databases, db)
		}
	}
}
