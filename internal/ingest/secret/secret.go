// Package secret finds files that hold secrets, by name and content, and removes keys
// and tokens from documents.
//
// It detects only formats that rarely match anything else. It does not find
// passwords that are words, tokens in common formats, or JSON Web Tokens, which
// documentation shows far more often than anyone leaks one.
package secret

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// Reason is the prefix of the reasons for skipped files and removed text.
const Reason = "looks like a secret"

// placeholder replaces a secret.
const placeholder = "[secret removed]"

// secretNames are the lower-case names of files that contain only secrets.
// Documentation has names such as credentials.md.
var secretNames = [...]string{
	".env", ".netrc", "_netrc", ".pgpass", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd", ".dockercfg",
	".vault-token",
	"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk",
	"credentials", "credentials.txt", "credentials.json", "credentials.yml", "credentials.yaml", "credentials.ini",
	"credentials.xml", "credentials.csv",
	"secrets.txt", "secrets.json", "secrets.yml", "secrets.yaml", "secrets.ini", "passwords.txt", "passwords.csv",
}

// secretEndings are the extensions of key files.
var secretEndings = [...]string{".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk"}

// IsFile reports whether a file name is that of a file with secrets.
func IsFile(name string) bool {
	base := strings.ToLower(path.Base(name))
	if rest, ok := strings.CutPrefix(base, ".env."); ok {
		return !slices.Contains([]string{"example", "sample", "template", "dist", "defaults"}, rest)
	}
	return slices.Contains(secretNames[:], base) || slices.Contains(secretEndings[:], path.Ext(base))
}

// MayBeDocument reports whether a file with the name of a secret may be documentation, such
// as a chapter on passwords. Its content decides: see IsProse.
func MayBeDocument(name string) bool { return strings.EqualFold(path.Ext(name), ".txt") }

// IsProse reports whether a text has several sentences. Lists of passwords have none.
func IsProse(text []byte) bool {
	const sentences, words = 5, 6
	n := 0
	for line := range strings.Lines(string(text)) {
		count := 0
		for word := range strings.FieldsSeq(line) {
			if strings.Trim(strings.ToLower(word), "abcdefghijklmnopqrstuvwxyz.,;:()'`\"") == "" {
				count++
			}
		}
		if count >= words {
			n++
		}
	}
	return n >= sentences
}

// A tokenFormat describes a kind of token: a prefix and a number of characters
// of a set.
type tokenFormat struct {
	prefix   string
	min, max int    // characters after the prefix
	set      string // see inSet
	kind     string
}

