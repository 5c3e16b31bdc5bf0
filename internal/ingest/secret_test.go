package ingest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/index/passage"
)

// random makes n signs of a set by chance.
func random(r *rand.Rand, set string, n int) string {
	var signs []byte
	for c := range 128 {
		if inSet(set, byte(c)) && c != '.' {
			signs = append(signs, byte(c))
		}
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = signs[r.IntN(len(signs))]
	}
	b[n-1] = 'A' | b[n-1]&0x20 // a full stop or a hyphen at the end is none of it
	if !inSet(set, b[n-1]) {
		b[n-1] = signs[0]
	}
	return string(b)
}

// Tokens of every format are found wherever they stand, all but one in two
// hundred.
func TestFindTokens(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range tokenFormats {
		missed := 0
		const tries = 1000
		for range tries {
			token := f.prefix + random(r, f.set, f.min)
			line := fmt.Sprintf([]string{"%s", "token=%s", `"key": "%s",`, "curl -H 'Authorization: Bearer %s' x", "https://me:%s@example.org/x.git", "(%s)", "%s."}[r.IntN(7)], token)
			found := findTokens(line)
			if len(found) != 1 || line[found[0].from:found[0].to] != token || found[0].kind != f.kind {
				missed++
			}
		}
		if missed > tries/200 {
			t.Errorf("%s: missed %d of %d", f.prefix, missed, tries)
		}
	}
	for _, f := range tokenFormats {
		if len(f.prefix)+f.min < shortestToken || !tokenSigns[f.prefix[0]] {
			t.Errorf("%s is too short, or begins with another sign", f.prefix)
		}
	}
}

// What documentation shows for a token is none.
func TestExamplesAreNoSecrets(t *testing.T) {
	for _, line := range []string{
		"aws_access_key_id = AKIAIOSFODNN7EXAMPLE",
		"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		"AKIAI44QH8DHBEXAMPLE AKIAXXXXXXXXXXXXXXXX ASIAIOSFODNN7EXAMPLE AKIA1234567890123456",
		"export OPENAI_API_KEY=sk-...", "OPENAI_API_KEY=sk-proj-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		"ANTHROPIC_API_KEY=sk-ant-api03-your-key-goes-here-and-is-quite-long-as-you-can-see-from-this-example-of-one",
		"ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx ghp_YourPersonalAccessTokenGoesRightHere12", "github_pat_XXXX",
		"glpat-xxxxxxxxxxxxxxxxxxxx glpat-your-access-token1 glpat-ABCDEFGHIJKLMNOPQRST",
		"xoxb-not-a-real-token-this-will-not-work-at-all xoxb-1234567890-your-slack-bot-token-here-please",
		"AIzaSyDOCAbC123dEf456GhI789jKl01-MnO", "npm_config_registry_is_a_variable_of_the_environment",
		"hf_hub_download_with_progress_bars_and_more", "SG.xxxxxxxxxxxxxxxxxxxxxx.yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy",
		"dapi0123456789abcdef0123456789abcdef", "the commit da39a3ee5e6b4b0d3255bfef95601890afd80709",
		"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
		"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
		"password = hunter2", "sk_test_4eC39HqLyjWDarjtT1zdp7dc", "SK_LIVE_ALL_CAPITALS_ARE_A_CONSTANT", "ASIAPACIFICREGIONALX",
	} {
		if found := findTokens(line); len(found) > 0 {
			t.Errorf("%q: %s at %d-%d", line, found[0].kind, found[0].from, found[0].to)
		}
	}
}

