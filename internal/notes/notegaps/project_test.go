package notegaps

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/eventlog/replay"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
	"github.com/docsearch/docsearch/internal/notes/notebook"
)

// A plantedGap is a gap of the made project.
type plantedGap struct {
	name  string
	kind  Kind
	about string // note, or command of the calls without one
	why   string // condition that is not met, or cause
}

var planted = []plantedGap{
	{"a missing word", NotShown, "money.md", ""},
	{"a missing command", NotShown, "test-database.md", "commands"},
	{"a missing path", NotShown, "migrations.md", "paths"},
	{"a missing tool", NotShown, "generated.md", "tools"},
	{"an unknown key", NotShown, "terraform.md", ""},
	{"a condition for files only", NotShown, "lockfile.md", "commands"},
	{"a word that is too general", TooOften, "vocabulary.md", "shop"},
	{"a command that is too general", TooOften, "commits.md", "git"},
	{"a failure without a note", NoNote, "terraform apply", ""},
	{"a correction without a note", NoNote, "git push", ""},
}

// projectNotes are the notes of the made project: first those with planted gaps.
var projectNotes = map[string]string{
	"money.md":         "---\ntitle: Rounding of amounts\n---\nNever use float for money. Use Decimal with two places and round half to even.\n",
	"test-database.md": "---\ntitle: Test database\napplies_when:\n  commands: [npm test]\n---\nThe tests need Postgres. If they fail with ECONNREFUSED 127.0.0.1:5433, start it with `make test-db`.\n",
	"migrations.md":    "---\ntitle: Migrations\napplies_when:\n  paths: [\"db/migrations/*.sql\"]\n---\nA migration must not lock a table: create each index concurrently.\n",
	"generated.md":     "---\ntitle: Generated clients\napplies_when:\n  tools: [Edit]\n  paths: [\"api/gen/**\"]\n---\nNever change generated files. Change api/spec.yaml and regenerate them with `make openapi`.\n",
	"terraform.md":     "---\ntitle: Provider pinning\nglobs: [\"infra/**/*.tf\"]\n---\nPin the provider versions in the root module only, never in reusable modules.\n",
	"lockfile.md":      "---\ntitle: The lockfile\napplies_when:\n  paths: [pnpm-lock.yaml]\n---\nOnly pnpm writes the lockfile. npm breaks it, and the pipeline then rejects the change.\n",
	"vocabulary.md":    "---\ntitle: Vocabulary of the shop\n---\nSay order, never purchase. Say customer, never account holder.\n",
	"commits.md":       "---\ntitle: Style of commits\napplies_when:\n  commands: [git]\n---\nThe subject of a commit starts with the area, in lower case.\n",

	"accessibility.md": "---\ntitle: Accessible forms\napplies_when:\n  paths: [\"web/src/forms/**\"]\n---\nEach input has a label. Errors use aria-describedby.\n",
	"alembic.md":       "---\ntitle: Alembic revisions\napplies_when:\n  commands: [alembic]\n---\nName a revision after the table. One head only: merge heads before you push.\n",
	"backups.md":       "---\ntitle: Backups\n---\nSnapshots of the ledger run at midnight UTC with restic, and are kept ninety days.\n",
	"cache.md":         "---\ntitle: Redis keys\n---\nPrefix each Redis key with the tenant. Expiry is mandatory.\n",
	"celery.md":        "---\ntitle: Celery tasks\napplies_when:\n  paths: [\"**/tasks.py\"]\n---\nA task is idempotent and takes identifiers, not objects.\n",
	"charts.md":        "---\ntitle: Helm charts\napplies_when:\n  commands: [helm]\n---\nRender the chart with helm template before an upgrade. Values for production are in the vault.\n",
	"css.md":           "---\ntitle: Stylesheets\napplies_when:\n  paths: [\"**/*.scss\"]\n---\nUse the spacing tokens. No pixel values outside of tokens.scss.\n",
	"dates.md":         "---\ntitle: Dates and time zones\n---\nStore instants in UTC. Convert to the zone of the customer in the template only.\n",
	"docker.md":        "---\ntitle: Images\napplies_when:\n  paths: [Dockerfile]\n---\nPin base images by digest. Build stages run as a user without privileges.\n",
	"emails.md":        "---\ntitle: Outgoing emails\napplies_when:\n  paths: [\"mail/templates/**\"]\n---\nEach template has a plain text part. Preview it with Mailpit.\n",
	"feature-flags.md": "---\ntitle: Feature flags\n---\nUnleash toggles are removed two sprints after the rollout.\n",
	"graphql.md":       "---\ntitle: GraphQL schema\napplies_when:\n  paths: [\"api/schema/*.graphql\"]\n---\nFields are nullable unless the resolver cannot fail. Deprecate, never delete.\n",
	"kubectl.md":       "---\ntitle: Cluster access\napplies_when:\n  commands: [kubectl delete, kubectl apply]\n---\nChange the cluster through Argo only. A manual kubectl apply is reverted within minutes.\n",
	"logging.md":       "---\ntitle: Logging\n---\nLog with structlog. Never log an IBAN or a token.\n",
	"oncall.md":        "---\ntitle: Pager rotation\npinned: true\n---\nThe rotation changes on Tuesdays. Escalate to platform after thirty minutes.\n",
	"payments.md":      "---\ntitle: Stripe webhooks\napplies_when:\n  paths: [\"billing/webhooks/*.py\"]\n---\nVerify the signature before parsing. Answer within five seconds.\n",
	"ports.md":         "---\ntitle: Local ports\n---\nMailpit listens on 8025, Jaeger on 16686, Postgres for tests on 5433.\n",
	"pytest.md":        "---\ntitle: Markers of slow tests\napplies_when:\n  commands: [pytest]\n---\nMark tests above one second as slow; the pipeline runs them at night. A fixture 'client' not found means that conftest is missing.\n",
	"release.md":       "---\ntitle: Release calendar\napplies_when:\n  commands: [make release]\n---\nNo release on Fridays. Tag from the release branch only.\n",
	"search.md":        "---\ntitle: Elasticsearch mappings\napplies_when:\n  paths: [\"search/mappings/*.json\"]\n---\nA mapping never changes a field's type; add a new alias and reindex.\n",
	"secrets.md":       "---\ntitle: Secrets\n---\nSecrets are in Vault. The file .env.example lists their names.\n",
	"translations.md":  "---\ntitle: Translations\napplies_when:\n  paths: [\"locales/**\"]\n---\nKeys are in English and sorted. Weblate writes all other languages.\n",
}

