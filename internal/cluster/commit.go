package cluster

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Format is the version of the commit and of the objects that it describes.
//
//	1  as described at the package
const Format = 1

// A Commit is the current state of a database in the cluster. It is one object, written
// last by a push, so that readers see a push whole or not at all.
type Commit struct {
	Format   int       `json:"format"`
	Name     string    `json:"name"`
	Tenant   string    `json:"tenant"`
	Content  string    `json:"content"` // digest of all records; see contentDigest
	Passages Slots     `json:"passages"`
	Stats    PartsRef  `json:"statistics"`
	Pushed   time.Time `json:"pushed"`
	Tool     string    `json:"tool,omitempty"` // version of docsearch
	Retired  []Retired `json:"retired,omitempty"`
	// Info describes the database; package cluster does not read it.
	Info json.RawMessage `json:"info,omitempty"`
}

// Slots are the visible objects of a class in a tenant. Each object has a slot, which no
// other object of the class gets. An object is visible if its slot is below End and not
// in Dead. So a push can add objects to a tenant that is in use, and hide others, at the
// moment when the commit changes.
type Slots struct {
	Count int    `json:"count"`
	End   uint32 `json:"end"`
	Dead  Set    `json:"dead,omitempty"`
}

// visible reports whether an object with this slot is part of the database.
func (s *Slots) visible(slot uint32) bool {
	_, dead := slices.BinarySearch(s.Dead, slot)
	return slot < s.End && !dead
}

// A Retired tenant is no longer in use. A later push drops it.
type Retired struct {
	Tenant string    `json:"tenant"`
	Since  time.Time `json:"since"`
}

// A PartsRef locates a file that is stored in parts of partSize bytes.
type PartsRef struct {
	Digest string `json:"sha256"`
	Size   int    `json:"size"`
}

// A Set is an ascending list of numbers. In JSON, it is the base64 text of the varints of
// the differences between neighbors, starting at 0.
type Set []uint32

// MarshalJSON encodes the set.
func (s Set) MarshalJSON() ([]byte, error) {
	var data []byte
	last := uint32(0)
	for _, n := range s {
		data = binary.AppendUvarint(data, uint64(n-last))
		last = n
	}
	return json.Marshal(base64.StdEncoding.EncodeToString(data))
}

// UnmarshalJSON decodes a set and checks that it is strictly ascending.
func (s *Set) UnmarshalJSON(text []byte) error {
	var encoded string
	if err := json.Unmarshal(text, &encoded); err != nil {
		return err
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return err
	}
	var decoded Set
	last := uint64(0)
	for len(data) > 0 {
		delta, n := binary.Uvarint(data)
		if n <= 0 || delta > maxSlots || last+delta > maxSlots || delta == 0 && len(decoded) > 0 {
			return errors.New("invalid set of slots")
		}
		data, last = data[n:], last+delta
		decoded = append(decoded, uint32(last))
	}
	*s = decoded
	return nil
}

// maxSlots is the maximum number of slots of a class in a tenant.
const maxSlots = 1<<32 - 2

// maxStatistics is the maximum size of a statistics file in bytes.
const maxStatistics = 1 << 30

// ErrNoDatabase is wrapped by errors about a database that the cluster does not contain.
var ErrNoDatabase = errors.New("the cluster does not contain the database")

// decodeCommit decodes and checks a commit.
func decodeCommit(text string) (*Commit, error) {
	var c Commit
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return nil, fmt.Errorf("invalid state of the database: %w", err)
	}
	if c.Format != Format {
		return nil, fmt.Errorf("the database %q has format %d, this docsearch reads format %d", c.Name, c.Format,
			Format)
	}
	invalid := func(what string) (*Commit, error) {
		return nil, fmt.Errorf("invalid state of the database: %s", what)
	}
	if !validTenant(c.Tenant) {
		return invalid("tenant")
	}
	s := &c.Passages
	if n := len(s.Dead); s.Count < 0 || s.Count+n > int(s.End) || n > 0 && s.Dead[n-1] >= s.End {
		return invalid("slots")
	}
	if digest, err := hex.DecodeString(c.Stats.Digest); err != nil || len(digest) != 32 || c.Stats.Size < 0 ||
		c.Stats.Size > maxStatistics {
		return invalid("statistics")
	}
	if slices.ContainsFunc(c.Retired, func(r Retired) bool { return !validTenant(r.Tenant) }) {
		return invalid("retired tenants")
	}
	return &c, nil
}

