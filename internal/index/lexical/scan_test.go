package lexical

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// shown formats tokens with kind, text and position: w for words, p for parts, e for exact
// names, c for compounds, g for grams.
func shown(text string) string {
	var out []string
	scan(text, 0, func(t token) {
		out = append(out, string("wpecg"[t.kind])+":"+text[t.start:t.end]+"@"+strconv.Itoa(t.position))
	})
	return strings.Join(out, " ")
}

func TestScan(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"two words", "w:two@0 w:words@1"},
		{"getUserName", "w:getUserName@0 p:get@0 p:User@1 p:Name@2"},
		{"HTTPServer x", "w:HTTPServer@0 p:HTTP@0 p:Server@1 w:x@2"},
		{"utf8Decode", "w:utf8Decode@0 p:utf8@0 p:Decode@1"},
		{"max_path_length", "w:max@0 w:path@1 w:length@2 e:max_path_length@0"},
		{"__init__", "w:init@0 e:__init__@0"},
		{"___", ""},
		{"os.path.join", "w:os@0 w:path@1 w:join@2 c:os.path.join@0"},
		{"std::vector", "w:std@0 w:vector@1 c:std::vector@0"},
		{"p->next.", "w:p@0 w:next@1 c:p->next@0"},
		{"a/b-c:d", "w:a@0 w:b@1 w:c@2 w:d@3"},
		{"x/os.path", "w:x@0 w:os@1 w:path@2 c:os.path@1"},
		{"e.g. i.e.", "w:e@0 w:g@1 w:i@2 w:e@3"},
		{"3.11 and 1.2.3", "w:3@0 w:11@1 c:3.11@0 w:and@2 w:1@3 w:2@4 w:3@5"},
		{"don't, don’t", "w:don@0 w:t@1 w:don@2 w:t@3"},
		{"--no-rerank", "w:no@0 w:rerank@1 e:--no-rerank@0"},
		{"tar -x [-v] `-f`", "w:tar@0 w:x@1 e:-x@1 w:v@2 e:-v@2 w:f@3 e:-f@3"},
		{"--depth=3", "w:depth@0 e:--depth@0 w:3@1"},
		{"a--b -1 - c", "w:a@0 w:b@1 w:1@2 w:c@3"},
		{"c++ c# .net .gitignore", "w:c@0 e:c++@0 w:c@1 e:c#@1 w:net@2 e:.net@2 w:gitignore@3 e:.gitignore@3"},
		{"end.Next. E0308", "w:end@0 w:Next@1 c:end.Next@0 w:E0308@2"},
		{"über naïve", "w:über@0 w:naïve@1"},
		{"日本語 文", "g:日本@0 g:本語@1 g:文@2"},
		{"Go言語の本", "w:Go@0 g:言語@1 g:語の@2 g:の本@3"},
		{"한국어", "g:한국@0 g:국어@1"},
		{"\xff\xfe ok\xff", "w:ok@0"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, shown(tt.text)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{"os.path.join(a_b, --c-d=e)", "getHTTPName 日本語 c++ don’t .x", "a\xff_\u0301b", "한국어 ไทย"} {
		f.Add(s)
	}
	analyzers := make([]*Analyzer, len(languages))
	for i, language := range languages {
		analyzers[i], _ = NewAnalyzer(language)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = text[:min(len(text), 500)]
		last := 0
		after := scan(text, 5, func(tok token) {
			if tok.start < 0 || tok.start >= tok.end || tok.end > len(text) {
				t.Fatalf("token %+v of %d bytes", tok, len(text))
			}
			if s := text[tok.start:tok.end]; !utf8.ValidString(s) {
				t.Fatalf("token %q is cut within a character", s)
			}
			if tok.position < 5 {
				t.Fatalf("token %+v is before its text", tok)
			}
			last = max(last, tok.position)
			for _, a := range analyzers {
				if term := a.term(tok.kind, text[tok.start:tok.end]); len(term) > 2*maxTerm || strings.ContainsAny(term, " \n") {
					t.Fatalf("term %q", term)
				}
			}
		})
		if last >= after && after > 5 {
			t.Fatalf("a token is at %d, but scan returned %d as free", last, after)
		}
	})
}

