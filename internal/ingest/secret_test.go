package ingest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
	"github.com/docsearch/docsearch/internal/ingest/secret"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
)

// An index contains no secret of a document, and everything else.
func TestSecretsAreRemoved(t *testing.T) {
	github, slack := "ghp_"+randomText(1, letters+digits, 36), "xoxb-"+randomText(2, digits, 12)+"-"+randomText(3, letters+digits, 30)
	files := map[string]string{
		"notes.md":    "# Notes\n\nThe token " + github + " is mine.\n\nMore text.\n",
		"heading.md":  "# Token " + github + "\n\ntext\n",
		"page.html":   "<title>" + slack + "</title><h1>A</h1><p>Use <code>" + slack + "</code> or <a href='https://x.example/?t=" + github + "'>this</a>.",
		"key.md":      "# Key\n\n```\n" + randomKey(20) + "```\n\nAfter it.\n",
		"key.py":      "KEY = \"\"\"" + randomKey(5) + "\"\"\"\n",
		"short.md":    "# Short\n\n-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA...\n-----END RSA PRIVATE KEY-----\n",
		"example.rst": "Example\n=======\n\nUse ``AKIAIOSFODNN7EXAMPLE``.\n",
		"id_rsa":      randomKey(20), "credentials.txt": "me:hunter2", "tls.pem": randomKey(3),
		"auth/passwords.txt": "Passwords\n=========\n\n" + strings.Repeat("A password is never kept as it was typed, only its hash.\n", 6),
	}
	for i := range 10 { // boilerplate is also stored in the records
		files[fmt.Sprintf("many/%d.md", i)] = fmt.Sprintf("# Page %d\n\n%s is what every page of this manual has in its first lines.\n\nText %d.\n", i, github, i)
	}
	dir := t.TempDir()
	ingesttest.WriteFiles(t, dir, files)
	for _, keep := range []bool{false, true} {
		f, err := NewFolder(dir, folder.Options{KeepSecrets: keep})
		if err != nil {
			t.Fatal(err)
		}
		g := generate(t, f, nil)
		all := string(g.lines) + fmt.Sprint(g.skipped)
		h, _, err := readRecords(g.Generation)
		if err != nil {
			t.Fatal(err)
		}
		all += fmt.Sprint(h.Boilerplate)
		for _, secret := range []string{github, slack, strings.Split(randomKey(1), "\n")[1]} {
			if strings.Contains(all, secret) != keep {
				t.Errorf("keep %t: %s is there: %t", keep, secret, !keep)
			}
		}
		for _, rest := range []string{"More text.", "After it.", "MIIEpAIBAAKCAQEA...", "AKIAIOSFODNN7EXAMPLE", "is mine.", "only its hash."} {
			if !strings.Contains(string(g.lines), rest) {
				t.Errorf("keep %t: %q is not there", keep, rest)
			}
		}
		why := map[string]string{}
		for _, s := range g.skipped {
			if strings.HasPrefix(s.Reason, secret.Reason) && !strings.HasPrefix(s.Name, "many/") {
				why[s.Name] = strings.TrimPrefix(s.Reason, secret.Reason)
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
		if !keep && !strings.HasPrefix(g.Skipped[0].Reason, secret.Reason) {
			t.Errorf("first is %v", g.Skipped[0])
		}
	}
}

func randomKey(lines int) string {
	var b strings.Builder
	b.WriteString("-----BEGIN OPENSSH PRIVATE KEY-----\n")
	for i := range lines {
		b.WriteString(randomText(i, letters+digits+"+/", 64) + "\n")
	}
	return b.String() + "-----END OPENSSH PRIVATE KEY-----\n"
}

const (
	letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	digits  = "0123456789"
)

// randomText returns n characters of an alphabet, the same ones for a seed.
func randomText(seed int, alphabet string, n int) string {
	r := rand.New(rand.NewPCG(7, uint64(seed)))
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

// Line numbers stay the same.
func TestRemovedKeepsLines(t *testing.T) {
	dir := t.TempDir()
	ingesttest.WriteFiles(t, dir, map[string]string{"a.md": "# Key\n\n" + randomKey(20) + "\n# After\n\ntext\n"})
	f, err := NewFolder(dir, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(generate(t, f, nil).lines)), "\n")
	last, err := passage.Decode([]byte(lines[len(lines)-1]))
	if err != nil || !strings.HasSuffix(last.Text, "text") || last.EndLine != 28 {
		t.Errorf("%+v, %v", last, err)
	}
}
