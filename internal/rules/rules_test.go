package rules

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/rules/pattern"
	"github.com/docsearch/docsearch/internal/rules/shell"
)

// read parses a pattern as the config's loader does.
func read(tb testing.TB, text string) config.Pattern {
	tb.Helper()
	if text == "" {
		return config.Pattern{}
	}
	p, err := pattern.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	c := config.Pattern{Text: p.Text, Expr: p.Expr, Groups: p.Groups, Literals: p.Literals}
	if err := Check(c); err != nil {
		tb.Fatal(err)
	}
	return c
}

func TestFirst(t *testing.T) {
	pr := config.Rule{Name: "pr", Pattern: read(t, `github\.com/(?P<repo>[^/]+/[^/]+)/pull/(\d+)`), Message: "gh pr view $2 -R ${repo}"}
	kubectl := config.Rule{Name: "kubectl", Tools: []string{"Bash"}, CommandPattern: read(t, `^\s*kubectl\s+(\w+)`), Message: "no $1"}
	parsed := kubectl
	parsed.Name, parsed.Parsed = "parsed", true
	careful := parsed
	careful.Name, careful.Unless = "careful", []config.Pattern{read(t, `--dry-run`), read(t, `\bget\b`)}
	servers := config.Rule{Name: "servers", ToolPattern: read(t, `mcp__git(hub|lab)`), Message: "m"}
	arguments := config.Rule{Name: "arguments", ToolPattern: read(t, `^mcp__`), Pattern: read(t, `"branch":\s*"main"`), Message: "m"}
	named := config.Rule{Name: "named", Tools: []string{"Read", "Bash"}, Pattern: read(t, `\.env\b`), Message: "m"}
	both := config.Rule{Name: "both", Pattern: read(t, `example\.com`), CommandPattern: read(t, `curl`), Message: "m"}
	reading := config.Rule{Name: "reading", CommandPattern: read(t, `^kubectl (get|top)\b`), Parsed: true, Action: config.ActionPass}
	helping := config.Rule{Name: "helping", CommandPattern: read(t, `^kubectl \w+ --help$`), Unless: []config.Pattern{read(t, `exec`)}, Parsed: true, Action: config.ActionPass}
	anywhere := config.Rule{Name: "anywhere", CommandPattern: read(t, `kubectl`), Message: "m"}
	internal := config.Rule{Name: "internal", Pattern: read(t, `example\.com/internal`), Parsed: true, Action: config.ActionPass}
	broken := config.Rule{Name: "broken", Pattern: config.Pattern{Text: "(", Expr: "("}}
	for _, test := range []struct {
		name    string
		rules   []config.Rule
		tool    string
		text    string
		want    string // rule: message
		outcome Outcome
	}{
		{"url", []config.Rule{pr}, "WebFetch", "https://GITHUB.com/a/b/pull/42/files", "pr: gh pr view 42 -R a/b", Matches},
		{"other url", []config.Rule{pr}, "WebFetch", "https://github.com/a/b/issues/42", "", NoMatch},
		{"other site", []config.Rule{pr}, "WebFetch", "https://example.com/a/b/pull/42", "", NoLiteral},
		{"url in a command", []config.Rule{pr}, "Bash", "curl https://github.com/a/b/pull/42", "", OtherTool},
		{"command", []config.Rule{kubectl}, "Bash", "  KUBECTL get pods", "kubectl: no get", Matches},
		{"command as written", []config.Rule{kubectl}, "Bash", "cd x && kubectl get pods", "", NoMatch},
		{"another tool's command", []config.Rule{kubectl}, "WebFetch", "kubectl get", "", OtherTool},
		{"parsed list", []config.Rule{parsed}, "Bash", "cd x && kubectl get pods", "parsed: no get", Matches},
		{"parsed pipeline", []config.Rule{parsed}, "Bash", "true | A=1 kubectl apply -f - <<EOF\nx\nEOF", "parsed: no apply", Matches},
		{"parsed substitution", []config.Rule{parsed}, "Bash", `echo "$(kubectl get po)"`, "parsed: no get", Matches},
		{"parsed function", []config.Rule{parsed}, "Bash", "f() { kubectl top; }; f", "parsed: no top", Matches},
		{"parsed quotes", []config.Rule{parsed}, "Bash", `echo "kubectl get po"; echo 'x; kubectl get'`, "", NoMatch},
		{"parsed comment", []config.Rule{parsed}, "Bash", "ls # kubectl get po", "", NoMatch},
		{"parsed here-document", []config.Rule{parsed}, "Bash", "cat <<EOF\nkubectl get po\nEOF", "", NoMatch},
		{"no shell", []config.Rule{parsed}, "Bash", "kubectl get ((", "", Failed},
		{"excepted", []config.Rule{careful}, "Bash", "kubectl get po", "", Excepted},
		{"one command excepted", []config.Rule{careful}, "Bash", "kubectl get po && kubectl delete po x", "careful: no delete", Matches},
		{"all excepted", []config.Rule{careful}, "Bash", "kubectl get po && kubectl apply --dry-run", "", Excepted},
		{"server", []config.Rule{servers}, "mcp__github__create_pr", "{}", "servers: m", Matches},
		{"other server", []config.Rule{servers}, "mcp__jira__create", "{}", "", OtherTool},
		{"arguments", []config.Rule{arguments}, "mcp__git__push", `{"branch": "main"}`, "arguments: m", Matches},
		{"other arguments", []config.Rule{arguments}, "mcp__git__push", `{"branch": "x"}`, "", NoMatch},
		{"named tool", []config.Rule{named}, "Read", "/p/.env", "named: m", Matches},
		{"tool in another case", []config.Rule{{Name: "todo", Tools: []string{"todowrite"}, Message: "m"}}, "TodoWrite", "{}", "todo: m", Matches},
		{"second named tool", []config.Rule{named}, "Bash", "cat .env", "named: m", Matches},
		{"page by default", []config.Rule{both}, "WebFetch", "https://example.com/curl", "both: m", Matches},
		{"command by its own pattern", []config.Rule{both}, "Bash", "curl x", "both: m", Matches},
		{"command not by the page's", []config.Rule{both}, "Bash", "wget example.com", "", NoLiteral},
		{"first wins", []config.Rule{kubectl, parsed}, "Bash", "kubectl get", "kubectl: no get", Matches},
		{"allowed", []config.Rule{reading, parsed}, "Bash", "kubectl get po", "reading: ", Matches},
		{"all allowed", []config.Rule{reading, parsed}, "Bash", "kubectl get po | kubectl top", "reading: ", Matches},
		{"a part allowed", []config.Rule{reading, parsed}, "Bash", "kubectl get po; kubectl delete po x", "parsed: no delete", Matches},
		{"a part allowed, in the other order", []config.Rule{reading, parsed}, "Bash", "kubectl delete po x; kubectl get po", "parsed: no delete", Matches},
		{"a part allowed, nothing against the rest", []config.Rule{reading, parsed}, "Bash", "cd x && kubectl get po", "", NoMatch},
		{"a part allowed, the whole line denied", []config.Rule{reading, anywhere}, "Bash", "kubectl get po && ls", "anywhere: m", Matches},
		{"allowed by two rules", []config.Rule{reading, helping, parsed}, "Bash", "kubectl get po; kubectl run --help", "helping: ", Matches},
		{"allowed with an exception", []config.Rule{helping, parsed}, "Bash", "kubectl exec --help", "parsed: no exec", Matches},
		{"allowed within another command", []config.Rule{reading, parsed}, "Bash", "sudo kubectl get po", "", NoMatch},
		{"allowed too late", []config.Rule{parsed, reading}, "Bash", "kubectl get po", "parsed: no get", Matches},
		{"allowed page", []config.Rule{internal, both}, "WebFetch", "https://example.com/internal/a", "internal: ", Matches},
		{"other page", []config.Rule{internal, both}, "WebFetch", "https://example.com/b", "both: m", Matches},
		{"broken is skipped", []config.Rule{broken, pr}, "WebFetch", "https://github.com/a/b/pull/1", "pr: gh pr view 1 -R a/b", Matches},
		{"none", nil, "Bash", "ls", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var faults []string
			m := Matcher{Commands: shell.Commands, Timeout: time.Minute, Fault: func(format string, args ...any) {
				faults = append(faults, fmt.Sprintf(format, args...))
			}}
			outcomes, found, err := m.Outcomes(test.rules, Call{test.tool, test.text})
			if err != nil {
				t.Fatal(err)
			}
			got, outcome := "", Outcome("")
			if len(outcomes) > 0 {
				outcome = outcomes[len(outcomes)-1]
			}
			if found != nil {
				got = found.Rule.Name + ": " + found.Message()
			}
			if got != test.want || outcome != test.outcome {
				t.Errorf("got %q, %q; want %q, %q", got, outcome, test.want, test.outcome)
			}
			failed := strings.Contains(fmt.Sprint(outcomes), string(Failed))
			if failed != (len(faults) > 0) {
				t.Errorf("outcomes %q, faults %q", outcomes, faults)
			}
			first, err := m.First(test.rules, Call{test.tool, test.text})
			if err != nil || (first == nil) != (found == nil) || first != nil && first.Rule != found.Rule {
				t.Errorf("First: %+v, %v", first, err)
			}
			candidate := Candidate(Call{test.tool, test.text})
			for i := range outcomes {
				r := &test.rules[i]
				if quiet := outcomes[i] == OtherTool || outcomes[i] == NoLiteral; candidate(r) == quiet {
					t.Errorf("rule %s is a candidate: %t, outcome %q", r.Name, !quiet, outcomes[i])
				}
			}
		})
	}
}

