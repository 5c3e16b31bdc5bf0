package urlmatch

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// For hosts that IDNA accepts and only case and composition change, ASCIIHost is IDNA.
func TestASCIIHost(t *testing.T) {
	for _, host := range []string{
		"docs.example.com", "DOCS.Example.com", "bücher.example", "BÜCHER.Example", "bu\u0308cher.example", "münchen.de:8080",
		"例え.テスト", "пример.рф", "παράδειγμα.δοκιμή", "مثال.إختبار", "उदाहरण.परीक्षा", "straße.de", "xn--bcher-kva.example",
		"a.ü.b", "üüü.üa", "日本語ドメイン名例.jp", "😀.example", "",
	} {
		want, err := idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false), idna.ValidateLabels(false)).ToASCII(host)
		if err != nil {
			t.Fatalf("%q: %v", host, err)
		}
		if got := ASCIIHost(host); got != want {
			t.Errorf("ASCIIHost(%q) = %q, want %q", host, got, want)
		}
	}
	for host, want := range map[string]string{"\xff.example": "\xff.example", "A\xffü": "a\xffü"} {
		if got := ASCIIHost(host); !strings.EqualFold(got, want) {
			t.Errorf("ASCIIHost(%q) = %q, want %q", host, got, want)
		}
	}
}

// FuzzPunycode compares Punycode with that of package idna.
func FuzzPunycode(f *testing.F) {
	for _, label := range []string{"bücher", "例え", "a-ü", "\u0080", "\U0010ffff", "😀😀", strings.Repeat("é", 100), "\xff"} {
		f.Add(label)
	}
	f.Fuzz(func(t *testing.T, label string) {
		if isASCII(label) || !utf8.ValidString(label) || len(label) > maxHost || strings.Contains(label, ".") || strings.HasPrefix(label, "xn--") {
			return
		}
		want, err := idna.Punycode.ToASCII(label)
		if got := "xn--" + punycode(label); err == nil && got != want {
			t.Errorf("punycode(%q) = %q, want %q", label, got, want)
		}
	})
}
