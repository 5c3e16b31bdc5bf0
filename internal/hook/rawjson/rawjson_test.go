package rawjson

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzText compares written strings with encoding/json.
func FuzzText(f *testing.F) {
	f.Add("plain")
	f.Add("\"\\/\b\f\n\r\t\x00\x1f\x7f\u2028é😀\xff")
	f.Fuzz(func(t *testing.T, s string) {
		b := AppendString(nil, s)
		var got string
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%q was written as %s: %v", s, b, err)
		}
		if want := string([]rune(s)); got != want { // each invalid byte becomes a replacement character
			t.Errorf("%q was read back as %q", s, got)
		}
		if back, ok := String(b); !ok || back != got {
			t.Errorf("%s was read as %q, want %q", b, back, got)
		}
	})
}

// FuzzString compares decoded strings, numbers and literals with encoding/json.
func FuzzString(f *testing.F) {
	for _, s := range []string{`"a"`, `"\u00e9\n\/\b\f\r\t\"\\"`, `"\ud83d\ude00 \ud83d x \ude00\ud83d"`, "\"\x01\"", "\"\xff\"", `"a\"`, `"\x"`, `"\u12"`, `"\uD83D\u0041"`, `"a"b"`,
		`0`, `-0.5e+10`, `01`, `1.`, `.5`, `-`, `1e`, `true`, `nul`, `+1`, `0x1`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var want string
		wanted := len(data) > 0 && data[0] == '"' && data[len(data)-1] == '"' && json.Unmarshal(data, &want) == nil
		if got, ok := String(data); ok != wanted || ok && got != want {
			t.Errorf("%q: %q, %v, want %q, %v", data, got, ok, want, wanted)
		}
		if bytes.ContainsAny(data, " \t\r\n\"{[") {
			return
		}
		if got, want := isScalar(data), json.Valid(data); got != want {
			t.Errorf("scalar(%q) = %v, want %v", data, got, want)
		}
	})
}
