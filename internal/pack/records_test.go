package pack

import (
	"bytes"
	"strings"
	"testing"
)

const goldenLines = `{"id": "first", "text": "# Réglage\n\nSet the \"gap\".", "metadata": {"title": "Gears", "headings": ["Gears","Réglage"], "url": "https://e.org/gears#r%C3%A9glage", "anchors": ["réglage","gap"], "edition": "Gears 2.1", "links": [{"to":"https://e.org/pulleys#set","text":"pulleys"},{"to":"https://e.org/"}]}}
{"id": "ad770a75421a3c2c", "text": "Oil it.", "metadata": {"title": "Gears", "headings": ["Gears","Oil"], "url": "https://e.org/gears", "path": "gears.md", "file_path": "gears.md", "start_line": 12, "end_line": 14, "terms": ["oil","grease"]}}
`

// The encoding of these lines must not change without a new version of the format, because
// readers compare the decoded lines with a digest.
const goldenEncoded = "\x01" + "#\x08\x08\x17\x16\x04\x0b\x06\x0e3+" +
	"# Réglage\n\nSet the \"gap\".\x00Oil it.\x00" +
	"first\x00\x01\x00" +
	"Gears\x00\x01\x00" +
	"0\x01Gears\x01Réglage\x00" + "1\x01Oil\x00" +
	"https://e.org/gears\x00\x01\x00" +
	"\x01\x00\x01\x00" +
	"\x01\x00gears.md\x00" +
	"\x0012\x012\x00" +
	"réglage\x01gap\x00\x00" +
	"https://e.org/pulleys#set\x01pulleys\x01https://e.org/\x01\x00\x00" +
	"edition\x01\"Gears 2.1\"\x00terms\x01[\"oil\",\"grease\"]\x00"

func TestEncodeLines(t *testing.T) {
	if got := encodeLines([]byte(goldenLines)); string(got) != goldenEncoded {
		t.Errorf("got\n%q, want\n%q", got, goldenEncoded)
	}
	line, _, _ := strings.Cut(goldenLines, "\n")
	for _, c := range []struct {
		name, lines string
		form        byte
	}{
		{"columns", goldenLines, formColumns},
		{"no newline at the end", line, formLines},
		{"a NUL in the text", strings.Replace(goldenLines, "Oil", `Oil\u0000`, 1), formLines},
		{"a separator in an anchor", strings.Replace(goldenLines, `"gap"]`, `"gap\u0001"]`, 1), formLines},
		{"an empty anchor", strings.Replace(goldenLines, `["réglage","gap"]`, `[""]`, 1), formLines},
		{"other spaces", strings.Replace(goldenLines, `"text": `, `"text":`, 1), formLines},
		{"an unknown key in links", strings.Replace(goldenLines, `"to":`, `"rel":"next","to":`, 1), formLines},
		{"an escaped letter", strings.Replace(goldenLines, "Oil it", `O\u0069l it`, 1), formLines},
		{"an empty text", strings.Replace(goldenLines, "Oil it.", "", 1), formColumns},
		{"a number as ID", strings.Replace(goldenLines, `"first"`, "7", 1), formLines},
		{"no passages", "text\n", formLines},
	} {
		encoded := encodeLines([]byte(c.lines))
		got, err := decodeLines(nil, encoded, len(c.lines))
		if err != nil || string(got) != c.lines || encoded[0] != c.form || len(encoded) > len(c.lines)+1 {
			t.Errorf("%s: form %d, want %d, %d bytes of %d, %v, lines\n%s", c.name, encoded[0], c.form, len(encoded), len(c.lines), err, got)
		}
	}
}

// Damaged or hostile chunks are errors.
func TestDecodeLinesError(t *testing.T) {
	for _, c := range []struct{ name, encoded, want string }{
		{"empty", "", "empty chunk"},
		{"another form", "\x02", "unknown form"},
		{"too long", "\x00" + goldenLines + "x", "the size differs"},
		{"too short", goldenEncoded[:1] + strings.Repeat("\x00", columnCount), "the size differs"},
		{"no lengths", "\x01\x01", "invalid length of a column"},
		{"truncated", goldenEncoded[:len(goldenEncoded)-1], "truncated column"},
		{"data after the columns", goldenEncoded + "x", "data after the last passage"},
		{"metadata that is not JSON", strings.Replace(goldenEncoded, `"Gears 2.1"`, `"Gears 2.1}`, 1), "invalid metadata"},
		{"an odd list", strings.Replace(goldenEncoded, "\x01pulleys", "-pulleys", 1), "invalid list"},
		{"more shared headings than there are", strings.Replace(goldenEncoded, "0\x01Gears", "9\x01Gears", 1), "invalid headings"},
		{"a title that repeats", repeatedTitle(10_000), "the size differs"},
	} {
		got, err := decodeLines(nil, []byte(c.encoded), len(goldenLines))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s; %d bytes", c.name, err, c.want, len(got))
		}
	}
}

// repeatedTitle returns a chunk with n passages that derive a long title.
func repeatedTitle(n int) string {
	lines := strings.Repeat(`{"id": "1", "text": "x", "metadata": {"title": "`+strings.Repeat("t", 2000)+`"}}`+"\n", n)
	return string(encodeLines([]byte(lines)))
}

func FuzzLines(f *testing.F) {
	f.Add([]byte(goldenLines))
	f.Add([]byte(goldenEncoded))
	f.Fuzz(func(t *testing.T, data []byte) {
		encoded := encodeLines(data)
		if got, err := decodeLines(nil, encoded, len(data)); err != nil || !bytes.Equal(got, data) || len(encoded) > len(data)+1 {
			t.Fatalf("%v: %q became %q", err, data, got)
		}
		for _, size := range []int{0, len(goldenLines)} {
			if got, err := decodeLines(nil, data, size); err == nil && len(got) != size {
				t.Fatalf("%d bytes, want %d", len(got), size)
			}
		}
	})
}

func BenchmarkDecodeLines(b *testing.B) {
	encoded := encodeLines([]byte(strings.Repeat(goldenLines, 40)))
	var buffer []byte
	b.SetBytes(int64(40 * len(goldenLines)))
	for b.Loop() {
		var err error
		if buffer, err = decodeLines(buffer[:0], encoded, 40*len(goldenLines)); err != nil {
			b.Fatal(err)
		}
	}
}
