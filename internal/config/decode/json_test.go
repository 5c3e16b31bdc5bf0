package decode

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestCheckJSON(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`{"a": [1, 2]}`, ""},
		{"", "1:1: empty file"},
		{" \n\t\n", "1:1: empty file"},
		{"{\n  \"a\": 1,\n}\n", `2:9: trailing comma before '}'`},
		{"[1,\n 2 , \n ]", `2:4: trailing comma before ']'`},
		{"// a\n{}", "1:1: JSON does not allow comments"},
		{"{ /* a */ }", "1:3: JSON does not allow comments"},
		{"{\n  \"ü\": 1 // a\n}", "2:10: JSON does not allow comments"},
		{"{\n  # a\n}", "2:3: JSON does not allow comments"},
		{"{'a': 1}", "1:2: single quote; JSON requires double quotes"},
		{"{\"a\": 1} x", "1:10: unexpected text after the value"},
		{"{}{}", "1:3: unexpected text after the value"},
		{"{\"a\": [1, 2}", "1:12: unexpected '}' after array element"},
		{"{\"a\" 1}", "1:6: unexpected '1' after object key"},
		{"{\"a\": tru}", "1:10: unexpected '}' in literal true (expecting 'e')"},
		{"{\"a\": 1", "1:8: unexpected end of file: a closing bracket, brace, or quote is missing"},
		{"{\"a\": \"b\n\"}", "1:9: unterminated string: a closing quote is missing"},
		{"{\"a\" = 1}", "1:6: unexpected '=' after object key"},
		{"{a: 1}", "1:2: unexpected 'a' looking for beginning of object key string"},
	} {
		got := ""
		if err := CheckJSON([]byte(test.text)); err != nil {
			got = fmt.Sprintf("%d:%d: %s", err.Line, err.Column, err.Reason)
		}
		if got != test.want {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
}

func FuzzCheckJSON(f *testing.F) {
	for _, text := range []string{"", "{", "{\"a\": 1,}", "// a", "{'", "[1 2]", "\xff", "{}\x00", "\"a\n\""} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := CheckJSON(data)
		if (err == nil) != json.Valid(data) {
			t.Fatalf("%q: %v, valid: %v", data, err, json.Valid(data))
		}
		if err != nil && (err.Line < 1 || err.Column < 1 || err.Line > 1+strings.Count(string(data), "\n") || err.Reason == "") {
			t.Errorf("%q: %+v", data, err)
		}
	})
}
