package cluster

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/docsearch/docsearch/internal/progress"
)

// Remove removes a database from the cluster. Readers no longer find it when its state is
// gone. The error wraps ErrNoDatabase if the cluster does not contain it.
func (c *Client) Remove(ctx context.Context, name string) error {
	_, err := c.Commit(ctx, name)
	if err != nil && !errors.Is(err, ErrNoDatabase) {
		// A state that cannot be read can be removed.
		if _, refused := errors.AsType[*RefusedError](err); refused || ctx.Err() != nil {
			return err
		}
	}
	missing := err
	tenants, err := c.tenants(ctx, name)
	if err != nil && !isMissing(err) { // missing: there is no schema
		return err
	}
	if errors.Is(missing, ErrNoDatabase) && len(tenants) == 0 {
		return missing
	}
	if err := c.deleteCommit(ctx, name); err != nil {
		return err
	}
	return c.dropTenants(ctx, tenants)
}

// samples is the number of passages that Verify reads at every node.
const samples = 20

// Verify compares the nodes of the cluster with the state of a database: the visible
// objects, the statistics, and the contents of some passages. It returns sentences, one
// per problem. The error reports why it cannot verify.
func (c *Client) Verify(ctx context.Context, name string,
	report progress.Func) (commit *Commit, problems []string, err error) {
	if commit, err = c.Commit(ctx, name); err != nil {
		return nil, nil, err
	}
	report.Report("checking nodes", 0, int64(len(c.nodes)))
	nodes, err := c.Nodes(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, n := range nodes {
		if n.Status != "HEALTHY" {
			problems = append(problems, fmt.Sprintf("node %s is %s", n.Name, n.Status))
		}
	}
	for i, n := range c.nodes {
		found, err := c.only(n).verifyNode(ctx, commit)
		if err != nil && ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err != nil {
			found = append(found, err.Error())
		}
		for _, p := range found {
			problems = append(problems, n.url+": "+p)
		}
		report.Report("checking nodes", int64(i+1), int64(len(c.nodes)))
	}
	return commit, problems, nil
}

// verifyNode verifies the only node of the client.
func (c *Client) verifyNode(ctx context.Context, commit *Commit) (problems []string, err error) {
	if _, err := c.readParts(ctx, commit.Tenant, commit.Stats); err != nil {
		return nil, err
	}
	have, err := c.list(ctx, classPassages, commit.Tenant)
	if err != nil {
		return nil, err
	}
	seen := map[uint32]bool{}
	for _, slot := range have {
		if !commit.Passages.visible(slot) {
			continue
		}
		if seen[slot] {
			problems = append(problems, fmt.Sprintf("two passages have slot %d", slot))
		}
		seen[slot] = true
	}
	if len(seen) != commit.Passages.Count {
		problems = append(problems, fmt.Sprintf("%d passages, want %d", len(seen), commit.Passages.Count))
	}
	ids := slices.SortedFunc(maps.Keys(have), func(a, b objectID) int { return slices.Compare(a[:], b[:]) })
	n := min(samples, len(ids))
	for i := range n {
		if err := c.verifyPassage(ctx, commit.Tenant, ids[i*len(ids)/n]); err != nil {
			problems = append(problems, err.Error())
		}
	}
	return problems, nil
}

// verifyPassage compares a passage with its ID, which depends on all of it.
func (c *Client) verifyPassage(ctx context.Context, tenant string, id objectID) error {
	var have passageProperties
	path := "/v1/objects/" + classPassages + "/" + id.String() + "?tenant=" + tenant
	err := c.do(ctx, request{method: http.MethodGet, path: path,
		decode: into(&have, decodeProperties[passageProperties])})
	if err != nil {
		return fmt.Errorf("cannot read passage %s: %w", id, err)
	}
	record, err := base64.StdEncoding.DecodeString(have.Record)
	if err != nil {
		return fmt.Errorf("passage %s is corrupt", id)
	}
	p := Passage{have.ID, have.Bag, have.Document, have.Place, have.Line, record}
	// Equal passages have the digests of digests.
	d := p.digest()
	for range 100 {
		if d.id(tenant) == id {
			return nil
		}
		d = digestOf(d[:])
	}
	return fmt.Errorf("passage %s is corrupt", id)
}
