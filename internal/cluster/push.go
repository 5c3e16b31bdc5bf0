package cluster

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/docsearch/docsearch/internal/progress"
)

const (
	// batchObjects and batchBytes limit a batch of objects.
	batchObjects = 400
	batchBytes   = 4 << 20
	// batchTimeout limits a batch at one node. A request to a surviving node once hung
	// for 300 seconds after another node was killed.
	batchTimeout = 15 * time.Second
	// writeTimeout limits a write with all its repetitions, at all nodes.
	writeTimeout = 2 * time.Minute
	// writers is the number of batches in flight.
	writers = 4
	// discardTimeout limits the removal of the remains of a push that failed.
	discardTimeout = 5 * time.Second
	// grace is how long readers may use the previous state of a database.
	grace = time.Hour
	// maxEdit is the share of changed records above which a push fills a new tenant.
	maxEdit = 0.1
)

// PushOptions configures Push.
type PushOptions struct {
	Name   string          // of the database in the cluster
	Tool   string          // version of docsearch
	Info   json.RawMessage // describes the database
	Report progress.Func
	Full   bool // send all records, even if the cluster has them
	// Settle limits how long a node may lack objects after the first check that finds it.
	// Default 3 minutes.
	Settle time.Duration
	Now    time.Time // zero: time.Now
}

// A PushResult describes a push.
type PushResult struct {
	Commit      *Commit
	Unchanged   bool // the cluster had this content
	Incremental bool // the push changed the tenant that was in use
	Sent        int  // objects
	Bytes       int64
	Dropped     []string // old tenants
}

// Push stores a content as the new state of a database. It waits for all nodes. If it
// fails, the old state stays current.
func (c *Client) Push(ctx context.Context, content Content, opt PushOptions) (*PushResult, error) {
	if opt.Now.IsZero() {
		opt.Now = time.Now()
	}
	if opt.Settle <= 0 {
		opt.Settle = 3 * time.Minute
	}
	if err := checkName(opt.Name); err != nil {
		return nil, err
	}
	if err := c.CreateSchema(ctx); err != nil {
		return nil, err
	}
	p := &push{client: c, content: content, opt: opt}
	return p.run(ctx)
}

// maxName is the maximum length of a database's name in bytes.
const maxName = 200

func checkName(name string) error {
	if name == "" || len(name) > maxName ||
		strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("invalid database name %q: want 1 to %d bytes without control characters", name, maxName)
	}
	return nil
}

// A push is the state of a running Push.
type push struct {
	client  *Client
	content Content
	opt     PushOptions

	inventory *inventory
	before    *Commit // nil: the cluster does not contain the database
	commit    *Commit
	passages  *plan
	parts     []object // of the statistics
	result    PushResult
}

func (p *push) run(ctx context.Context) (*PushResult, error) {
	var err error
	p.opt.Report.Report("reading passages", 0, 0)
	if p.inventory, err = takeInventory(ctx, p.content); err != nil {
		return nil, err
	}
	if p.before, err = p.client.Commit(ctx, p.opt.Name); err != nil && !errors.Is(err, ErrNoDatabase) {
		return nil, err
	}
	if p.before == nil {
		p.opt.Report.Report("testing searches", 0, 0)
		if err := p.client.ProbeSearch(ctx); err != nil {
			return nil, err
		}
	}
	digest := p.inventory.contentDigest()
	if p.before != nil && !p.opt.Full && p.before.Content == hex.EncodeToString(digest[:]) &&
		bytes.Equal(compact(p.before.Info), compact(p.opt.Info)) {
		return &PushResult{Commit: p.before, Unchanged: true}, nil
	}
	if err := p.plan(ctx, digest); err != nil {
		return nil, err
	}
	err = p.transfer(ctx)
	if err == nil {
		err = p.confirm(ctx)
	}
	if err == nil {
		err = p.publish(ctx)
	}
	if err != nil {
		p.discard(ctx)
		return nil, err
	}
	p.result.Commit = p.commit
	return &p.result, nil
}

// discard drops the new tenant of a push that failed, if the cluster permits that soon.
// Otherwise, a later push drops it.
func (p *push) discard(ctx context.Context) {
	if p.result.Incremental {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardTimeout)
	defer cancel()
	// The commit may have been written although its answer was lost.
	if now, err := p.client.Commit(ctx, p.opt.Name); err == nil && now.Tenant != p.commit.Tenant ||
		errors.Is(err, ErrNoDatabase) {
		p.client.dropTenants(ctx, []string{p.commit.Tenant})
	}
}

