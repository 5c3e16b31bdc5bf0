package cluster

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Names of the classes. The number is the version of the schema: a class is never
// changed, so that older programs can read their own.
const (
	classPassages  = "DocsearchPassages1"
	classParts     = "DocsearchParts1"
	classDatabases = "DocsearchDatabases1"
)

// tenantClasses are the classes that contain a tenant of each database.
var tenantClasses = []string{classPassages, classParts}

// BM25K1 and BM25B are the parameters of BM25 in Weaviate. docsearch's own scores do not
// depend on them. They are equal because Weaviate 1.33 to 1.37.0 swaps them where it
// computes the upper bounds of new segments (upstream pull request 12022), which then
// prune good matches. On the judged queries, four other pairs were not better.
const (
	BM25K1 = 1
	BM25B  = 1
)

// schemaTimeout limits a change of the schema. After the loss of the Raft leader, changes
// failed for 10 seconds.
const schemaTimeout = time.Minute

// nodesTimeout limits the request for the state of the nodes.
const nodesTimeout = 20 * time.Second

type property struct {
	Name         string   `json:"name"`
	DataType     []string `json:"dataType"`
	Tokenization string   `json:"tokenization,omitempty"`
	Searchable   *bool    `json:"indexSearchable,omitempty"`
	Filterable   bool     `json:"indexFilterable"`
}

// searched is a text whose words, separated by spaces, BM25 searches.
func searched(name string) property {
	yes := true
	return property{Name: name, DataType: []string{"text"}, Tokenization: "whitespace", Searchable: &yes}
}

// stored is a text that is stored only, filtered one that conditions compare.
func stored(name string) property {
	no := false
	return property{Name: name, DataType: []string{"text"}, Tokenization: "field", Searchable: &no}
}

func filtered(name string) property {
	p := stored(name)
	p.Filterable = true
	return p
}

func number(name string) property { return property{Name: name, DataType: []string{"int"}} }

func blob(name string) property { return property{Name: name, DataType: []string{"blob"}} }

type class struct {
	Class       string         `json:"class"`
	Description string         `json:"description"`
	Vectorizer  string         `json:"vectorizer"`
	VectorIndex map[string]any `json:"vectorIndexConfig"`
	Tenants     map[string]any `json:"multiTenancyConfig"`
	Sharding    map[string]any `json:"shardingConfig,omitempty"`
	Replication map[string]any `json:"replicationConfig"`
	Inverted    map[string]any `json:"invertedIndexConfig"`
	Properties  []property     `json:"properties"`
}

// newClass returns a class with one copy of each object on every one of the nodes.
func newClass(name, description string, tenants bool, copies int, properties ...property) class {
	c := class{
		Class: name, Description: description, Vectorizer: "none", VectorIndex: map[string]any{"skip": true},
		Tenants: map[string]any{"enabled": tenants},
		Replication: map[string]any{"factor": copies, "asyncEnabled": copies > 1,
			"deletionStrategy": "TimeBasedResolution"},
		Inverted: map[string]any{"bm25": map[string]any{"k1": BM25K1, "b": BM25B},
			"stopwords": map[string]any{"preset": "none"}},
		Properties: properties,
	}
	if tenants {
		c.Tenants["autoTenantActivation"] = true
	} else {
		c.Sharding = map[string]any{"desiredCount": 1} // by default, a shard for each node
	}
	return c
}

// schema returns the classes. The cluster keeps that number of copies of each object.
func schema(copies int) []class {
	return []class{
		newClass(classPassages, "passages of docsearch databases", true, copies,
			searched("bag"), filtered("passage"), filtered("document"), number("place"), number("slot"), stored("line"),
			blob("record")),
		newClass(classParts, "parts of the statistics of docsearch databases", true, copies, number("slot"),
			blob("data")),
		newClass(classDatabases, "current state of each docsearch database", false, copies, filtered("name"),
			stored("commit")),
	}
}

// maxCopies is the number of copies of each object in a cluster with enough nodes: one
// node may fail.
const maxCopies = 3