// madeProject writes the notes and returns the input for Analyze, with 300 calls.
func madeProject(tb testing.TB, seed uint64) *Input {
	tb.Helper()
	return projectOf(tb, projectNotes, madeCalls(tb, seed))
}

// projectOf writes and indexes notes, and returns the input for Analyze.
func projectOf(tb testing.TB, texts map[string]string, calls []replay.Call) *Input {
	tb.Helper()
	dir := tb.TempDir()
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	source, err := ingest.NewFolder(dir, folder.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	database := tb.TempDir()
	if _, err := index.Build(tb.Context(), database, source, index.BuildOptions{}); err != nil {
		tb.Fatal(err)
	}
	return &Input{Folder: notebook.Folder(dir), Floor: 1.2, Calls: calls,
		Database: config.Database{Name: "team", Keywords: []string{"team"}, Path: database, Inject: []string{config.All}}}
}

// A transcriptWriter writes the transcript of a session in Claude Code's format.
type transcriptWriter struct {
	tb      testing.TB
	session string
	calls   int
	at      time.Time
	strings.Builder
}

func (w *transcriptWriter) line(kind string, content any) {
	w.at = w.at.Add(7 * time.Second)
	data, err := json.Marshal(map[string]any{
		"type": kind, "sessionId": w.session, "cwd": "/src/shop", "timestamp": w.at.Format(time.RFC3339Nano),
		"message": map[string]any{"role": kind, "content": content},
	})
	if err != nil {
		w.tb.Fatal(err)
	}
	w.Write(append(data, '\n'))
}

func (w *transcriptWriter) say(text string) { w.line("user", text) }

// call writes a call and its result: an error if failure is not empty.
func (w *transcriptWriter) call(tool string, input map[string]any, failure string) {
	w.calls++
	id := fmt.Sprintf("toolu_%s_%d", w.session, w.calls)
	w.line("assistant", []any{map[string]any{"type": "tool_use", "id": id, "name": tool, "input": input}})
	result := map[string]any{"type": "tool_result", "tool_use_id": id, "content": "ok"}
	if failure != "" {
		result["content"], result["is_error"] = failure, true
	}
	w.line("user", []any{result})
}

func (w *transcriptWriter) bash(command, description, failure string) {
	if failure != "" && !strings.HasPrefix(failure, "The user") {
		failure = "Exit code 1\n" + failure
	}
	w.call("Bash", map[string]any{"command": command, "description": description}, failure)
}

func (w *transcriptWriter) edit(path, text string) {
	w.call("Edit", map[string]any{"file_path": "/src/shop/" + path, "old_string": "a", "new_string": text}, "")
}

const refused = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\n"

// cases are the parts of sessions with the planted gaps, and calls that need nothing: a
// failure or a correction whose note was shown, and messages that only look like
// corrections.
var cases = []func(*transcriptWriter){
	func(w *transcriptWriter) {
		w.edit("billing/invoice.py", "total = price * 1.19")
		w.say("No, never use float for money, use Decimal with two places.")
		w.edit("billing/invoice.py", "total = Decimal(price) * rate")
	},
	func(w *transcriptWriter) {
		w.bash("pnpm test --run orders", "Run the unit tests", "Error: connect ECONNREFUSED 127.0.0.1:5433\n    at TCPConnectWrap.afterConnect")
		w.bash("make test-db && pnpm test --run orders", "Run the unit tests again", "")
	},
	func(w *transcriptWriter) {
		w.call("Write", map[string]any{"file_path": "/src/shop/services/orders/migrations/0007_status.sql", "content": "CREATE INDEX orders_status ON orders (status);"}, "")
		w.say("That's not safe. Create the index concurrently, a migration must not lock the table.")
	},
	func(w *transcriptWriter) {
		w.call("Write", map[string]any{"file_path": "/src/shop/api/gen/client.ts", "content": "export const timeout = 30"},
			refused+"Never change generated files. Change api/spec.yaml and regenerate them.")
		w.edit("api/spec.yaml", "timeout: 30")
	},
	func(w *transcriptWriter) {
		w.edit("infra/modules/queue/main.tf", `source = "../base"`)
		w.say("No. Pin provider versions in the root module only, not in reusable modules.")
	},
	func(w *transcriptWriter) {
		w.bash("rm -rf node_modules && npm install", "Reinstall the packages", refused+"Only pnpm may write the lockfile, npm breaks it")
		w.bash("pnpm install", "Reinstall the packages", "")
	},
	stateLock, stateLock, stateLock,
	func(w *transcriptWriter) {
		w.bash("git push --force origin main", "Push the rebased branch", refused+"Don't force push a shared branch, use --force-with-lease on your own ones")
	},
	// A note was shown, and the agent ignored it.
	func(w *transcriptWriter) {
		w.bash("kubectl apply -f k8s/deployment.yaml", "Apply the deployment", "")
		w.say("No, change the cluster through Argo only, a manual kubectl apply is reverted.")
	},
	func(w *transcriptWriter) {
		w.bash("pytest tests/test_cart.py", "Run a test", "E       fixture 'client' not found")
	},
	// No corrections.
	func(w *transcriptWriter) {
		w.edit("web/src/cart.ts", "export function add() {}")
		w.say("No problem, that's fine. Now the checkout page.")
		w.edit("web/src/checkout.ts", "export function pay() {}")
		w.say("Retry with a backoff instead of failing at once.")
		w.edit("web/src/checkout.ts", "export function retry() {}")
		w.say("No.")
	},
	// Failures of the work at hand.
	func(w *transcriptWriter) {
		w.bash("pnpm tsc --noEmit", "Check the types", "web/src/cart.ts(4,7): error TS2322: Type 'string' is not assignable to type 'number'.")
		w.bash("pnpm tsc --noEmit", "Check the types", "web/src/cart.ts(4,7): error TS2322: Type 'string' is not assignable to type 'number'.")
	},
	func(w *transcriptWriter) {
		w.bash("go test ./worker/...", "Test the worker", "--- FAIL: TestRetry (0.01s)\n    retry_test.go:12: got 2, want 3\nFAIL")
		w.bash("grep -rn unused_symbol worker", "Look for uses", "")
	},
	func(w *transcriptWriter) {
		w.say("Don't worry about the linter. Is the migration reversible?")
		w.bash("alembic downgrade -1", "Try the downgrade", "FAILED: Can't locate revision identified by 'a1b2'")
		w.say("We need a second worker; start with the queue.")
		w.edit("worker/queue.go", "func second() {}")
		w.say("Always green now? Then open the pull request.")
	},
	func(w *transcriptWriter) {
		w.bash("curl -s localhost:8025/api", "Read the captured mail", "curl: (7) Failed to connect to localhost port 8025 after 0 ms: Connection refused")
		w.bash("python manage.py migrate", "Migrate", "django.db.utils.OperationalError: no such table: shop_order")
		w.bash("pnpm lint", "Lint", "web/src/cart.ts\n  4:7  error  'sum' is assigned a value but never used  no-unused-vars")
	},
	func(w *transcriptWriter) {
		w.bash("go build ./worker", "Build the worker", "worker/queue.go:31:2: undefined: backoff")
		w.bash("ls missing-folder", "List a folder", "ls: cannot access 'missing-folder': No such file or directory")
	},
}

func stateLock(w *transcriptWriter) {
	w.bash("terraform apply -auto-approve", "Apply the plan", "Error: Error acquiring the state lock\n\nLock Info:\n  ID: 8d5a")
}

// Ordinary work, in which many calls contain the name of the project.
var (
	usualTasks    = []string{"Add a filter to the order list.", "Now the tests, please.", "Looks good. Update the changelog.", "The badge has the wrong color in dark mode.", "Thanks. Now rename the helper.", "Why is the dashboard slow?"}
	usualCommands = [][2]string{
		{"git status", "Show the changes"}, {"git diff --stat", "Summarize the changes"}, {"git log --oneline -5", "Show recent history"}, {"git add -A", "Stage everything"},
		{"git commit -m 'web: sort the list'", "Record the change"}, {"git commit -m 'cart: fix totals'", "Record the change"}, {"git fetch origin", "Fetch"}, {"git stash list", "List stashes"},
		{"docker compose exec shop python manage.py check", "Check the shop"}, {"kubectl -n shop get pods", "List the pods of the shop"}, {"curl -s localhost:8000/shop/health", "Is the shop healthy"},
		{"make shop", "Build the shop"}, {"go vet ./...", "Vet the shop's worker"}, {"ls -la", "List files"}, {"rg 'total' web/src | head", "Find uses"}, {"pnpm lint", "Lint the shop's frontend"},
		{"pnpm test", "Run the unit tests"}, {"ruff check shop", "Lint the shop"}, {"mypy shop", "Check the types of the shop"}, {"alembic history", "Show revisions"}, {"helm template charts/web", "Render the chart"},
	}
	usualFiles = [][2]string{
		{"web/src/cart.ts", "const sum = items.reduce(add)"}, {"web/src/forms/address.tsx", "<input name='street' />"}, {"shop/orders/views.py", "def list_orders(request): pass"},
		{"shop/customers/models.py", "class Customer(Model): pass"}, {"worker/queue.go", "func drain() error { return nil }"}, {"docs/setup.md", "Install the tools."},
		{"web/styles/button.scss", ".button { color: red }"}, {"locales/en.json", "{}"}, {"search/mappings/orders.json", "{}"}, {"billing/webhooks/stripe.py", "def receive(event): pass"},
		{"billing/report.py", "def monthly(): pass"}, {"infra/prod/dns.tf", "resource \"dns\" \"a\" {}"}, {"shop/urls.py", "urlpatterns = []"}, {"shop/settings.py", "DEBUG = False"},
	}
)

// madeCalls returns 300 calls of 15 sessions: those of cases, among ordinary ones.
func madeCalls(tb testing.TB, seed uint64) []replay.Call {
	const sessions, total = 15, 300
	random := rand.New(rand.NewPCG(12, seed))
	writers := make([]*transcriptWriter, sessions)
	for i := range writers {
		writers[i] = &transcriptWriter{tb: tb, session: fmt.Sprintf("s%02d", i), at: time.Date(2026, 3, 1+i, 9, 0, 0, 0, time.UTC)}
	}
	count := func() (n int) {
		for _, w := range writers {
			n += w.calls
		}
		return n
	}
	usual := func(w *transcriptWriter) {
		if random.IntN(4) == 0 {
			w.say(usualTasks[random.IntN(len(usualTasks))])
		}
		if random.IntN(3) == 0 {
			f := usualFiles[random.IntN(len(usualFiles))]
			w.edit(f[0], f[1])
			return
		}
		c := usualCommands[random.IntN(len(usualCommands))]
		w.bash(c[0], c[1], "")
	}
	for _, w := range writers {
		w.say("Add a filter to the order list.")
		for range 8 {
			usual(w)
		}
	}
	for i, c := range cases {
		w := writers[i%sessions]
		w.say("Next task.")
		c(w)
		w.say("Good, go on.")
	}
	for count() < total {
		usual(writers[random.IntN(sessions)])
	}
	var calls []replay.Call
	for _, w := range writers {
		found, damage, err := replay.Calls(strings.NewReader(w.String()), func(*replay.Event) bool { return true })
		if err != nil || damage.Lines > 0 {
			tb.Fatalf("damage %+v, error %v", damage, err)
		}
		calls = append(calls, found...)
	}
	return calls
}