func TestNoParser(t *testing.T) {
	rule := config.Rule{Name: "r", CommandPattern: read(t, "kubectl"), Parsed: true}
	var m Matcher
	if _, err := m.First([]config.Rule{rule}, Call{"Bash", "kubectl get"}); err != ErrCommands {
		t.Errorf("error %v, want ErrCommands", err)
	}
	if found, err := m.First([]config.Rule{rule}, Call{"Bash", "ls"}); found != nil || err != nil {
		t.Errorf("a command that cannot match: %v, %v", found, err)
	}
}

func TestMessage(t *testing.T) {
	for _, test := range []struct{ pattern, text, message, want string }{
		{`pull/(?P<number>\d+)`, "pull/42", "gh pr view ${number} = $1 = ${1}: $0", "gh pr view 42 = 42 = 42: pull/42"},
		{`(a)|(b)`, "b", "[$1][$2]", "[][b]"},
		{`a`, "a", `echo "$HOME $1 ${x} $(cat) $$ $" ${`, `echo "$HOME $1 ${x} $(cat) $$ $" ${`},
		{`(?P<n>a)`, "a", "$${n} $$1 $$HOME", "${n} $1 $$HOME"},
		{`(a)(b)`, "ab", "$12 ${1}2", "$12 a2"},
		{`(x*)`, strings.Repeat("x", 2000), "$1", strings.Repeat("x", 1000) + " [...]"},
	} {
		rule := config.Rule{Pattern: read(t, test.pattern), Message: test.message}
		var m Matcher
		found, err := m.First([]config.Rule{rule}, Call{"WebFetch", test.text})
		if err != nil || found == nil {
			t.Fatalf("%s: %v, %v", test.pattern, found, err)
		}
		if got := found.Message(); got != test.want {
			t.Errorf("%s: %q, want %q", test.message, got, test.want)
		}
	}
}

