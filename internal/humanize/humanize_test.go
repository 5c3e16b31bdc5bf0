package humanize

import (
	"testing"
	"time"
)

func TestFormats(t *testing.T) {
	for have, want := range map[string]string{
		Count(1, "query"):           "1 query",
		Count(2, "query"):           "2 queries",
		Count(0, "index"):           "0 indexes",
		Count(12345, "thing"):       "12,345 things",
		Thousands(999):              "999",
		Thousands(1000000):          "1,000,000",
		Size(999):                   "999 bytes",
		Size(1000):                  "1.0 kB",
		Size(1500000):               "1.5 MB",
		Size(1 << 60):               "1152921.5 TB",
		Age(30 * time.Second):       "just now",
		Age(time.Minute):            "1 minute ago",
		Age(3 * time.Hour):          "3 hours ago",
		Age(72 * time.Hour):         "3 days ago",
		Seconds(.5):                 "no time",
		Seconds(-90):                "-90 seconds",
		Seconds(7200):               "2.0 hours",
		Argument("plain/path.md"):   "plain/path.md",
		Argument(""):                "''",
		Argument("it's a folder"):   `'it'\''s a folder'`,
		Argument("$(touch /tmp/x)"): "'$(touch /tmp/x)'",
	} {
		if have != want {
			t.Errorf("%q, want %q", have, want)
		}
	}
}
