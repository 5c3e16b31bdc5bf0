package eventlog

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/docsearch/docsearch/internal/file/confined"
)

// QueryAge is the age at which a query is removed from the log.
const QueryAge = 7 * 24 * time.Hour

// queryField is the index of the query among the fields of a line, after the checksum.
const queryField = 10

// ForgetQueries removes the queries and pages of the events before a time. It overwrites them with
// spaces, in place, so that it neither moves nor loses the lines that other processes append
// at the same time.
func (l Log) ForgetQueries(before time.Time) error {
	var errs []error
	for _, path := range l.Paths() {
		errs = append(errs, forgetIn(path, before.UnixMilli()))
	}
	return errors.Join(errs...)
}

func forgetIn(path string, before int64) error {
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	f, err := confined.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	// A small buffer: each session that starts reads up to 4 MiB, and to allocate them takes
	// longer than to search them.
	r := bufio.NewReaderSize(io.LimitReader(f, maxRead), maxLine)
	for at := int64(0); ; {
		line, err := r.ReadSlice('\n')
		if forgetQuery(line, before) {
			if _, err := f.WriteAt(line, at); err != nil {
				return err
			}
		}
		at += int64(len(line))
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull): // no valid line is as long as the buffer
			return err
		}
	}
}

// forgetQuery overwrites the query and the page in a valid line of an event before a time, and reports
// whether there was one.
func forgetQuery(line []byte, before int64) bool {
	sum, rest, found := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte("\t"))
	if !found {
		return false
	}
	query, texts := rest, 2
	for i := range queryField {
		field, after, found := bytes.Cut(query, []byte("\t"))
		if !found {
			return false
		}
		if i == 0 && string(field) == noPages {
			texts = 1
		}
		if i == 1 {
			if at, err := strconv.ParseInt(string(field), 10, 64); err != nil || at >= before {
				return false
			}
		}
		query = after
	}
	end := 0
	for range texts {
		if next := bytes.IndexByte(query[end:], '\t'); next >= 0 {
			end += next + 1
		} else {
			end = len(query)
		}
	}
	query = query[:end]
	if len(bytes.Trim(query, " \t")) == 0 || !bytes.Equal(sum, checksum(rest)) {
		return false
	}
	for i := range query {
		if query[i] != '\t' {
			query[i] = ' '
		}
	}
	copy(sum, checksum(rest))
	return true
}
