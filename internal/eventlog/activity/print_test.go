package activity

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/eventlog/eventlogtest"
)

func TestPrintStats(t *testing.T) {
	s, err := Read(eventlogtest.Week(t), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := s.Print(&out, false); err != nil {
		t.Fatal(err)
	}
	const want = `1,228 events from 2026-01-02 to 2026-01-08

web searches and pages
    1,199  denied and used
        1  denied, then searched the web
        3  denied
        4  ran: the documentation does not answer it
       12  ran: no database matches

by database
   gitlab        1,204 denied (1,199 used, 1 then went to the web), 4 not answered, 1 ran with added text
   <k8s> & "co"  2 denied, 1 ran with added text

by rule
   bash-kubectl-with-a-n...  1 denied
   manual                    1 denied with documentation
   push                      1 asked you

web searches that match no database
      3  prisma
         prisma migrate deploy
         Prisma schema
         docsearch setup prisma
      2  redis
         streams in Redis
         redis streams
         docsearch setup redis
      2  without a common word

5 web searches without a matching database; to see future ones here, run docsearch config set hook.log_queries true

Saved about 1,794,900 tokens and 3.3 hours
Estimate: a web search or page counts as one web call saved if it was answered
and the agent did not search any further. A web call counts as 2,500 tokens and
10 seconds. The estimate subtracts the 4,810,400 bytes of all answers and search
calls, at 4 bytes per token, and 0.011 seconds per event, as measured in Claude
Code. It cannot account for calls that the agent would have made without
docsearch.
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