var languages = []string{"english", "german", "french", "spanish", "portuguese", "italian", "russian", "none"}

func TestTerms(t *testing.T) {
	for _, tt := range []struct{ language, text, want string }{
		{"english", "The connections are retried with connectRetry", "connect retri connectretri connect retri"},
		{"english", "café CAFÉ cafe\u0301 ｃａｆｅ", "cafe cafe cafe cafe"},
		{"english", "ﬁle naïve Ærø", "file naiv aero"},
		{"english", "os.path.join", "os path join"},
		{"german", "Die Häuser und das Haus, größere Straßen", "haus haus gross strass"},
		{"french", "les fenêtres de l'écran", "fenetr ecran"},
		{"spanish", "las configuraciones de la conexión", "configur conexion"},
		{"portuguese", "as configurações do servidor", "configur servidor"},
		{"russian", "Ёлка и ёлки, installing серверов", "елк елк instal сервер"},
		{"english", "Настройка серверов и servers", "настройк сервер server"},
		{"italian", "i permessi dei file nelle cartelle", "permess fil cartell"},
		{"german", "die Dateien файлами", "datei файл"},
		{"none", "The Connections", "the connections"},
		{"none", "файлами и", "файлами и"},
		{"english", "データベース", "デー ータ タベ ベー ース"},
		{"english", strings.Repeat("x", maxTerm+1) + " ok", "ok"},
	} {
		t.Run(tt.language+"/"+tt.text, func(t *testing.T) {
			a, err := NewAnalyzer(tt.language)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(a.Terms(tt.text), " "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if _, err := NewAnalyzer("klingon"); err == nil {
		t.Error("an unknown language has an analyzer")
	}
}

func TestExactTerm(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"std::Vector", "=std.vector"}, {"p->next", "=p.next"}, {"os.path", "=os.path"}, {"--No-Rerank", "=--no-rerank"}, {"c++", "=c++"},
		{strings.Repeat("y", maxTerm), ""},
	} {
		if got := exactTerm(exactMark, tt.text); got != tt.want {
			t.Errorf("exactTerm(%q) is %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestFold checks folding of combining marks, and the result of strip.
func TestFold(t *testing.T) {
	for _, tt := range []struct{ word, folded, stripped string }{
		{"Cafe\u0301", "café", "cafe"},
		{"o\u0302\u0323", "ộ", "o"}, // in the wrong order, too
		{"ư\u0301", "ứ", "u"},
		{"ǖ", "ǖ", "u"},
		{"Й", "й", "й"},
		{"и\u0306", "й", "й"}, // a letter of its own in Cyrillic
		{"Ё", "ё", "е"},
		{"ᾅ", "ᾅ", "α"},
		{"q\u0301", "q", "q"}, // Unicode has no such letter
		{"\u0301a", "a", "a"},
		{"ש\u05c1", "ש\u05c1", "ש\u05c1"}, // not an accent
		{"שָ", "ש", "ש"},
		{"آ", "آ", "آ"},
		{"ا\u0653", "ا", "ا"},
		{"क़", "क़", "क़"}, // the dot makes another consonant
		{"が", "が", "が"},
	} {
		folded := fold(nil, tt.word)
		if string(folded) != tt.folded {
			t.Errorf("fold(%q) is %q, want %q", tt.word, folded, tt.folded)
		}
		if got := string(strip(nil, string(folded))); got != tt.stripped {
			t.Errorf("strip(%q) is %q, want %q", folded, got, tt.stripped)
		}
		text := "“A – ©” " + tt.word
		if got, want := Fold(text), "“a – ©” "+tt.stripped; got != want {
			t.Errorf("Fold(%q) is %q, want %q", text, got, want)
		}
	}
}
