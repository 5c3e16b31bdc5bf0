package manage

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/activity"
	"github.com/docsearch/docsearch/internal/eventlog"
	"github.com/docsearch/docsearch/internal/eventlog/eventlogtest"
)

// The page is well-formed, contains the names in the log, and escapes them.
func TestExport(t *testing.T) {
	s, err := activity.Read(eventlogtest.Week(t), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Export(&out, s, time.Date(2026, 1, 9, 0, 0, 0, 0, time.Local)); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{
		".bar {", "1,228 events from 2026-01-02 to 2026-01-08", "<h2>Saved about 1,792,400 tokens and 3.3 hours</h2>",
		"<title>2026-01-05: 4 unanswered</title>", "<title>gitlab: 1,202 answered</title>", "&lt;k8s&gt; &amp; &#34;co&#34;",
		"<code>docsearch setup prisma</code>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	for _, bad := range []string{"<script", "://", "ZgotmplZ", "NaN", `width="-`, `height="-`, `y="-`} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %s", bad)
		}
	}
	for _, svg := range strings.Split(text, "<figure ")[1:] {
		_, svg, _ = strings.Cut(svg, ">")
		svg, _, _ = strings.Cut(svg, "</figure>")
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v in\n%s", err, svg)
			}
		}
	}
	empty, err := activity.Read(eventlog.Log{Dir: t.TempDir()}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := Export(&out, empty, time.Now()); err != nil || !strings.Contains(out.String(), "The log has no events in this period.") {
		t.Errorf("of no events: %v\n%s", err, out.String())
	}
}
