package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// A plan compares the passages in a tenant with those that it shall contain.
type plan struct {
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

// makePlan compares the passages in a tenant, with their slots, with the wanted ones.
// before are the visible objects; it is empty for a new tenant. If purge is set, no reader
// uses a state any more in which dead objects were visible.
//
// Objects above before.End are from a push that failed. They are deleted even if they are
// wanted, because their index can be incomplete; see store.
func makePlan(ids []objectID, have map[objectID]uint32, before Slots, purge bool) (*plan, error) {
	p := &plan{ids: ids, slots: make([]uint32, len(ids)), send: make([]bool, len(ids))}
	kept := make(map[objectID]bool, len(ids))
	used := make(map[uint32]bool, len(ids))
	next := uint64(before.End)
	for i, id := range ids {
		slot, found := have[id]
		if p.send[i] = !found || slot >= before.End || used[slot]; !p.send[i] {
			p.slots[i] = slot
			kept[id], used[slot] = true, true
		}
	}
	for id, slot := range have {
		switch {
		case kept[id]:
		case slot >= before.End, used[slot], purge && !before.visible(slot):
			p.drop = append(p.drop, id)
		default:
			p.after.Dead = append(p.after.Dead, slot)
		}
	}
	if next+uint64(len(ids)) > maxSlots {
		return nil, errors.New("the tenant has no free slots")
	}
	for i := range ids {
		if p.send[i] {
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

// compare compares the objects of a node with the plan and returns the first difference,
// or "".
func (p *plan) compare(have map[objectID]uint32) string {
	if len(have) != p.total {
		return fmt.Sprintf("%d objects, want %d", len(have), p.total)
	}
	for i, id := range p.ids {
		if slot, found := have[id]; !found || slot != p.slots[i] {
			return fmt.Sprintf("object %s is missing", id)
		}
	}
	return ""
}

// listPage is the number of objects in a page of a list.
const listPage = 2000

// listTimeout limits a request for a page of a list.
const listTimeout = 30 * time.Second

type listedObject struct {
	Slot       uint32 `json:"slot"`
	Additional struct {
		ID string `json:"id"`
	} `json:"_additional"`
}

// list returns the slots of all objects of a class in a tenant.
func (c *Client) list(ctx context.Context, class, tenant string) (map[objectID]uint32, error) {
	slots := map[objectID]uint32{}
	patient := c.withTimeout(listTimeout)
	for after := ""; ; {
		query := fmt.Sprintf("{Get{%s(tenant:%s,limit:%d,after:%s){slot _additional{id}}}}", class, quote(tenant),
			listPage, quote(after))
		page, err := find[listedObject](ctx, patient, class, query)
		if err != nil {
			return nil, err
		}
		known := len(slots)
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
		if len(slots) == known {
			return nil, errors.New("invalid answer: the list does not end")
		}
	}
}