// tokenFormats are the documented formats of well-known services, as used by
// secret scanners (GitHub's secret scanning, gitleaks, trufflehog). A format
// belongs here if it has a unique prefix, or a length and character set that
// nothing else has.
var tokenFormats = [...]tokenFormat{
	{"AGE-SECRET-KEY-1", 58, 58, "A0", "age key"},       // age-encryption.org/v1: Bech32
	{"AIza", 35, 35, "Aa0_-", "Google API key"},         // cloud.google.com/docs/authentication/api-keys
	{"AKIA", 16, 16, "A0", "AWS access key"},            // docs.aws.amazon.com/IAM: unique identifiers
	{"ASIA", 16, 16, "A0", "AWS access key"},            // the same, temporary
	{"ATATT3", 150, 250, "Aa0_-", "Atlassian token"},    // support.atlassian.com: API tokens
	{"GOCSPX-", 28, 28, "Aa0_-", "Google OAuth secret"}, // client secrets since 2021
	{"NRAK-", 27, 27, "A0", "New Relic key"},            // docs.newrelic.com: user keys
	{"PMAK-", 59, 59, "f0-", "Postman key"},             // 24 and 34 hexadecimal digits
	{"SG.", 66, 66, "Aa0_-.", "SendGrid key"},           // 22 and 43 characters
	{"dapi", 32, 34, "f0-", "Databricks token"},         // docs.databricks.com: personal access tokens
	{"dckr_pat_", 27, 27, "Aa0_-", "Docker token"},      // docs.docker.com: access tokens
	{"dop_v1_", 64, 64, "f0", "DigitalOcean token"},     // docs.digitalocean.com: personal access tokens
	{"doo_v1_", 64, 64, "f0", "DigitalOcean token"},     // the same, OAuth
	{"dor_v1_", 64, 64, "f0", "DigitalOcean token"},     // the same, refresh
	{"ghp_", 36, 36, "Aa0", "GitHub token"},             // docs.github.com: token formats
	{"gho_", 36, 36, "Aa0", "GitHub token"},             // the same, OAuth
	{"ghu_", 36, 36, "Aa0", "GitHub token"},             // the same, user to server
	{"ghs_", 36, 36, "Aa0", "GitHub token"},             // the same, server to server
	{"ghr_", 36, 76, "Aa0", "GitHub token"},             // the same, refresh
	{"github_pat_", 82, 82, "Aa0_", "GitHub token"},     // the same, fine-grained
	{"glpat-", 20, 64, "Aa0_-.", "GitLab token"},        // docs.gitlab.com: token prefixes
	{"gldt-", 20, 64, "Aa0_-.", "GitLab token"},         // the same, deploy
	{"glrt-", 20, 64, "Aa0_-.", "GitLab token"},         // the same, runner
	{"glptt-", 40, 40, "f0", "GitLab token"},            // the same, trigger
	{"glsa_", 41, 41, "Aa0_", "Grafana token"},          // 32 characters and a checksum
	{"hf_", 34, 34, "Aa", "Hugging Face token"},         // huggingface.co/docs/hub/security-tokens
	{"hvs.", 90, 200, "Aa0_-", "Vault token"},           // developer.hashicorp.com/vault: tokens
	{"hvb.", 130, 350, "Aa0_-", "Vault token"},          // the same, batch
	{"lin_api_", 40, 40, "Aa0", "Linear key"},           // linear.app/developers
	{"npm_", 36, 36, "Aa0", "npm token"},                // docs.npmjs.com: access tokens
	{"pypi-AgE", 60, 400, "Aa0_-", "PyPI token"},        // a macaroon of pypi.org, in base 64
	{"rk_live_", 24, 250, "Aa0", "Stripe key"},          // docs.stripe.com/keys, restricted
	{"rubygems_", 48, 48, "f0", "RubyGems key"},         // guides.rubygems.org: API keys
	{"shpat_", 32, 32, "Ff0", "Shopify token"},          // shopify.dev: access tokens
	{"shpca_", 32, 32, "Ff0", "Shopify token"},          // the same, of custom apps
	{"shppa_", 32, 32, "Ff0", "Shopify token"},          // the same, of private apps
	{"shpss_", 32, 32, "Ff0", "Shopify secret"},         // the same, shared secret
	{"sk-admin-", 40, 250, "Aa0_-", "OpenAI key"},       // platform.openai.com: API keys
	{"sk-ant-", 80, 150, "Aa0_-", "Anthropic key"},      // docs.anthropic.com: API keys
	{"sk-proj-", 40, 250, "Aa0_-", "OpenAI key"},        // platform.openai.com: project keys
	{"sk-svcacct-", 40, 250, "Aa0_-", "OpenAI key"},     // the same, of service accounts
	{"sk_live_", 24, 250, "Aa0", "Stripe key"},          // docs.stripe.com/keys, secret
	{"xapp-", 40, 150, "Aa0-", "Slack token"},           // api.slack.com: token types
	{"xoxb-", 40, 100, "Aa0-", "Slack token"},           // the same, bot
	{"xoxe-", 40, 200, "Aa0-", "Slack token"},           // the same, refresh
	{"xoxp-", 40, 100, "Aa0-", "Slack token"},           // the same, user
}

// minTokenLength is the length of the shortest token.
const minTokenLength = 20

// inSet reports whether c belongs to the set: "A" means capital letters, "a"
// small letters, "F" and "f" those of hexadecimal digits, "0" digits; other
// characters mean themselves.
func inSet(set string, c byte) bool {
	for i := range len(set) {
		switch s := set[i]; {
		case s == c && s != 'A' && s != 'a' && s != 'F' && s != 'f' && s != '0':
			return true
		case s == 'A' && c >= 'A' && c <= 'Z', s == 'a' && c >= 'a' && c <= 'z', s == '0' && c >= '0' && c <= '9',
			s == 'F' && c >= 'A' && c <= 'F', s == 'f' && c >= 'a' && c <= 'f':
			return true
		}
	}
	return false
}

// isTokenByte reports whether tokens may contain c.
func isTokenByte(c byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '.':
		return true
	}
	return false
}

// A foundSecret is the position of a secret in a line.
type foundSecret struct {
	from, to int
	kind     string
}

// findTokens finds the tokens in a line.
func findTokens(line string) (found []foundSecret) {
	begin := -1
	for i := 0; i <= len(line); i++ {
		if i < len(line) && isTokenByte(line[i]) {
			if begin < 0 {
				begin = i
			}
			continue
		}
		if begin >= 0 && i-begin >= minTokenLength {
			if n, kind := matchToken(line[begin:i]); n > 0 {
				found = append(found, foundSecret{begin, begin + n, kind})
			}
		}
		begin = -1
	}
	const webhook = "hooks.slack.com/services/T"
	if i := strings.Index(line, webhook); i >= 0 {
		end := i
		for end < len(line) && (isTokenByte(line[end]) || line[end] == '/') {
			end++
		}
		if secret := line[i+len(webhook) : end]; strings.Count(secret, "/") == 2 && len(secret) > 36 &&
			looksRandom(secret) {
			found = append(found, foundSecret{i, end, "Slack webhook"})
		}
	}
	return found
}

