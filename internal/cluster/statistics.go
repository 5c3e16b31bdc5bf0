package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/docsearch/docsearch/internal/atomicfile"
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
	if c.cache == "" || os.MkdirAll(c.cache, 0o700) != nil || atomicfile.WriteCache(filepath.Join(c.cache, ref.Digest), data, 0o600) != nil {
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

// readParts reads a file that is stored in parts, and checks its digest. One node is asked
// for each part: the push has checked that all have them, and after the loss of a node,
// reads of a quorum hang for longer than 20 seconds.
func (c *Client) readParts(ctx context.Context, tenant string, ref PartsRef) ([]byte, error) {
	var file []byte
	for i := range ref.parts() {
		path := "/v1/objects/" + classParts + "/" + partID(tenant, ref, i).String() + "?consistency_level=ONE&tenant=" + tenant
		err := c.do(ctx, request{method: http.MethodGet, path: path, decode: func(data []byte) error {
			part, err := decodeProperties[partProperties](data)
			if err != nil {
				return err
			}
			content, err := base64.StdEncoding.DecodeString(part.Data)
			if err == nil && len(content) != min(partSize, ref.Size-i*partSize) {
				err = errors.New("invalid answer: a part of another size")
			}
			if err == nil {
				file = append(file, content...)
			}
			return err
		}})
		if err != nil {
			return nil, fmt.Errorf("cannot read the statistics: %w", err)
		}
	}
	if !ref.matches(file) {
		return nil, errors.New("cannot read the statistics: the digest differs")
	}
	return file, nil
}