// backtracking causes exponential backtracking.
var backtracking = Call{"Bash", strings.Repeat("a", 64) + "!"}

// A pattern that reaches its limit does not match, and the others are tried.
func TestTimeout(t *testing.T) {
	slow := config.Rule{Name: "slow", CommandPattern: read(t, `(a+)+$`)}
	exception := config.Rule{Name: "exception", CommandPattern: read(t, `a`), Unless: []config.Pattern{read(t, `(a+)+$`)}}
	good := config.Rule{Name: "good", CommandPattern: read(t, `a!`)}
	for _, test := range []struct {
		name   string
		rules  []config.Rule
		want   string
		faults []string
	}{
		{"pattern", []config.Rule{slow, good}, "good", []string{"rule slow skipped: its pattern takes longer than 1s on this text"}},
		{"exception", []config.Rule{exception}, "", []string{"rule exception skipped: its exception takes longer than 1s on this text"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var faults []string
			// A busy machine may notice the timeout late.
			m := Matcher{Timeout: time.Second, Fault: func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }}
			found, err := m.First(test.rules, backtracking)
			got := ""
			if found != nil {
				got = found.Rule.Name
			}
			if err != nil || got != test.want || fmt.Sprint(faults) != fmt.Sprint(test.faults) {
				t.Errorf("rule %q, error %v, faults %q; want %q, %q", got, err, faults, test.want, test.faults)
			}
		})
	}
}

