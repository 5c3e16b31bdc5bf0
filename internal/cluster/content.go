package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
)

// A Passage is a passage in the form in which a cluster stores it.
type Passage struct {
	ID       string
	Bag      string // docsearch's terms, each as often as its field weighs; see index.Exported
	Document string // key of its document
	Place    int    // number of passages of the document before it
	Line     string // of the passages file, without the newline
	Record   []byte // from which docsearch ranks it
}

// A Content is a database that can be pushed.
type Content interface {
	// Export calls each for every passage, always in the same order, and returns the
	// statistics of the whole database.
	Export(ctx context.Context, each func(Passage) error) (statistics []byte, err error)
	// Check compares the database with a pushed one, at one node. After an
	// *IncompleteError, it is called again for a while.
	Check(ctx context.Context, pushed *Database) error
}

func (p *Passage) digest() digest {
	return digestOf([]byte(p.ID), []byte(p.Bag), []byte(p.Document),
		binary.LittleEndian.AppendUint64(nil, uint64(p.Place)), []byte(p.Line), p.Record)
}

// A digest is a SHA-256.
type digest [32]byte

// id returns the ID of the object with a record of this digest. Another text or record
// gives another object, so that a push does not change visible objects.
func (d digest) id(tenant string) objectID {
	return newID([]byte(tenant), []byte("passage"), d[:])
}

// digestOf returns the digest of byte strings with their lengths.
func digestOf(parts ...[]byte) digest {
	h := sha256.New()
	for _, p := range parts {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(p))))
		h.Write(p)
	}
	return digest(h.Sum(nil))
}

// An inventory lists the digests of a content's passages, in order. Equal passages have
// different digests, so that each has its object.
type inventory struct {
	passages   []digest
	statistics []byte
}

// takeInventory reads a content.
func takeInventory(ctx context.Context, content Content) (*inventory, error) {
	v := &inventory{}
	seen := map[digest]bool{}
	unique := func(d digest) digest {
		for seen[d] {
			d = digestOf(d[:])
		}
		seen[d] = true
		return d
	}
	var err error
	v.statistics, err = content.Export(ctx, func(p Passage) error {
		v.passages = append(v.passages, unique(p.digest()))
		return ctx.Err()
	})
	return v, err
}

// contentDigest returns the digest of the digests of passages and of the statistics. Equal
// contents have equal digests.
func (v *inventory) contentDigest() digest {
	h := sha256.New()
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(v.passages))))
	for _, d := range v.passages {
		h.Write(d[:])
	}
	h.Write(v.statistics)
	return digest(h.Sum(nil))
}

// An object is sent to the cluster.
type object struct {
	Class      string `json:"class"`
	Tenant     string `json:"tenant,omitempty"`
	ID         string `json:"id"`
	Properties any    `json:"properties"`
}

type passageProperties struct {
	Bag      string `json:"bag"`
	ID       string `json:"passage"`
	Document string `json:"document"`
	Place    int    `json:"place"`
	Slot     uint32 `json:"slot"`
	Line     string `json:"line"`
	Record   string `json:"record,omitempty"` // base64; Weaviate accepts no empty blob
}

type partProperties struct {
	Slot int    `json:"slot"` // number of the part
	Data string `json:"data"` // base64
}

func (p *Passage) properties(slot uint32) passageProperties {
	return passageProperties{p.Bag, p.ID, p.Document, p.Place, slot, p.Line,
		base64.StdEncoding.EncodeToString(p.Record)}
}

// partSize is the size of a part of the statistics in bytes.
const partSize = 1 << 20

// parts splits a file into objects.
func parts(tenant string, data []byte) (PartsRef, []object) {
	sum := sha256.Sum256(data)
	ref := PartsRef{Digest: hex.EncodeToString(sum[:]), Size: len(data)}
	var objects []object
	for i := range ref.parts() {
		part := data[i*partSize : min(len(data), (i+1)*partSize)]
		objects = append(objects, object{Class: classParts, Tenant: tenant, ID: partID(tenant, ref, i).String(),
			Properties: partProperties{i, base64.StdEncoding.EncodeToString(part)}})
	}
	return ref, objects
}

// parts returns the number of parts.
func (r PartsRef) parts() int { return (r.Size + partSize - 1) / partSize }

// partID returns the ID of part i of a file.
func partID(tenant string, ref PartsRef, i int) objectID {
	return newID([]byte(tenant), []byte("part"), []byte(ref.Digest), binary.LittleEndian.AppendUint32(nil, uint32(i)))
}