type databaseObject struct {
	Name   string `json:"name"`
	Commit string `json:"commit"`
}

type listedDatabase struct {
	databaseObject
	Additional struct {
		ID string `json:"id"`
	} `json:"_additional"`
}

func databaseID(name string) objectID { return newID([]byte("database"), []byte(name)) }

// Commit returns the state of a database. The error wraps ErrNoDatabase if the cluster
// does not contain it.
func (c *Client) Commit(ctx context.Context, name string) (*Commit, error) {
	// A node that was down during a push has the old state until it is repaired. A quorum
	// contains a newer one.
	commit, err := c.readCommit(ctx, name, "QUORUM")
	if errors.Is(err, ErrUnavailable) && ctx.Err() == nil {
		commit, err = c.readCommit(ctx, name, "ONE")
	}
	return commit, err
}

func (c *Client) readCommit(ctx context.Context, name, consistency string) (commit *Commit, err error) {
	path := "/v1/objects/" + classDatabases + "/" + databaseID(name).String() + "?consistency_level=" + consistency
	err = c.do(ctx, request{method: http.MethodGet, path: path, decode: func(data []byte) error {
		object, err := decodeProperties[databaseObject](data)
		if err != nil {
			return err
		}
		if object.Name != name {
			return errors.New("invalid answer: another database")
		}
		commit, err = decodeCommit(object.Commit)
		return err
	}})
	if refused, ok := errors.AsType[*RefusedError](err); ok &&
		(refused.Status == http.StatusNotFound || refused.Status == http.StatusUnprocessableEntity) {
		err = fmt.Errorf("%q: %w", name, ErrNoDatabase)
	}
	return commit, err
}

// writeCommit makes a state the current one of its database.
func (c *Client) writeCommit(ctx context.Context, commit *Commit) error {
	text, err := json.Marshal(commit)
	if err != nil {
		return err
	}
	id := databaseID(commit.Name).String()
	body, err := json.Marshal(map[string]any{"objects": []object{{
		Class: classDatabases, ID: id, Properties: databaseObject{Name: commit.Name, Commit: string(text)},
	}}})
	if err != nil {
		return err
	}
	return c.persist(ctx, writeTimeout, request{
		method: http.MethodPost, path: "/v1/batch/objects?consistency_level=QUORUM", body: body,
		decode: func(data []byte) error { return decodeBatch(data, []string{id}) },
	})
}

// Databases returns the states of all databases in the cluster, by name.
func (c *Client) Databases(ctx context.Context) ([]*Commit, error) {
	have, err := c.classes(ctx)
	if err != nil || !slices.Contains(have, classDatabases) {
		return nil, err
	}
	const page = 100
	var all []*Commit
	for after := ""; ; {
		query := fmt.Sprintf("{Get{%s(limit:%d,after:%s){name commit _additional{id}}}}", classDatabases, page,
			quote(after))
		objects, err := find[listedDatabase](ctx, c, classDatabases, query)
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			commit, err := decodeCommit(o.Commit)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", o.Name, err)
			}
			all = append(all, commit)
			after = o.Additional.ID
		}
		if len(objects) < page {
			slices.SortFunc(all, func(a, b *Commit) int { return strings.Compare(a.Name, b.Name) })
			return all, nil
		}
	}
}

// deleteCommit removes the state of a database, after which readers no longer find it.
func (c *Client) deleteCommit(ctx context.Context, name string) error {
	return c.delete(ctx, "/v1/objects/"+classDatabases+"/"+databaseID(name).String()+"?consistency_level=QUORUM")
}

// graphqlPath is the path of queries, which change nothing.
const graphqlPath = "/v1/graphql"

// graphql sends a query.
func (c *Client) graphql(ctx context.Context, query string, decode func([]byte) error) error {
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		return err
	}
	return c.do(ctx, request{method: http.MethodPost, path: graphqlPath, body: body, decode: decode})
}

// find returns the objects of a class that a query finds.
func find[T any](ctx context.Context, c *Client, class, query string) (objects []T, err error) {
	err = c.graphql(ctx, query, into(&objects, func(data []byte) ([]T, error) { return decodeObjects[T](data, class) }))
	return objects, err
}

// quote returns a string as GraphQL writes it, which is as JSON does.
func quote(text string) string {
	data, _ := json.Marshal(text) // a string can always be encoded
	return string(data)
}