// Many slow patterns take hardly longer than one: most are not tried.
func TestTimeoutOfAll(t *testing.T) {
	var rules []config.Rule
	for i := range 50 {
		rules = append(rules, config.Rule{Name: fmt.Sprint(i), CommandPattern: read(t, `(a+)+$`)})
	}
	tried := 0
	m := Matcher{Fault: func(format string, args ...any) {
		if !strings.Contains(fmt.Sprintf(format, args...), "was not tried") {
			tried++
		}
	}}
	if found, err := m.First(rules, backtracking); found != nil || err != nil {
		t.Fatal(found, err)
	}
	// A busy machine tries a few more within the slack than the usual two.
	if tried < 1 || tried > len(rules)/4 {
		t.Errorf("%d of %d patterns were tried, want the first and those within the slack", tried, len(rules))
	}
}

// Filtering the rules by their literals does not change the result.
func TestCandidate(t *testing.T) {
	patterns := []string{`^\s*kubectl\s+`, `git\s+(commit|push)`, `cat\s+.*<<[-]?\s*['"]?\w+['"]?(?!.*\|)`, `rm\s+-[rf]+`, `(curl|wget)\b`, `[sS]udo`, `\$\(`, `.`}
	words := []string{"kubectl", "GIT", "commit", "cat", "<<", "EOF", "rm", "-rf", "curl", "sudo", "$(", ")", "|", "&&", "x", "\n"}
	var rules, unfiltered []config.Rule
	for i, text := range patterns[:len(patterns)-1] {
		rule := config.Rule{Name: fmt.Sprint(i), CommandPattern: read(t, text)}
		rules = append(rules, rule)
		rule.CommandPattern.Literals = nil
		unfiltered = append(unfiltered, rule)
	}
	r := rand.New(rand.NewPCG(3, 4))
	m := Matcher{Timeout: time.Minute}
	matches := 0
	for range 2000 {
		var command []string
		for range 1 + r.IntN(6) {
			command = append(command, words[r.IntN(len(words))])
		}
		call := Call{"Bash", strings.Join(command, " ")}
		got, err := m.First(rules, call)
		if err != nil {
			t.Fatal(err)
		}
		want, err := m.First(unfiltered, call)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case (got == nil) != (want == nil), got != nil && got.Rule.Name != want.Rule.Name:
			t.Fatalf("%q: %+v, want %+v", call.Text, got, want)
		case got != nil:
			matches++
		}
	}
	if matches < 500 {
		t.Errorf("only %d matches", matches)
	}
}

// BenchmarkTimeout measures by how much slow patterns overrun their limit: x-limit times
// 50 ms should be at most 70 ms, for any number of patterns.
func BenchmarkTimeout(b *testing.B) {
	for _, n := range []int{1, 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var rules []config.Rule
			for range n {
				rules = append(rules, config.Rule{CommandPattern: read(b, `(a+)+$`)})
			}
			var m Matcher
			for b.Loop() {
				if found, err := m.First(rules, backtracking); found != nil || err != nil {
					b.Fatal(found, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(Timeout), "x-limit")
		})
	}
}

// BenchmarkFirst tries 200 rules on a command that none matches. As in a hook, no pattern
// is compiled yet.
func BenchmarkFirst(b *testing.B) {
	var rules []config.Rule
	for i := range 200 {
		rules = append(rules, config.Rule{CommandPattern: read(b, fmt.Sprintf(`^\s*tool%d\s+(get|list)\s+(?!--help)`, i))})
	}
	var m Matcher
	for b.Loop() {
		if found, err := m.First(rules, Call{"Bash", `cd project && go test ./... 2>&1 | tail -20`}); found != nil || err != nil {
			b.Fatal(found, err)
		}
	}
}
