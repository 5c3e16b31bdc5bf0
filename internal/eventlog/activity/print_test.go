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

by call                 answered  redirected  denied  prompted  context  retried  unanswered  unmatched  allowed
WebSearch                  1,200           2                                   3           4         12
Bash                           1                   1         1
mcp__docsearch__search                                                                                         2
SessionStart                                                          1
WebFetch                       1

by database   answered  redirected  context  unanswered
gitlab           1,202           2        1           4
<k8s> & "co"                     2        1

by rule                   answered  denied  prompted
bash-kubectl-with-a-n...                 1
manual                           1
push                                               1

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

5 web searches without a matching database; to see future ones here, set "log_queries": true in the config's "hook"

saved about 1,792,400 tokens and 3.3 hours
Estimate: each answered search or fetch counts as one web call saved, and each
retry as one web call added. A web call counts as 2,500 tokens and 10 seconds.
The estimate subtracts the 4,810,400 bytes of all answers and redirections, at 4
bytes per token, and 0.011 seconds per event, as measured in Claude Code. It
cannot account for calls that the agent would have made without docsearch.
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
