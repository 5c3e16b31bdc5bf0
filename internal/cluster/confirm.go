package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// An IncompleteError reports a node that does not have all objects of a push, or whose
// searches do not find them. The old state of the database stays current.
type IncompleteError struct {
	URL     string
	Problem string
	Err     error // why the node could not be asked; nil if it answered
}

func (e *IncompleteError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("cannot check %s: %v", e.URL, e.Err)
	}
	return e.URL + ": " + e.Problem
}
func (e *IncompleteError) Unwrap() error { return e.Err }

// confirm waits until every node has all objects of the push. A check of many objects may
// take longer than the time that the nodes have to agree.
func (p *push) confirm(ctx context.Context) error {
	p.opt.Report.Report("checking all nodes", 0, 0)
	states := map[*node]*State{}
	var failing time.Time // since when
	for wait := 200 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		group, groupCtx := errgroup.WithContext(ctx)
		for _, n := range p.client.nodes {
			group.Go(func() error { return p.confirmNode(groupCtx, n) })
		}
		err := group.Wait()
		if err == nil {
			err = p.compare(ctx, states)
		}
		_, incomplete := errors.AsType[*IncompleteError](err)
		if err == nil || ctx.Err() != nil || !incomplete && !errors.Is(err, ErrUnavailable) {
			return err
		}
		if failing.IsZero() {
			failing = time.Now()
		}
		if time.Since(failing) >= p.opt.Settle {
			return fmt.Errorf("not all nodes have the new passages after %v: %w", p.opt.Settle, err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// compare compares each node with the content by sample queries. states has the states that
// it has read from the nodes.
func (p *push) compare(ctx context.Context, states map[*node]*State) error {
	for _, n := range p.client.nodes {
		state, err := p.client.only(n).openState(ctx, p.commit, states[n])
		if err != nil {
			return &IncompleteError{URL: n.url, Err: err}
		}
		states[n] = state
		if err := p.content.Check(ctx, p.client.only(n).openAt(state)); err != nil {
			return err
		}
	}
	return nil
}

// confirmNode compares the objects of a node with the plan. Weaviate's own counts are no
// proof: a node that has just been restarted reports those of other nodes.
func (p *push) confirmNode(ctx context.Context, n *node) error {
	have, err := p.client.only(n).list(ctx, classPassages, p.commit.Tenant)
	if err != nil {
		return &IncompleteError{URL: n.url, Err: err}
	}
	if problem := p.passages.compare(have); problem != "" {
		return &IncompleteError{URL: n.url, Problem: problem}
	}
	return nil
}

// ErrConcurrent reports that another push of the same database has finished meanwhile.
var ErrConcurrent = errors.New("another push of the database has finished meanwhile")

// publish makes the new state current and drops tenants that no reader uses any more.
func (p *push) publish(ctx context.Context) error {
	now, err := p.client.Commit(ctx, p.opt.Name)
	switch {
	case errors.Is(err, ErrNoDatabase):
		if p.before != nil {
			return ErrConcurrent
		}
	case err != nil:
		return err
	case p.before == nil || now.Content != p.before.Content || !now.Pushed.Equal(p.before.Pushed):
		return ErrConcurrent
	}
	expired, err := p.retire(ctx)
	if err != nil {
		return err
	}
	if err := p.client.writeCommit(ctx, p.commit); err != nil {
		return fmt.Errorf("cannot make the new passages current: %w", err)
	}
	// The push is done. A tenant that remains is dropped by the next one.
	if p.client.dropTenants(ctx, expired) == nil {
		p.result.Dropped = expired
	}
	return nil
}

// retire records the tenants of the database that are not in use and returns those that
// have not been in use for the grace period. A tenant that appears without a record
// belongs to a push that failed or is running.
func (p *push) retire(ctx context.Context) (expired []string, err error) {
	tenants, err := p.client.tenants(ctx, p.opt.Name)
	if err != nil {
		return nil, err
	}
	var retired []Retired
	for _, t := range tenants {
		if t == p.commit.Tenant {
			continue
		}
		r := Retired{t, p.opt.Now.UTC()}
		wasInUse := p.before != nil && p.before.Tenant == t
		if i := slices.IndexFunc(p.commit.Retired, func(r Retired) bool { return r.Tenant == t }); i >= 0 && !wasInUse {
			r = p.commit.Retired[i]
		}
		if p.opt.Now.Sub(r.Since) > grace {
			expired = append(expired, t)
			continue
		}
		retired = append(retired, r)
	}
	p.commit.Retired = retired
	return expired, nil
}
