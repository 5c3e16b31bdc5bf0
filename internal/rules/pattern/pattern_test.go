package pattern

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		text   string
		expr   string
		groups []string
		needs  []string
	}{
		{"", "", nil, nil},
		{`kubectl`, `kubectl`, nil, []string{"kubectl"}},
		{`^\s*kubectl\s+`, `^\s*kubectl\s+`, nil, []string{"kubectl"}},
		{`github\.com/[^/]+/[^/]+/pull/\d+`, `github\u002ecom/[^/]+/[^/]+/pull/\d+`, nil, []string{"github.com/"}},
		{`https?://[^/]*\.atlassian\.net`, `https?://[^/]*\u002eatlassian\u002enet`, nil, []string{".atlassian.net"}},
		{`cat\s+.*<<[-]?\s*['"]?\w+['"]?(?!.*\|)`, `cat\s+.*<<[\u002d]?\s*['"]?\w+['"]?(?!.*\u007c)`, nil, []string{"cat"}},
		{`(?:echo|printf).*\|.*tool-routing\s+(?:check|test)`, `(?:echo|printf).*\u007c.*tool\u002drouting\s+(?:check|test)`, nil, []string{"tool-routing"}},
		{`gh\s+pr\s+(?:create|edit)\s`, `gh\s+pr\s+(?:create|edit)\s`, nil, []string{"create", "edit"}},
		{`(?P<owner>\w+)/(\d+)/(?P=owner)/\1`, `(\w+)/(\d+)/(?:\1)/(?:\1)`, []string{"owner", ""}, []string{"/"}},
		{`(?<n>\d+)x`, `(\d+)x`, []string{"n"}, []string{"x"}},
		{`(?P<q>")?a(?(q)"|b)`, `(")?a(?(1)"|b)`, []string{"q"}, []string{"a", `"a`}},
		{`(?i)ABC(?-i:DEF)`, `(?i)ABC(?-i:DEF)`, nil, []string{"abcdef"}},
		{`(?au)x(?L-x:y)`, `x(?:y)`, nil, []string{"xy"}},
		{"(?x) rm \\ -rf # all (of it\n /", `rm\u0020\u002drf/`, nil, []string{"rm -rf/"}},
		{`(?x: a b )c d`, `(?:ab)c` + `\u0020` + `d`, nil, []string{"abc d"}},
		{`a(?#no [group)b`, `ab`, nil, []string{"ab"}},
		{`end\Z`, `end\z`, nil, []string{"end"}},
		{`a{,2}b{2}c{3,}d{1,2}e{,}{f}`, `a{0,2}b{2}c{3,}d{1,2}e*\u007bf\u007d`, nil, []string{"{f}"}},
		{`a*+b++c?+d{1,2}+`, `(?>a*)(?>b+)(?>c?)(?>d{1,2})`, nil, []string{"b"}},
		{`(?>a|b)c`, `(?>a|b)c`, nil, []string{"ac", "bc"}},
		{`[]a]x`, `[\u005da]x`, nil, []string{"]x", "ax"}},
		{`[^]a]x`, `[^\u005da]x`, nil, []string{"x"}},
		{`[a-z-[aeiou]]`, `[a-z-\u005baeiou]\u005d`, nil, []string{"]"}},
		{`[\]\\\b\d\x41]`, `[\u005d\u005c\u0008\dA]`, nil, nil},
		{`\_\'\x2F\u002f\U0001F600\07\n`, `_'//😀\u0007\u000a`, nil, []string{"_'//😀\a\n"}},
		{`(?=foo)bar(?<!baz)`, `(?=foo)bar(?<!baz)`, nil, []string{"bar"}},
		{`a|`, `a|`, nil, nil},
		{`(ab)+c`, `(ab)+c`, []string{""}, []string{"ab"}},
		{`İSTANBUL`, `İSTANBUL`, nil, []string{"istanbul"}},
	} {
		t.Run(test.text, func(t *testing.T) {
			got, err := Parse(test.text)
			if err != nil {
				t.Fatal(err)
			}
			want := Pattern{Text: test.text, Expr: test.expr, Groups: append([]string{""}, test.groups...), Literals: test.needs, Samples: got.Samples}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if _, err := regexp2.Compile(got.Expr, regexp2.IgnoreCase); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`(a`, "byte 2: unterminated group"},
		{`a)`, "byte 1: unmatched closing parenthesis"},
		{`[a`, "byte 2: unterminated character class"},
		{`[a\`, "byte 2: unterminated character class"},
		{`*a`, `byte 0: '*' has no operand to repeat`},
		{`a\`, "byte 1: trailing backslash"},
		{`\q`, `byte 0: unknown escape "\\q"`},
		{`\x4`, `byte 0: unterminated "\\x4"`},
		{`\ud800`, `byte 0: invalid character "\\ud800"`},
		{`(?P=x)`, `byte 0: group "x" not found before this reference`},
		{`(?P<x>a)(?P<x>b)`, `byte 8: duplicate group "x"`},
		{`(?<-x>a)`, "byte 0: invalid group name"},
		{`(?n)a`, `byte 0: invalid group syntax "(?n"`},
		{`(?i`, "byte 0: unterminated group"},
		{strings.Repeat("(", 200), "byte 101: groups nested too deeply"},
		{strings.Repeat("a", MaxLength+1), "the pattern has 16385 bytes, the limit is 16384"},
		{"a\xff", "the pattern is not UTF-8"},
	} {
		_, err := Parse(test.text)
		if err == nil || err.Error() != test.want {
			t.Errorf("Parse(%.20q): error %v, want %s", test.text, err, test.want)
		}
	}
}

// The results of re.search in Python 3.13 with IGNORECASE.
func TestMatchesAsPython(t *testing.T) {
	for _, test := range []struct {
		pattern, text string
		want          string // the match and its groups; "-" for none
	}{
		{`pull/(\d+)`, "GitHub.com/a/b/PULL/42#x", "PULL/42|42"},
		{`(?P<a>x)(y)(?P<b>z)`, "xyz", "xyz|x|y|z"},
		{`(a)(?P<b>b)\2\1`, "abba", "abba|a|b"},
		{`end$`, "the end\n", "end"},
		{`end\Z`, "the end\n", "-"},
		{`a.b`, "a\nb", "-"},
		{`(?s)a.b`, "a\nb", "a\nb"},
		{`^b`, "a\nb", "-"},
		{`(?m)^b`, "a\nb", "b"},
		{`a{,2}$`, "aaaa", "aa"},
		{`a*+a`, "aaa", "-"},
		{`[[]a]`, "[a]", "[a]"},
		{`\w+`, "éa", "éa"},
		{`(<)?a(?(1)>|!)`, "a!<a>", "a!|"},
		{`cat\s+.*<<[-]?\s*['"]?\w+['"]?(?!.*\|)`, "cat <<EOF | jq .\n{}\nEOF", "-"},
		{`cat\s+.*<<[-]?\s*['"]?\w+['"]?(?!.*\|)`, "cat > f << 'EOF'\nx\nEOF", "cat > f << 'EOF'"},
	} {
		p, err := Parse(test.pattern)
		if err != nil {
			t.Fatal(err)
		}
		m, err := regexp2.MustCompile(p.Expr, regexp2.IgnoreCase).FindStringMatch(test.text)
		if err != nil {
			t.Fatal(err)
		}
		got := "-"
		if m != nil {
			var parts []string
			for _, g := range m.Groups() {
				parts = append(parts, g.String())
			}
			got = strings.Join(parts, "|")
		}
		if got != test.want {
			t.Errorf("%s on %q: %q, want %q", test.pattern, test.text, got, test.want)
		}
	}
}

func TestSamples(t *testing.T) {
	for _, test := range []struct {
		text string
		want [2]string
	}{
		{`github\.com/[^/]+/[^/]+/pull/\d+`, [2]string{"github.com/x/x/pull/1", "github.com/--/--/pull/77"}},
		{`^\s*kubectl\s+`, [2]string{"kubectl ", "\tkubectl\t\t"}},
		{`gh (?:pr|issue) (?P<verb>[a-z]{3})( (?P=verb))?$`, [2]string{"gh pr aaa", "gh issue zzz zzz"}},
		{`(<)?a(?(1)>|!)`, [2]string{"a>", "<a!"}},
		{`[^xb-]\W`, [2]string{"7-", "7/"}},
		{`(a|b|c){2,9}`, [2]string{"aa", "ccc"}},
		{`x{5}`, [2]string{"xxxxx", "xxxxx"}},
	} {
		p, err := Parse(test.text)
		if err != nil {
			t.Fatal(err)
		}
		if p.Samples != test.want {
			t.Errorf("%s: %q, want %q", test.text, p.Samples, test.want)
		}
	}
}

// Every matching text contains one of the required literals.
func TestNeeds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	matches, filtered := 0, 0
	for range 20_000 {
		text := randomText(r)
		m, f := checkNeeds(t, randomPattern(r, 3), text)
		matches += m
		filtered += f
	}
	if matches < 1000 || filtered < 1000 {
		t.Errorf("%d matches, %d filtered texts: too few for the test", matches, filtered)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`^\s*kubectl\s+(?P<verb>\w+)`, `(?x) a # b`, `[^]a-z]{,3}+?`, `(?i:İ)\U0001F600\x41(?(1)a|b)`, `\ud800`, `(?<=a)(?P=x)`} {
		f.Add(seed, "some Text")
	}
	f.Fuzz(func(t *testing.T, text, input string) {
		if len(text) < 200 && len(input) < 200 {
			checkNeeds(t, text, input)
		}
	})
}

func checkNeeds(t *testing.T, text, input string) (matched, filtered int) {
	p, err := Parse(text)
	if err != nil {
		return 0, 0
	}
	if !utf8.ValidString(p.Expr) {
		t.Fatalf("%q: %q is not UTF-8", text, p.Expr)
	}
	may := MayMatch(p.Literals, Fold(input))
	re, err := regexp2.Compile(p.Expr, regexp2.IgnoreCase)
	if err != nil {
		return 0, 0
	}
	re.MatchTimeout = 1e8
	found, err := re.MatchString(input)
	if err != nil {
		return 0, 0
	}
	if found && !may {
		t.Fatalf("%q (%q) matches %q, which has none of %q", text, p.Expr, input, p.Literals)
	}
	if found {
		matched = 1
	}
	if !may {
		filtered = 1
	}
	return matched, filtered
}

func randomText(r *rand.Rand) string {
	alphabet := []rune("aAbBkK -\n.sSſiİI")
	var b strings.Builder
	for range r.IntN(12) {
		b.WriteRune(alphabet[r.IntN(len(alphabet))])
	}
	return b.String()
}

func randomPattern(r *rand.Rand, depth int) string {
	atoms := []string{"a", "B", "k", "K", "s", "ſ", "i", "İ", " ", `\.`, ".", `\s`, `\w`, "[ab]", "[^a]", "[a-k]", "^", "$", `\b`, "-"}
	var b strings.Builder
	for range 1 + r.IntN(4) {
		if depth > 0 && r.IntN(3) == 0 {
			open := []string{"(", "(?:", "(?=", "(?!", "(?>", "(?i:", "(?-i:", "(?x:"}[r.IntN(8)]
			b.WriteString(open + randomPattern(r, depth-1) + ")")
		} else {
			b.WriteString(atoms[r.IntN(len(atoms))])
		}
		b.WriteString([]string{"", "", "", "", "*", "+", "?", "{2}", "{,2}", "+?", "*+"}[r.IntN(11)])
		if r.IntN(6) == 0 {
			b.WriteString("|")
		}
	}
	return b.String()
}
