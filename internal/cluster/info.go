package cluster

import "encoding/json"

// Info describes a pushed database to readers.
type Info struct {
	Description string   `json:"description,omitempty"`
	Keywords    []string `json:"keywords,omitempty"`
	URLs        []string `json:"urls,omitempty"`
	Version     string   `json:"version,omitempty"`
	Language    string   `json:"language,omitempty"`
	Documents   int      `json:"documents"`
}

func InfoOf(c *Commit) Info {
	var info Info
	if json.Unmarshal(c.Info, &info) != nil {
		return Info{}
	}
	return info
}
