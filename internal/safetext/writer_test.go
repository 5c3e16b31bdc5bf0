package safetext

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// written returns the output for a text that arrives in pieces of n bytes.
func written(t *testing.T, w *Writer, out *bytes.Buffer, text string, n int) string {
	t.Helper()
	out.Reset()
	for len(text) > 0 {
		n := min(n, len(text))
		if wrote, err := w.Write([]byte(text[:n])); err != nil || wrote != n {
			t.Fatalf("wrote %d of %d bytes: %v", wrote, n, err)
		}
		text = text[n:]
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestWriter(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out)
	bold := w.Own("\x1b[1m")
	for _, tt := range []struct{ name, text, want string }{
		{"plain", "a line\n\tand another\n", "a line\n\tand another\n"},
		{"words", "Größe 大きさ حجم", "Größe 大きさ حجم"},
		{"color", "\x1b[31mred\x1b[0m", `\u001b[31mred\u001b[0m`},
		{"title", "\x1b]0;owned\a", `\u001b]0;owned\u0007`},
		{"C1", "a\u009b2Jb\x7f", `a\u009b2Jb\u007f`},
		{"C1 as a byte", "a\x9b2Jb", "a\ufffd2Jb"},
		{"direction", "\u202egpj.exe\u2066", `\u202egpj.exe\u2066`},
		{"separators", "a\u2028b\u2029", `a\u2028b\u2029`},
		{"tags", "a\U000e0041", `a\udb40\udc41`},
		{"overwritten line", "secret\rharmless", `secret\u000dharmless`},
		{"line ends", "a\r\nb\r\n", "a\r\nb\r\n"},
		{"joined emoji", "👩\u200d💻", "👩\u200d💻"},
		{"own", bold + "a" + bold, "\x1b[1ma\x1b[1m"},
		{"own, imitated", "\x1b[1ma", `\u001b[1ma`},
		{"own, half", w.mark + "x", `\u001b` + w.mark[1:] + "x"},
		{"half a character", "a\xe2\x80", "a\ufffd\ufffd"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for n := 1; n <= len(tt.text); n++ {
				if got := written(t, w, &out, tt.text, n); got != tt.want {
					t.Errorf("in pieces of %d: %q, want %q", n, got, tt.want)
				}
			}
			if got := string(w.Clean([]byte(tt.text))); got != tt.want {
				t.Errorf("cleaned: %q, want %q", got, tt.want)
			}
		})
	}
}

// A text that has seen the output of one Writer cannot use its mark: the output has none.
func TestMarkIsSecret(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out)
	written(t, w, &out, w.Own("\x1b[1m")+"text"+w.Own("\r"), 1000)
	if strings.Contains(out.String(), w.mark) || out.String() != "\x1b[1mtext\r" {
		t.Errorf("output %q contains the mark", out.String())
	}
	if other := NewWriter(&out); other.Own("x") == w.Own("x") {
		t.Error("two writers have one mark")
	}
}

func FuzzWriter(f *testing.F) {
	for _, text := range []string{"", "\x1b[31m", "\u202e\u009b", "\xff\xe2\x80", "a\r\nb\r", "👩\u200d💻", "\U000e0041", `"\`} {
		f.Add(text, 1)
	}
	f.Fuzz(func(t *testing.T, text string, n int) {
		var out bytes.Buffer
		w := NewWriter(&out)
		w.Own("x")
		n = 1 + (n&0x7fffffff)%max(len(text), 1)
		got := written(t, w, &out, text, n)
		if whole := string(w.Clean([]byte(text))); got != whole {
			t.Errorf("in pieces of %d: %q, at once %q", n, got, whole)
		}
		var before rune
		for i, r := range got {
			crlf := r == '\r' && strings.HasPrefix(got[i:], "\r\n")
			if isHidden(r) && r != '\n' && r != '\t' && !crlf && !isVisibleJoiner(before, r) {
				t.Fatalf("%q contains %U", got, r)
			}
			before = r
		}
		// JSON remains the same value.
		data, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var back string
		if err := json.Unmarshal([]byte(written(t, w, &out, string(data), n)), &back); err != nil || back != strings.ToValidUTF8(back, "") || utf8.ValidString(text) && back != text {
			t.Errorf("%q became %q, %v", text, back, err)
		}
	})
}