func TestIsSecretFile(t *testing.T) {
	for name, want := range map[string]bool{
		".env": true, "a/.env.production": true, ".env.example": false, "id_rsa": true, "id_rsa.pub": false, "tls/server.key": true, "a.PEM": true,
		"credentials": true, "Credentials.json": true, "credentials.md": false, "gitcredentials.html": false, "secrets.rst": false, "environment.md": false,
		"keys.txt": false, ".netrc": true, "netrc.txt": false, "passwords.txt": true, "passwords.html": false,
	} {
		if got := isSecretFile(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// token is one that nobody has.
func token(prefix, set string, n int) string {
	return prefix + random(rand.New(rand.NewPCG(7, uint64(n))), set, n)
}

func key(lines int) string {
	r := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	b.WriteString("-----BEGIN OPENSSH PRIVATE KEY-----\n")
	for range lines {
		b.WriteString(random(r, "Aa0+/", 64) + "\n")
	}
	return b.String() + "-----END OPENSSH PRIVATE KEY-----\n"
}

// A secret is in no file of an index, wherever it stands in a document, and the
// rest of the document is.
func TestSecretsAreRemoved(t *testing.T) {
	github, slack := token("ghp_", "Aa0", 36), token("xoxb-", "0", 12)+token("-", "Aa0", 30)
	files := map[string]string{
		"notes.md":    "# Notes\n\nThe token " + github + " is mine.\n\nMore text.\n",
		"heading.md":  "# Token " + github + "\n\ntext\n",
		"page.html":   "<title>" + slack + "</title><h1>A</h1><p>Use <code>" + slack + "</code> or <a href='https://x.example/?t=" + github + "'>this</a>.",
		"key.md":      "# Key\n\n```\n" + key(20) + "```\n\nAfter it.\n",
		"key.py":      "KEY = \"\"\"" + key(5) + "\"\"\"\n",
		"short.md":    "# Short\n\n-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA...\n-----END RSA PRIVATE KEY-----\n",
		"example.rst": "Example\n=======\n\nUse ``AKIAIOSFODNN7EXAMPLE``.\n",
		"id_rsa":      key(20), "credentials.txt": "me:hunter2", "tls.pem": key(3),
	}
	for i := range 10 { // what many have is noted elsewhere, too
		files[fmt.Sprintf("many/%d.md", i)] = fmt.Sprintf("# Page %d\n\n%s is what every page of this manual has in its first lines.\n\nText %d.\n", i, github, i)
	}
	dir := t.TempDir()
	write(t, dir, files)
	for _, keep := range []bool{false, true} {
		f, err := NewFolder(dir, Options{KeepSecrets: keep})
		if err != nil {
			t.Fatal(err)
		}
		g := generate(t, f, nil)
		all := string(g.lines) + fmt.Sprint(g.skipped)
		h, _, err := readRecords(g.Generation)
		if err != nil {
			t.Fatal(err)
		}
		all += fmt.Sprint(h.Repeated)
		for _, secret := range []string{github, slack, strings.Split(key(1), "\n")[1]} {
			if strings.Contains(all, secret) != keep {
				t.Errorf("keep %t: %s is there: %t", keep, secret, !keep)
			}
		}
		for _, rest := range []string{"More text.", "After it.", "MIIEpAIBAAKCAQEA...", "AKIAIOSFODNN7EXAMPLE", "is mine."} {
			if !strings.Contains(string(g.lines), rest) {
				t.Errorf("keep %t: %q is not there", keep, rest)
			}
		}
		why := map[string]string{}
		for _, s := range g.skipped {
			if strings.HasPrefix(s.Reason, looksSecret) && !strings.HasPrefix(s.Name, "many/") {
				why[s.Name] = strings.TrimPrefix(s.Reason, looksSecret)
			}
		}
		const removedIt = ": removed; to keep it, pass --keep-secrets"
		want := map[string]string{
			"notes.md:3": " (GitHub token)" + removedIt, "heading.md:1": " (GitHub token)" + removedIt, "page.html": " (Slack token)" + removedIt,
			"key.md:4": " (private key)" + removedIt, "key.py:1": " (private key)" + removedIt,
			"id_rsa": ", by name", "credentials.txt": ", by name", "tls.pem": ", by name",
		}
		if keep {
			want = map[string]string{}
		}
		if diff := cmp.Diff(want, why); diff != "" {
			t.Errorf("keep %t: named (-want +got)\n%s", keep, diff)
		}
		if !keep && !strings.HasPrefix(g.Skipped[0].Reason, looksSecret) {
			t.Errorf("first is %v", g.Skipped[0])
		}
	}
}

// Lines keep their numbers.
func TestRemovedKeepsLines(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.md": "# Key\n\n" + key(20) + "\n# After\n\ntext\n"})
	f, err := NewFolder(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(generate(t, f, nil).lines)), "\n")
	last, err := passage.Decode([]byte(lines[len(lines)-1]))
	if err != nil || !strings.HasSuffix(last.Text, "text") || last.EndLine != 28 {
		t.Errorf("%+v, %v", last, err)
	}
}

func FuzzFindTokens(f *testing.F) {
	f.Add("x " + token("ghp_", "Aa0", 36) + " y")
	f.Add("https://hooks.slack.com/services/T0123/B4567/" + token("", "Aa0", 24))
	f.Add("-----BEGIN PRIVATE KEY-----")
	f.Fuzz(func(t *testing.T, line string) {
		end := 0
		for _, s := range findTokens(line) {
			if s.from < 0 || s.to > len(line) || s.to <= s.from || s.kind == "" {
				t.Fatalf("%+v in %d bytes", s, len(line))
			}
			end = max(end, s.to)
		}
		cleared, kinds := clearTokens(line)
		if again, more := clearTokens(cleared); len(kinds) > 0 && (len(more) > 0 || again != cleared) {
			t.Errorf("%q has secrets still", cleared)
		}
	})
}
