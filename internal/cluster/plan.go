package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// A plan compares a class of a tenant with the records that it shall contain.
type plan struct {
	class string
	ids   []objectID // of the records, in order
	slots []uint32   // of the records
	send  []bool     // the tenant does not contain the record
	drop  []objectID // objects to delete before records are sent
	after Slots      // visible objects after the commit
	total int        // objects in the tenant after the push
}

// missing returns the number of records to send.
func (p *plan) missing() int {
	n := 0
	for _, send := range p.send {
		if send {
			n++
		}
	}
	return n
}

// makePlan compares the objects of a class in a tenant, with their slots, with the wanted
// ones. before are the visible objects if the tenant is in use, otherwise nil: then no
// reader cares about the other objects. If purge is set, no reader uses a state any more
// in which dead objects were visible.
func makePlan(class string, ids []objectID, have map[objectID]uint32, before *Slots, purge bool) (*plan, error) {
	p := &plan{class: class, ids: ids, slots: make([]uint32, len(ids)), send: make([]bool, len(ids))}
	wanted := make(map[objectID]bool, len(ids))
	used := make(map[uint32]bool, len(ids))
	inOrder := before == nil // each object has the slot of its record
	next := uint64(0)
	for i, id := range ids {
		wanted[id] = true
		slot, found := have[id]
		if p.send[i] = !found || used[slot]; p.send[i] {
			continue
		}
		p.slots[i] = slot
		used[slot] = true
		inOrder = inOrder && slot == uint32(i)
	}
	for id, slot := range have {
		next = max(next, uint64(slot)+1)
		switch {
		case wanted[id]:
		case before == nil, slot >= before.End, purge && !before.visible(slot):
			p.drop = append(p.drop, id)
		default:
			p.after.Dead = append(p.after.Dead, slot)
		}
	}
	if before != nil {
		next = max(next, uint64(before.End)) // its objects may be visible to readers
	}
	if next+uint64(len(ids)) > maxSlots {
		return nil, fmt.Errorf("%s: the tenant has no free slots", class)
	}
	for i := range ids {
		switch {
		case !p.send[i]:
		case inOrder:
			p.slots[i] = uint32(i)
		default:
			p.slots[i] = uint32(next)
			next++
		}
	}
	slices.Sort(p.after.Dead)
	for _, slot := range slices.Concat(p.slots, p.after.Dead) {
		p.after.End = max(p.after.End, slot+1)
	}
	p.after.Count = len(ids)
	p.total = len(ids) + len(p.after.Dead)
	return p, nil
}

// listPage is the number of objects in a page of a list.
const listPage = 2000

// listTimeout limits a request for a page of a list.
const listTimeout = 30 * time.Second

// list returns the slots of all objects of a class in a tenant.
func (c *Client) list(ctx context.Context, class, tenant string) (map[objectID]uint32, error) {
	type listed struct {
		Slot       uint32 `json:"slot"`
		Additional struct {
			ID string `json:"id"`
		} `json:"_additional"`
	}
	slots := map[objectID]uint32{}
	patient := c.withTimeout(listTimeout)
	for after := ""; ; {
		var page []listed
		query := fmt.Sprintf("{Get{%s(tenant:%s,limit:%d,after:%s){slot _additional{id}}}}", class, quote(tenant), listPage, quote(after))
		err := patient.graphql(ctx, query, func(data []byte) error {
			classes, err := decodeClasses(data, "Get")
			if err == nil {
				page, err = decodeObjects[listed](classes, class)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, o := range page {
			id, err := parseID(o.Additional.ID)
			if err != nil {
				return nil, err
			}
			slots[id] = o.Slot
			after = o.Additional.ID
		}
		if len(page) < listPage {
			return slots, nil
		}
	}
}

// count returns the number of objects of a class in a tenant.
func (c *Client) count(ctx context.Context, class, tenant string) (n int, err error) {
	query := fmt.Sprintf("{Aggregate{%s(tenant:%s){meta{count}}}}", class, quote(tenant))
	err = c.graphql(ctx, query, func(data []byte) error {
		n, err = decodeCount(data, class)
		return err
	})
	return n, err
}
