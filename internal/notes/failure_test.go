package notes

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/index/passage"
)

func TestReadFailure(t *testing.T) {
	for _, test := range []struct {
		name, output string
		want         Failure
	}{
		{"nothing", "", Failure{}},
		{"a code within the words", "Exit code 1\nCMake Warning (dev) at CMakeLists.txt:14 (add_library):\n  Policy CMP0115 is not set: Source file extensions must be explicit.\n",
			Failure{Messages: []string{"Policy CMP0115 is not set Source file extensions must be explicit.", "CMake Warning (dev) at (add_library)"}, Names: []string{"CMP0115", "add_library"}}},
		{"an exception at the end of a trace", "Traceback (most recent call last):\n  File \"/p/a.py\", line 3, in <module>\n    raise Failed('not found')\nshop.errors.StockError: no more of 7f3a9bc in /p/stock.db\n",
			Failure{Messages: []string{"shop.errors.StockError no more of in"}, Names: []string{"StockError", "shop.errors.StockError"}}},
		{"exceptions in a row, the last one first", "ValueError: a b\n\nDuring handling of the above exception, another exception occurred:\n\nKeyError: c d\n",
			Failure{Messages: []string{"KeyError c d", "ValueError a b", "During handling of the above exception, another exception occurred"}}},
		{"a compiler", "# example.com/x\nx/a.go:41:2: n declared but not used\nsrc/a.ts(9,21): error TS2307: Cannot find it.\n",
			Failure{Messages: []string{"n declared but not used", "error TS2307 Cannot find it."}, Names: []string{"TS2307"}}},
		{"source below an error", "error[E0382]: borrow of moved value\n  --> src/main.rs:41:20\n   |\n38 |     let x = y;\n   |         - move occurs here\nerror: could not compile `x`\n",
			Failure{Messages: []string{"error[E0382] borrow of moved value", "error could not compile `x`"}, Names: []string{"E0382"}}},
		{"a prefix on each line", "npm ERR! code EUSAGE\nnpm ERR! \nnpm ERR! Missing: a lock file\nnpm ERR! A complete log of this run can be found in: /x\n",
			Failure{Messages: []string{"Missing a lock file", "code EUSAGE", "A complete log of this run can be found in"}, Names: []string{"EUSAGE"}}},
		{"headings and colors", "==== ERRORS ====\n\x1b[31m'slow' not found in `markers`\x1b[0m\n==== 1 error in 0.21s ====\n", Failure{Messages: []string{"'slow' not found in `markers`"}}},
		{"usage is not a failure", "ERROR: usage: x [options]\nx: error: unrecognized arguments: --cov\n", Failure{Messages: []string{"x error unrecognized arguments cov"}, Names: []string{"--cov"}}},
		{"no words for it", "Building\ncollected 3 items\nno more to do here\n", Failure{Messages: []string{"no more to do here"}}},
		{"a test", "--- FAIL: TestX (0.00s)\n    x_test.go:3: got four, want five\n", Failure{Messages: []string{"got four, want five", "FAIL TestX"}, TestFailed: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, ReadFailure(test.output)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCommonFailure(t *testing.T) {
	for output, want := range map[string]bool{
		"KeyError: 'x y'":                                       true,
		"django.core.exceptions.FieldError: x y":                false,
		"fatal: unable to access it: Could not resolve host: x": true,
		"cp: error writing it: No space left on device":         true,
		"--- FAIL: TestX\n    a_test.go:3: got x, want y":       true,
		"Error: listen EADDRINUSE: address already in use":      false,
		"": false,
	} {
		f := ReadFailure(output)
		if got := f.Common(); got != want {
			t.Errorf("%q: common is %t", output, got)
		}
	}
}

func TestTrace(t *testing.T) {
	policy := passage.Passage{Title: "CMP0115", Headings: []string{"CMP0115"}, Text: "Source file extensions must be explicit. See cmake_policy."}
	command := passage.Passage{Title: "cmake_policy", Headings: []string{"cmake_policy"}, Text: "Manage policies."}
	mentions := passage.Passage{Title: "Policies", Text: "CMP0115 is one. CMP01150 is another."}
	index := passage.Passage{Title: "Errors", Headings: []string{"Errors", "ERR_A / ERR_B"}, Anchors: []string{"shop.StockError"}, Text: "None."}
	clause := passage.Passage{Title: "INSERT", Headings: []string{"INSERT", "ON CONFLICT Clause"}, Text: "Another action."}
	other := passage.Passage{Title: "Other", Text: "Nothing of it."}
	for _, test := range []struct {
		name   string
		output string
		page   passage.Passage
		want   Evidence
	}{
		{"the code is the title", "error: Policy CMP0115 is not set", policy, Evidence{Defines: 1, Name: "CMP0115"}},
		{"another name is", "error: use cmake_policy", command, Evidence{Defines: .4, Name: "cmake_policy", Titled: false, Run: 0}},
		{"the code is in the text", "error: Policy CMP0115 is not set", mentions, Evidence{Defines: .7, Name: "CMP0115", Run: 2}},
		{"a longer code is", "error: Policy CMP0115 is not set", passage.Passage{Text: "CMP01150"}, Evidence{}},
		{"one of several headings", "error: ERR_B happened", index, Evidence{Defines: 1, Name: "ERR_B"}},
		{"the end of an anchor", "shop.errors.StockError: none left", index, Evidence{Defines: 1, Name: "StockError", Run: 1}},
		{"the heading is in the message", "ERROR: no constraint matches the ON CONFLICT specification", clause, Evidence{Titled: true}},
		{"the message word for word", "error: source file extensions must be given", policy, Evidence{Run: 5}},
		{"nothing", "error: Policy CMP0115", other, Evidence{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := ReadFailure(test.output)
			if diff := cmp.Diff(test.want, f.Scanner().Scan(&test.page)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A code in a title is sufficient evidence. Words are if there are many, and for a common
// failure only if they are rare.
func TestEvidence(t *testing.T) {
	const enough = .4
	for _, test := range []struct {
		name   string
		trace  Evidence
		common bool
		want   bool
	}{
		{"a code", Evidence{Defines: 1}, false, true},
		{"a name and few words", Evidence{Defines: .4, Share: .1, Rarity: .3}, false, true},
		{"half of the words", Evidence{Share: .5, Rarity: .9}, false, true},
		{"one word of little meaning", Evidence{Share: .5, Rarity: .2}, false, false},
		{"few of the words", Evidence{Share: .3, Rarity: 2}, false, false},
		{"a long quotation", Evidence{Share: .1, Rarity: .6, Run: 8}, false, true},
		{"half of the words of a common failure", Evidence{Share: .5, Rarity: .9}, true, false},
		{"rare words of a common failure", Evidence{Share: .8, Rarity: 2}, true, true},
		{"nothing", Evidence{}, false, false},
	} {
		if got := test.trace.Score(test.common); got >= enough != test.want {
			t.Errorf("%s: evidence %.2f", test.name, got)
		}
	}
}

func TestConcerns(t *testing.T) {
	for _, test := range []struct {
		name    string
		command string
		failure string
		names   []string
		want    int
	}{
		{"its program", "sudo apache2ctl configtest", "", []string{"apache", "apache2"}, SameProgram},
		{"a program of its family", "pg_dump -Fc shop", "", []string{"postgresql", "pg"}, SameProgram},
		{"a version of it", "/usr/bin/python3.11 a.py", "", []string{"python"}, SameProgram},
		{"launched program", "python -m pytest -q", "", []string{"pytest"}, SameProgram},
		{"launching program", "python -m pytest -q", "", []string{"python"}, SameLanguage},
		{"its language", "cargo build", "", []string{"rust"}, SameLanguage},
		{"a framework's script", "python manage.py migrate", "", []string{"Django"}, SameProgram},
		{"a module in a path", "python a.py", `File "/x/site-packages/pandas/core/x.py", line 1`, []string{"pandas"}, InOutput},
		{"a module in front of an exception", "python a.py", "x\npandas.errors.MergeError: y", []string{"pandas"}, InOutput},
		{"a word in the output", "python a.py", "use pandas. Or not.", []string{"pandas"}, Unrelated},
		{"another program", "gitk --all", "", []string{"git"}, Unrelated},
		{"an argument", "grep cmake x", "", []string{"cmake"}, Unrelated},
		{"no command", "", "", []string{"git"}, Unrelated},
	} {
		c := Call{Command: test.command, Failure: test.failure}
		if got := c.Relation(test.names); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

func FuzzReadFailure(f *testing.F) {
	f.Add("error[E0382]: `x`\n  --> a.rs:1:2\n  |\n1 | y\n", "cargo build")
	f.Add("Traceback (most recent call last):\n  File \"a\", line 1\nA.B: c\x1b[", "python -m x")
	f.Add("a.go:1:2: \npath(1,2): x\n==== x ====\n\x00\xff:", "npx npx")
	f.Fuzz(func(t *testing.T, output, command string) {
		failure := ReadFailure(output)
		if len(failure.Messages) > maxLines || len(failure.Names) > maxNames {
			t.Errorf("%d messages, %d names", len(failure.Messages), len(failure.Names))
		}
		for _, m := range failure.Messages {
			if len(m) > maxLineLength || strings.ContainsAny(m, "\n\"") {
				t.Errorf("message %q", m)
			}
		}
		p := passage.Passage{Title: command, Headings: []string{output}, Text: output, Anchors: failure.Names}
		if e := failure.Scanner().Scan(&p).Score(failure.Common()); e < 0 || e > 3 {
			t.Errorf("evidence %f", e)
		}
		c := Call{Command: command, Failure: output}
		if n := c.Relation([]string{command, output}); n < Unrelated || n > InOutput {
			t.Errorf("concern %d", n)
		}
	})
}

// Reading long output takes time in proportion to its length.
func TestReadLongFailure(t *testing.T) {
	output := strings.Repeat("error: x y z of it\n", 200_000) + "fatal: the end of all\n"
	if f := ReadFailure(output); !slices.Contains(f.Messages, "fatal the end of all") {
		t.Errorf("%q", f.Messages)
	}
}