// CreateSchema creates the classes that the cluster does not have yet.
func (c *Client) CreateSchema(ctx context.Context) error {
	have, err := c.classes(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(schema(1), func(class class) bool { return !slices.Contains(have, class.Class) }) {
		return nil
	}
	copies, err := c.copies(ctx)
	if err != nil {
		return err
	}
	for _, class := range schema(copies) {
		if slices.Contains(have, class.Class) {
			continue
		}
		err := c.createClass(ctx, class)
		if refused, ok := errors.AsType[*RefusedError](err); ok && refused.Status == http.StatusUnprocessableEntity &&
			strings.Contains(refused.Text, "already exists") {
			continue // another push has created it meanwhile
		}
		if err != nil {
			return fmt.Errorf("cannot create the class %s: %w", class.Class, err)
		}
	}
	return nil
}

// copies returns the number of copies of each object.
func (c *Client) copies(ctx context.Context) (int, error) {
	var nodes []NodeStatus
	// Nodes answer with status 500 until they have noticed that another one is down.
	err := c.persist(ctx, nodesTimeout, nodesRequest(&nodes))
	return min(len(nodes), maxCopies), err
}

func (c *Client) createClass(ctx context.Context, definition class) error {
	body, err := json.Marshal(definition)
	if err != nil {
		return err
	}
	return c.persist(ctx, schemaTimeout, request{method: http.MethodPost, path: "/v1/schema", body: body})
}

// deleteClass deletes a class with its objects.
func (c *Client) deleteClass(ctx context.Context, name string) error {
	return c.persist(ctx, schemaTimeout, request{method: http.MethodDelete, path: "/v1/schema/" + name})
}

// classes returns the names of the classes in the cluster.
func (c *Client) classes(ctx context.Context) ([]string, error) {
	var names []string
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/schema", decode: into(&names, decodeSchema)})
	return names, err
}

// decodeSchema decodes the names of the classes in a schema.
func decodeSchema(data []byte) ([]string, error) {
	var answer struct {
		Classes *[]struct {
			Class string `json:"class"`
		} `json:"classes"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, fmt.Errorf("invalid answer: %w", err)
	}
	if answer.Classes == nil {
		return nil, errors.New("invalid answer: no classes")
	}
	names := make([]string, len(*answer.Classes))
	for i, c := range *answer.Classes {
		names[i] = c.Class
	}
	return names, nil
}

// Nodes returns the state of the cluster's nodes in the view of one of them.
func (c *Client) Nodes(ctx context.Context) ([]NodeStatus, error) {
	var nodes []NodeStatus
	err := c.do(ctx, nodesRequest(&nodes))
	return nodes, err
}

func nodesRequest(nodes *[]NodeStatus) request {
	return request{method: http.MethodGet, path: "/v1/nodes", decode: into(nodes, decodeNodes)}
}

// createTenant creates a tenant in all classes that have tenants, unless it exists.
func (c *Client) createTenant(ctx context.Context, tenant string) error {
	if err := c.changeTenants(ctx, http.MethodPost, []map[string]string{{"name": tenant}}); err != nil {
		return fmt.Errorf("cannot create the tenant %s: %w", tenant, err)
	}
	return nil
}

// dropTenants deletes tenants with their objects. Tenants that do not exist are ignored.
func (c *Client) dropTenants(ctx context.Context, tenants []string) error {
	if len(tenants) == 0 {
		return nil
	}
	if err := c.changeTenants(ctx, http.MethodDelete, tenants); err != nil {
		return fmt.Errorf("cannot delete the tenants %s: %w", strings.Join(tenants, ", "), err)
	}
	return nil
}

// changeTenants sends a change of the tenants of all classes that have tenants.
func (c *Client) changeTenants(ctx context.Context, method string, tenants any) error {
	body, err := json.Marshal(tenants)
	if err != nil {
		return err
	}
	for _, class := range tenantClasses {
		if err := c.persist(ctx, schemaTimeout, request{method: method, path: "/v1/schema/" + class + "/tenants", body: body}); err != nil {
			return err
		}
	}
	return nil
}

// tenants returns the tenants of a database, sorted.
func (c *Client) tenants(ctx context.Context, database string) ([]string, error) {
	var own []string
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/schema/" + classPassages + "/tenants",
		decode: func(data []byte) error {
			all, err := decodeTenants(data)
			prefix := tenantPrefix(database)
			own = slices.DeleteFunc(all, func(t string) bool { return !strings.HasPrefix(t, prefix) })
			slices.Sort(own)
			return err
		}})
	return own, err
}

// tenantPrefix returns the start of the names of a database's tenants: the start of the
// database's name for people, and a part of its digest. A tenant's name may contain only
// letters, digits, hyphens and underscores.
func tenantPrefix(database string) string {
	readable := strings.Map(func(r rune) rune {
		if validTenant(string(r)) {
			return r
		}
		return '_'
	}, database)
	sum := sha1.Sum([]byte(database))
	return readable[:min(len(readable), 24)] + "-" + hex.EncodeToString(sum[:4]) + "-"
}

// newTenant returns the name of a new tenant for a database.
func newTenant(database string) string {
	return tenantPrefix(database) + fmt.Sprintf("%016x", rand.Uint64())
}