// matchToken returns the length and kind of the token at the beginning of s, or
// 0.
func matchToken(s string) (int, string) {
	for i := range tokenFormats {
		f := &tokenFormats[i]
		if s[0] != f.prefix[0] || !strings.HasPrefix(s, f.prefix) {
			continue
		}
		n := len(f.prefix)
		for n < len(s) && n-len(f.prefix) < f.max && inSet(f.set, s[n]) {
			n++
		}
		random := strings.TrimRight(s[len(f.prefix):n], ".-_")
		more := n < len(s) && inSet("Aa0", s[n])
		if len(random) >= f.min && !more && looksRandom(random) {
			return len(f.prefix) + len(random), f.kind
		}
	}
	return 0, ""
}

// looksRandom reports whether characters look random. Examples contain words,
// repetitions or sequences; ASIA also begins names.
func looksRandom(s string) bool {
	lower := strings.ToLower(s)
	for _, word := range [...]string{"example", "xxxx", "....", "0000", "your", "token", "secret", "sample",
		"placeholder", "redacted", "dummy", "fake", "abcdef", "12345", "test", "pacific"} {
		if strings.Contains(lower, word) {
			return false
		}
	}
	var count [256]int
	next := 0 // pairs of consecutive characters
	for i := range len(lower) {
		count[s[i]]++
		if i > 0 && lower[i] == lower[i-1]+1 {
			next++
		}
	}
	entropy := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			entropy -= p * math.Log2(p)
		}
	}
	// Sixteen random digits or letters have at least 3.2 bits each in all but
	// one of a thousand cases; hexadecimal digits have 2.9.
	const least = 2.9
	return entropy >= least && next*4 < len(s)
}

// Remove replaces the secrets in a document and adds a note for each.
func Remove(doc *document.Document) {
	r := remover{doc: doc}
	for i := 0; i < len(doc.Lines); i++ {
		if n := r.privateKey(i); n > 0 {
			i += n
			continue
		}
		if line, kinds := replaceTokens(doc.Lines[i]); len(kinds) > 0 {
			r.replace(i, line)
			r.note(i, kinds)
		}
	}
	r.metadata()
}

type remover struct {
	doc    *document.Document
	copied bool // the lines are already a copy
	notes  int
}

func (r *remover) replace(i int, line string) {
	if !r.copied {
		r.doc.Lines, r.copied = slices.Clone(r.doc.Lines), true
	}
	r.doc.Lines[i] = line
}

// note adds notes for secrets on a line, up to a limit.
func (r *remover) note(i int, kinds []string) {
	const few = 20
	if r.notes++; r.notes > few {
		return
	}
	place := ""
	switch {
	case len(r.doc.Origins) > i && r.doc.Origins[i] > 0:
		place = fmt.Sprintf(":%d", r.doc.Origins[i])
	case !r.doc.Converted:
		place = fmt.Sprintf(":%d", i+1)
	}
	for _, kind := range kinds {
		r.doc.Notes = append(r.doc.Notes,
			document.Note{Place: place, Text: Reason + " (" + kind + "): removed; to keep it, pass --keep-secrets"})
	}
}

// replaceTokens returns a line with its tokens replaced, and their kinds.
func replaceTokens(line string) (string, []string) {
	found := findTokens(line)
	var kinds []string
	for _, f := range slices.Backward(found) {
		line = line[:f.from] + placeholder + line[f.to:]
		kinds = append(kinds, f.kind)
	}
	return line, kinds
}

// privateKey replaces a private key that begins on line i. It returns the
// number of its further lines, 0 if there is no key.
func (r *remover) privateKey(i int) int {
	const mark, most = "PRIVATE KEY", 200 // lines
	line := r.doc.Lines[i]
	if !strings.Contains(line, mark) || !strings.Contains(line, "-----BEGIN ") {
		return 0
	}
	signs := 0
	for n := i + 1; n < min(len(r.doc.Lines), i+most); n++ {
		if strings.Contains(r.doc.Lines[n], "-----END ") {
			const shortest = 48 // of a 256-bit key
			if signs < shortest {
				return 0
			}
			for k := i + 1; k < n; k++ {
				r.replace(k, "")
			}
			r.replace(i+1, placeholder)
			r.note(i, []string{"private key"})
			return n - i
		}
		text := strings.Trim(r.doc.Lines[n], " \t>|#*/\"'+,\\n")
		if strings.Contains(text, "...") || strings.Contains(text, "…") {
			return 0 // an abbreviated example
		}
		if !strings.ContainsAny(text, " :") { // a field of the key
			signs += len(text)
		}
	}
	return 0
}

// metadata replaces secrets in the title, headings, terms and links.
func (r *remover) metadata() {
	clear := func(s *string) {
		if len(*s) < minTokenLength {
			return
		}
		if cleared, kinds := replaceTokens(*s); len(kinds) > 0 {
			*s = cleared
		}
	}
	clear(&r.doc.Title)
	for i := range r.doc.Sections {
		s := &r.doc.Sections[i]
		for _, list := range [][]string{s.Headings, s.Terms} {
			for k := range list {
				clear(&list[k])
			}
		}
		for k := range s.Links {
			clear(&s.Links[k].To)
			clear(&s.Links[k].Text)
		}
	}
}
