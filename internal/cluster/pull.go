package cluster

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/progress"
)

// KindSource is the kind of the source of a database that was pulled from a cluster.
const KindSource = "weaviate"

// pullPage is the number of passages in a request of a pull.
const pullPage = 500

// A Source is a database in a cluster as the source of a local one. It implements
// index.Source.
type Source struct {
	Client   *Client
	Name     string
	Location string // of the database, for its manifest
}

// Location returns the location of a database in a cluster, for people.
func Location(c *Client, name string) string { return c.nodes[0].url + "#" + name }

// pulledName is the file of a generation with the content of the pulled state.
const pulledName = "weaviate.content"

// Prepare writes the passages in their order into dir. If the current generation was
// pulled from the same state, it reports that nothing has changed.
func (s *Source) Prepare(ctx context.Context, dir confined.Path, before *generation.Generation,
	report progress.Func) (generation.Prepared, error) {
	prepared := generation.Prepared{Source: generation.Source{Kind: KindSource, Location: s.Location}, Publish: true,
		Perm: generation.AllPerm}
	commit, err := s.Client.Commit(ctx, s.Name)
	if err != nil {
		return prepared, err
	}
	if before != nil && before.Source.Same(prepared.Source) {
		if content, err := before.File(pulledName).Read(1 << 10); err == nil && string(content) == commit.Content {
			prepared.Source, prepared.Skipped, prepared.Unchanged = before.Source, before.Skipped, true
			return prepared, nil
		}
	}
	// Passages arrive in the order of their IDs. A temporary file keeps them out of memory.
	spool, err := os.CreateTemp("", "docsearch-pull-*")
	if err != nil {
		return prepared, err
	}
	defer os.Remove(spool.Name())
	defer spool.Close()
	lines, err := s.Client.download(ctx, commit, spool, report)
	if err != nil {
		return prepared, err
	}
	if len(lines) != commit.Passages.Count {
		return prepared, fmt.Errorf("%s has %d passages of %q, want %d", s.Location, len(lines), s.Name,
			commit.Passages.Count)
	}
	if err := writeLines(dir.Join(passage.ShardName(0)), spool, lines); err != nil {
		return prepared, err
	}
	return prepared, dir.Join(pulledName).Write([]byte(commit.Content), 0o644)
}

// A spooledLine is the position of a passage's line in the temporary file.
type spooledLine struct {
	document string
	place    int
	slot     uint32
	offset   int64
	length   int
}

// download writes the lines of all visible passages to a file and returns their
// positions, in the order of the database.
func (c *Client) download(ctx context.Context, commit *Commit, spool io.Writer,
	report progress.Func) ([]spooledLine, error) {
	w := bufio.NewWriterSize(spool, 1<<20)
	var lines []spooledLine
	var offset int64
	patient := c.withTimeout(listTimeout)
	for after := ""; ; {
		var page []pulledPassage
		query := fmt.Sprintf("{Get{%s(tenant:%s,limit:%d,after:%s){document place slot line _additional{id}}}}",
			classPassages, quote(commit.Tenant), pullPage, quote(after))
		err := patient.graphql(ctx, query, into(&page, decodePulled))
		if err != nil {
			return nil, err
		}
		for _, p := range page {
			after = p.Additional.ID
			if !commit.Passages.visible(p.Slot) {
				continue
			}
			if len(lines) == commit.Passages.Count {
				return nil, errors.New("invalid answer: more passages than the database has")
			}
			lines = append(lines, spooledLine{p.Document, p.Place, p.Slot, offset, len(p.Line)})
			if _, err := w.WriteString(p.Line); err != nil {
				return nil, err
			}
			offset += int64(len(p.Line))
		}
		report.Report("downloading passages", int64(len(lines)), int64(commit.Passages.Count))
		if len(page) < pullPage {
			break
		}
	}
	sortLines(lines)
	return lines, w.Flush()
}

// sortLines sorts lines by the first slot of their document, then by place. Slots alone
// are not in the order of a document after an incremental push.
func sortLines(lines []spooledLine) {
	first := map[string]uint32{}
	for _, l := range lines {
		if slot, found := first[l.document]; !found || l.slot < slot {
			first[l.document] = l.slot
		}
	}
	slices.SortFunc(lines, func(a, b spooledLine) int {
		return cmp.Or(cmp.Compare(first[a.document], first[b.document]), cmp.Compare(a.place, b.place),
			cmp.Compare(a.slot, b.slot))
	})
}

type pulledPassage struct {
	Document   string `json:"document"`
	Place      int    `json:"place"`
	Slot       uint32 `json:"slot"`
	Line       string `json:"line"`
	Additional struct {
		ID string `json:"id"`
	} `json:"_additional"`
}

// decodePulled decodes a page of passages. A line must be a passage of a passages file,
// because a build trusts the lines of its source to be lines.
func decodePulled(data []byte) ([]pulledPassage, error) {
	list, err := decodeObjects[pulledPassage](data, classPassages)
	if err != nil {
		return nil, err
	}
	for i := range list {
		p := &list[i]
		if _, err := parseID(p.Additional.ID); err != nil {
			return nil, err
		}
		if err := checkLine(p.Line); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func checkLine(line string) error {
	if strings.ContainsAny(line, "\n\r") {
		return errors.New("invalid answer: a passage of several lines")
	}
	if len(line) > passage.MaxLine {
		return errors.New("invalid answer: a passage that is too long")
	}
	p, err := passage.Decode([]byte(line))
	if err == nil && p.ID == "" {
		err = errors.New("invalid answer: a passage without an ID")
	}
	return err
}

// writeLines copies lines of the temporary file to a new passages file.
func writeLines(to confined.Path, spool io.ReaderAt, lines []spooledLine) (err error) {
	out, err := to.Create(0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	w := bufio.NewWriterSize(out, 1<<20)
	var line []byte
	for _, l := range lines {
		line = slices.Grow(line[:0], l.length+1)[:l.length]
		if _, err := spool.ReadAt(line, l.offset); err != nil {
			return err
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return w.Flush()
}
