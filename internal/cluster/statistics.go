package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
)

// unusedTime is the time after which a file in the cache that nobody reads is removed.
const unusedTime = 30 * 24 * time.Hour

// readStatistics returns the statistics of a state, from the cache if it has them.
func (c *Client) readStatistics(ctx context.Context, commit *Commit) ([]byte, error) {
	if data := c.cached(commit.Stats); data != nil {
		return data, nil
	}
	data, err := c.readParts(ctx, commit.Tenant, commit.Stats)
	if err == nil {
		c.keep(commit.Stats, data)
	}
	return data, err
}

// cached returns a file of the cache, or nil.
func (c *Client) cached(ref PartsRef) []byte {
	if c.cache == "" {
		return nil
	}
	path := filepath.Join(c.cache, ref.Digest)
	data, err := atomicfile.Read(path, maxStatistics)
	if err != nil || !ref.matches(data) {
		return nil // it is downloaded, which replaces it
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // at worst, it is downloaded again some day
	return data
}

// keep adds a file to the cache and removes those that have not been read for long.
// Without it, the next process downloads the file again.
func (c *Client) keep(ref PartsRef, data []byte) {
	if c.cache == "" || os.MkdirAll(c.cache, 0o700) != nil ||
		atomicfile.WriteCache(filepath.Join(c.cache, ref.Digest), data, 0o600) != nil {
		return
	}
	entries, _ := os.ReadDir(c.cache) // those that could be read
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > unusedTime {
			_ = os.Remove(filepath.Join(c.cache, e.Name())) // or the next time
		}
	}
}

// matches reports whether data is the file.
func (r PartsRef) matches(data []byte) bool {
	sum := sha256.Sum256(data)
	return len(data) == r.Size && hex.EncodeToString(sum[:]) == r.Digest
}

// readParts reads a file that is stored in parts, and checks its digest. It reads them with
// searches: after the loss of the Raft leader, a read of an object by its ID hangs for
// longer than 6 seconds, and a search does not.
func (c *Client) readParts(ctx context.Context, tenant string, ref PartsRef) ([]byte, error) {
	var file []byte
	for i := range ref.parts() {
		query := fmt.Sprintf("{Get{%s(tenant:%s,limit:1,%s){data}}}", classParts, quote(tenant),
			where("id", partID(tenant, ref, i).String()))
		err := c.graphql(ctx, query, func(data []byte) error {
			content, err := decodePart(data)
			if err == nil && len(content) != min(partSize, ref.Size-i*partSize) {
				err = errors.New("invalid answer: a part of another size")
			}
			if err == nil {
				file = append(file, content...)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("cannot read the statistics: %w", err)
		}
	}
	if !ref.matches(file) {
		return nil, errors.New("cannot read the statistics: the digest differs")
	}
	return file, nil
}

// decodePart decodes the answer to a search for a part.
func decodePart(data []byte) ([]byte, error) {
	parts, err := decodeObjects[partProperties](data, classParts)
	if err != nil {
		return nil, err
	}
	if len(parts) != 1 {
		return nil, errors.New("the node does not have a part of the statistics")
	}
	return base64.StdEncoding.DecodeString(parts[0].Data)
}
