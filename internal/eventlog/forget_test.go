package eventlog

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Old queries leave the disk. The events and the newer queries stay, and a line that is
// not valid stays as it is.
func TestForgetQueries(t *testing.T) {
	l := Log{t.TempDir()}
	now := time.UnixMilli(1_800_000_000_000)
	var want []Event
	for i, query := range []string{"an old\tsecret", "", "at the border", "new"} {
		e := sample
		e.Query, e.Page, e.At = query, query, now.Add(time.Duration(i-2)*time.Minute)
		if err := l.Append(&e); err != nil {
			t.Fatal(err)
		}
		want = append(want, e)
	}
	want[0].Query, want[0].Page = "", ""
	write(t, l.Paths()[1], "corrupt\nno\tlog\tline\n")
	for range 2 {
		if err := l.ForgetQueries(now); err != nil {
			t.Fatal(err)
		}
		got, damaged := events(t, l)
		if diff := cmp.Diff(want, got, cmp.Comparer(time.Time.Equal)); diff != "" || damaged != 2 {
			t.Errorf("%d damaged, events (-want +got):\n%s", damaged, diff)
		}
	}
	data, err := os.ReadFile(l.Paths()[0])
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "secret") {
		t.Error("the old query is on the disk")
	}
	if err := (Log{t.TempDir()}).ForgetQueries(now); err != nil {
		t.Error(err)
	}
}