// compact returns JSON without spaces, for comparisons.
func compact(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// plan chooses the tenant and compares it with the content.
func (p *push) plan(ctx context.Context, content digest) error {
	p.opt.Report.Report("comparing with the cluster", 0, 0)
	p.commit = &Commit{Format: Format, Name: p.opt.Name, Content: hex.EncodeToString(content[:]), Tool: p.opt.Tool,
		Info: p.opt.Info, Pushed: p.opt.Now.UTC()}
	if p.before != nil {
		p.commit.Retired = p.before.Retired
		if err := p.planTenant(ctx, p.before.Tenant, p.before); err != nil {
			return err
		}
		changed := p.passages.missing() + len(p.passages.after.Dead)
		if !p.opt.Full && float64(changed) <= maxEdit*float64(len(p.inventory.passages)) {
			p.result.Incremental = true
			return nil
		}
	}
	tenant := newTenant(p.opt.Name)
	if err := p.client.createTenant(ctx, tenant); err != nil {
		return err
	}
	return p.planTenant(ctx, tenant, nil)
}

// planTenant compares a tenant with the content. before is the state that uses the tenant,
// nil for a new tenant.
func (p *push) planTenant(ctx context.Context, tenant string, before *Commit) error {
	p.commit.Tenant = tenant
	ids := make([]objectID, len(p.inventory.passages))
	for i, d := range p.inventory.passages {
		ids[i] = d.id(tenant)
	}
	var have map[objectID]uint32
	var slots Slots
	purge := false
	var err error
	if before != nil {
		slots, purge = before.Passages, p.opt.Now.Sub(before.Pushed) > grace
		if have, err = p.client.list(ctx, classPassages, tenant); err != nil {
			return err
		}
	}
	if p.passages, err = makePlan(ids, have, slots, purge); err != nil {
		return err
	}
	p.commit.Passages = p.passages.after
	p.commit.Stats, p.parts = parts(tenant, p.inventory.statistics)
	if before != nil && before.Stats == p.commit.Stats {
		p.parts = nil
	}
	return nil
}

// transfer deletes and sends objects until the tenant contains the content.
func (p *push) transfer(ctx context.Context) error {
	tenant := p.commit.Tenant
	if err := p.client.deleteObjects(ctx, classPassages, tenant, p.passages.drop); err != nil {
		return err
	}
	if err := p.deleteOldParts(ctx); err != nil {
		return err
	}
	total := int64(p.passages.missing())
	p.opt.Report.Report("sending passages", 0, max(1, total))
	batches := make(chan []object)
	group, groupCtx := errgroup.WithContext(ctx)
	var mu sync.Mutex // guards the result and the report
	for range writers {
		group.Go(func() error {
			for b := range batches {
				n, err := p.client.store(groupCtx, b)
				if err != nil {
					return err
				}
				mu.Lock()
				p.result.Sent += len(b)
				p.result.Bytes += int64(n)
				p.opt.Report.Show(progress.Event{Stage: "sending passages",
					Done: min(int64(p.result.Sent), max(1, total)), Total: max(1, total), Bytes: p.result.Bytes})
				mu.Unlock()
			}
			return nil
		})
	}
	group.Go(func() error {
		defer close(batches)
		return p.batch(groupCtx, batches)
	})
	return group.Wait()
}

// deleteOldParts deletes statistics of the tenant that no reader uses any more.
func (p *push) deleteOldParts(ctx context.Context) error {
	if !p.result.Incremental || p.opt.Now.Sub(p.before.Pushed) <= grace {
		return nil
	}
	have, err := p.client.list(ctx, classParts, p.commit.Tenant)
	if err != nil {
		return err
	}
	for _, ref := range []PartsRef{p.before.Stats, p.commit.Stats} {
		for i := range ref.parts() {
			delete(have, partID(p.commit.Tenant, ref, i))
		}
	}
	return p.client.deleteObjects(ctx, classParts, p.commit.Tenant, slices.Collect(maps.Keys(have)))
}

// batch reads the content and sends batches of the missing objects to a channel.
func (p *push) batch(ctx context.Context, batches chan<- []object) error {
	var batch []object
	size := 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		select {
		case batches <- batch:
			batch, size = nil, 0
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	add := func(o object, bytes int) error {
		if len(batch) >= batchObjects || size+bytes > batchBytes {
			if err := flush(); err != nil {
				return err
			}
		}
		batch = append(batch, o)
		size += bytes
		return nil
	}
	tenant := p.commit.Tenant
	passage := -1
	_, err := p.content.Export(ctx, func(r Passage) error {
		passage++
		if !p.passages.send[passage] {
			return nil
		}
		o := object{classPassages, tenant, p.passages.ids[passage].String(), r.properties(p.passages.slots[passage])}
		return add(o, len(r.Bag)+len(r.Line)+len(r.Record)*4/3+300)
	})
	if err != nil {
		return err
	}
	for _, o := range p.parts {
		if err := add(o, partSize*4/3); err != nil {
			return err
		}
	}
	return flush()
}

// store stores objects on all nodes and returns the size of the request in bytes.
//
// A node that is killed while it stores an object may have the object later, but not its
// words in the index, and then ignores the object if it is sent again. So after a failed
// request, store deletes its objects before it sends them again.
func (c *Client) store(ctx context.Context, objects []object) (size int, err error) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(map[string]any{"objects": objects, "fields": []string{"id"}}); err != nil {
		return 0, err
	}
	ids := make([]string, len(objects))
	for i, o := range objects {
		ids[i] = o.ID
	}
	put := request{
		method: http.MethodPost, path: "/v1/batch/objects?consistency_level=ALL", body: body.Bytes(),
		decode: func(data []byte) error { return decodeBatch(data, ids) },
	}
	limited, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	patient := c.withTimeout(batchTimeout)
	for {
		n := patient.order()[0]
		err := patient.only(n).do(limited, put)
		if err == nil {
			return body.Len(), nil
		}
		if ctx.Err() != nil || !errors.Is(err, ErrUnavailable) && limited.Err() == nil {
			return 0, err
		}
		n.failed(time.Now())
		for _, o := range objects {
			if limited.Err() == nil {
				err = cmp.Or(c.deleteObject(limited, o), err)
			}
		}
		if limited.Err() != nil {
			return 0, fmt.Errorf("cannot store %d objects on all nodes within %v: %w", len(objects), writeTimeout, err)
		}
	}
}

// deleteObject deletes an object on all nodes, whether or not they have it.
func (c *Client) deleteObject(ctx context.Context, o object) error {
	path := "/v1/objects/" + o.Class + "/" + o.ID + "?consistency_level=ALL"
	if o.Tenant != "" {
		path += "&tenant=" + o.Tenant
	}
	return c.delete(ctx, path)
}

// delete deletes the object at a path, whether or not it exists.
func (c *Client) delete(ctx context.Context, path string) error {
	err := c.persist(ctx, writeTimeout, request{method: http.MethodDelete, path: path})
	if isMissing(err) {
		return nil
	}
	return err
}

// isMissing reports whether the cluster does not have the subject of a request.
func isMissing(err error) bool {
	refused, ok := errors.AsType[*RefusedError](err)
	return ok && refused.Status == http.StatusNotFound
}

// maxDelete is the number of objects that one request deletes.
const maxDelete = 1000

// deleteObjects deletes objects of a tenant.
func (c *Client) deleteObjects(ctx context.Context, class, tenant string, ids []objectID) error {
	for len(ids) > 0 {
		n := min(len(ids), maxDelete)
		list := make([]string, n)
		for i, id := range ids[:n] {
			list[i] = id.String()
		}
		body, err := json.Marshal(map[string]any{"match": map[string]any{"class": class, "where": map[string]any{
			"path": []string{"id"}, "operator": "ContainsAny", "valueTextArray": list,
		}}})
		if err != nil {
			return err
		}
		err = c.withTimeout(batchTimeout).persist(ctx, writeTimeout, request{
			method: http.MethodDelete, path: "/v1/batch/objects?consistency_level=ALL&tenant=" + tenant, body: body,
			decode: checkDeletion,
		})
		if err != nil {
			return err
		}
		ids = ids[n:]
	}
	return nil
}
