package secret

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// random returns n random characters of a set.
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
	b[n-1] = 'A' | b[n-1]&0x20 // trailing full stops and hyphens do not belong to a token
	if !inSet(set, b[n-1]) {
		b[n-1] = signs[0]
	}
	return string(b)
}

// Tokens of every format are found in any context, in at least 199 of 200
// cases.
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
		if len(f.prefix)+f.min < minTokenLength || !isTokenByte(f.prefix[0]) {
			t.Errorf("%s is too short, or begins with another sign", f.prefix)
		}
	}
}

// Example tokens in documentation are not secrets.
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

func TestIsFile(t *testing.T) {
	for name, want := range map[string]bool{
		".env": true, "a/.env.production": true, ".env.example": false, "id_rsa": true, "id_rsa.pub": false, "tls/server.key": true, "a.PEM": true,
		"credentials": true, "Credentials.json": true, "credentials.md": false, "gitcredentials.html": false, "secrets.rst": false, "environment.md": false,
		"keys.txt": false, ".netrc": true, "netrc.txt": false, "passwords.txt": true, "passwords.html": false,
	} {
		if got := IsFile(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// The notes name the line of the source if it is known, and end after twenty lines.
func TestNotes(t *testing.T) {
	lines := make([]string, 30)
	for i := range lines {
		lines[i] = token("ghp_", "Aa0", 36)
	}
	origins := make([]int, len(lines))
	for i := range origins {
		origins[i] = 100 + i
	}
	for name, tt := range map[string]struct {
		doc   document.Document
		place string // of the second note
	}{
		"source":               {document.Document{}, ":2"},
		"converted":            {document.Document{Converted: true}, ""},
		"converted, with line": {document.Document{Converted: true, Origins: origins}, ":101"},
		"line 0 is unknown":    {document.Document{Converted: true, Origins: make([]int, len(lines))}, ""},
	} {
		doc := tt.doc
		doc.Lines = lines
		Remove(&doc)
		if len(doc.Notes) != 20 || doc.Notes[1].Place != tt.place {
			t.Errorf("%s: %d notes, place %q", name, len(doc.Notes), doc.Notes[min(1, len(doc.Notes)-1)].Place)
		}
		if doc.Lines[29] == lines[29] {
			t.Errorf("%s: the last token was kept", name)
		}
	}
}

// token returns a random token.
func token(prefix, set string, n int) string {
	return prefix + random(rand.New(rand.NewPCG(7, uint64(n))), set, n)
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
		cleared, kinds := replaceTokens(line)
		if again, more := replaceTokens(cleared); len(kinds) > 0 && (len(more) > 0 || again != cleared) {
			t.Errorf("%q has secrets still", cleared)
		}
	})
}
