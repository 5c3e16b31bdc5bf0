package leann

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/google/go-cmp/cmp"
)

type scanned struct {
	Offset int64
	Line   string
}

func scanAll(t testing.TB, r io.Reader) (lines []scanned, skipped []generation.Skipped) {
	t.Helper()
	skipped, err := Scan(r, func(offset int64, line []byte) error {
		lines = append(lines, scanned{offset, string(line)})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines, skipped
}

func TestScan(t *testing.T) {
	atLimit := strings.Repeat("x", passage.MaxLine)
	tooLong := fmt.Sprintf("the passage has %d bytes, the limit is %d", passage.MaxLine+1, passage.MaxLine)
	for _, tt := range []struct {
		name, in string
		want     []scanned
		skipped  []generation.Skipped
	}{
		{name: "empty"},
		{name: "plain", in: "a\nbc\n", want: []scanned{{0, "a"}, {2, "bc"}}},
		{name: "no newline at the end", in: "a\nbc", want: []scanned{{0, "a"}, {2, "bc"}}},
		{name: "carriage returns", in: "a\r\nbc\r\n", want: []scanned{{0, "a"}, {3, "bc"}}},
		{name: "blank lines", in: "\n \t\na\n\n\nb\n", want: []scanned{{4, "a"}, {8, "b"}}},
		{name: "byte order mark", in: "\xef\xbb\xbfa\nb\n", want: []scanned{{3, "a"}, {5, "b"}}},
		{name: "not UTF-8", in: "a\n\xff\nb\n", want: []scanned{{0, "a"}, {4, "b"}}, skipped: []generation.Skipped{{Name: "line 2", Reason: "not UTF-8"}}},
		{name: "longer than the buffer", in: "a\n" + strings.Repeat("y", 1<<20) + "\nb\n", want: []scanned{{0, "a"}, {2, strings.Repeat("y", 1<<20)}, {1<<20 + 3, "b"}}},
		{name: "as long as may be", in: atLimit + "\r\nb\n", want: []scanned{{0, atLimit}, {passage.MaxLine + 2, "b"}}},
		{name: "too long by one", in: atLimit + "x\nb\n", want: []scanned{{passage.MaxLine + 2, "b"}}, skipped: []generation.Skipped{{Name: "line 1", Reason: tooLong}}},
		{name: "too long at the end", in: "a\n" + atLimit + "x", want: []scanned{{0, "a"}}, skipped: []generation.Skipped{{Name: "line 2", Reason: tooLong}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lines, skipped := scanAll(t, strings.NewReader(tt.in))
			if diff := cmp.Diff(tt.want, lines); diff != "" {
				t.Errorf("lines (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tt.skipped, skipped); diff != "" {
				t.Errorf("skipped (-want +got)\n%s", diff)
			}
		})
	}
}

func TestScanStops(t *testing.T) {
	stop := errors.New("stop")
	calls := 0
	_, err := Scan(strings.NewReader("a\nb\n"), func(int64, []byte) error { calls++; return stop })
	if err != stop || calls != 1 {
		t.Errorf("error %v after %d calls, want the callback's after 1", err, calls)
	}
	if _, err := Scan(iotest.ErrReader(stop), func(int64, []byte) error { return nil }); err != stop {
		t.Errorf("error %v, want the reader's", err)
	}
}

// FuzzScan checks that every byte is in a line, in a skipped line, or is white
// space.
func FuzzScan(f *testing.F) {
	f.Add([]byte("{\"id\": \"0\"}\r\n\n\xff\nx"))
	f.Add([]byte("\xef\xbb\xbf\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		lines, skipped := scanAll(t, iotest.HalfReader(bytes.NewReader(data)))
		var next int64
		for _, l := range lines {
			if l.Offset < next || !utf8.ValidString(l.Line) || strings.Contains(l.Line, "\n") {
				t.Fatalf("line %q at %d, where the last ended at %d", l.Line, l.Offset, next)
			}
			next = l.Offset + int64(len(l.Line))
			if next > int64(len(data)) || string(data[l.Offset:next]) != l.Line {
				t.Fatalf("line %q does not match the file at %d", l.Line, l.Offset)
			}
		}
		want := 0
		for _, line := range bytes.Split(bytes.TrimPrefix(data, byteOrderMark), []byte("\n")) {
			if len(bytes.TrimSpace(line)) > 0 {
				want++
			}
		}
		if len(lines)+len(skipped) != want {
			t.Fatalf("%d lines and %d skipped of %d", len(lines), len(skipped), want)
		}
	})
}
