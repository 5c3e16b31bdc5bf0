package leann

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pickles of {"0": 0, "a\u00fc": 70000, "big": 1 << 40, "w": 300},
// by CPython 3.11 in protocols 2 to 5.
var pickles = map[string]string{
	"protocol 2": "\x80\x02}q\x00(X\x01\x00\x00\x000q\x01K\x00X\x03\x00\x00\x00a\xc3\xbcq\x02Jp\x11\x01\x00X\x03\x00\x00\x00bigq\x03\x8a\x06\x00\x00\x00\x00\x00\x01X\x01\x00\x00\x00wq\x04M,\x01u.",
	"protocol 3": "\x80\x03}q\x00(X\x01\x00\x00\x000q\x01K\x00X\x03\x00\x00\x00a\xc3\xbcq\x02Jp\x11\x01\x00X\x03\x00\x00\x00bigq\x03\x8a\x06\x00\x00\x00\x00\x00\x01X\x01\x00\x00\x00wq\x04M,\x01u.",
	"protocol 4": "\x80\x04\x95+\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x010\x94K\x00\x8c\x03a\xc3\xbc\x94Jp\x11\x01\x00\x8c\x03big\x94\x8a\x06\x00\x00\x00\x00\x00\x01\x8c\x01w\x94M,\x01u.",
	"protocol 5": "\x80\x05\x95+\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x010\x94K\x00\x8c\x03a\xc3\xbc\x94Jp\x11\x01\x00\x8c\x03big\x94\x8a\x06\x00\x00\x00\x00\x00\x01\x8c\x01w\x94M,\x01u.",
}

func TestParseOffsets(t *testing.T) {
	for name, data := range pickles {
		t.Run(name, func(t *testing.T) {
			got, err := parseOffsets([]byte(data))
			want := Offsets{ByID: map[string]int64{"0": 0, "aü": 70000, "big": 1 << 40, "w": 300}}
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("error %v (-want +got)\n%s", err, diff)
			}
		})
	}
	for name, tt := range map[string]struct {
		data string
		want Offsets
	}{
		"one item":            {"\x80\x02}X\x01\x00\x00\x00aK\x07s.", Offsets{ByID: map[string]int64{"a": 7}}},
		"no item":             {"\x80\x04}\x94.", Offsets{ByID: map[string]int64{}}},
		"id from the memo":    {"\x80\x02}X\x01\x00\x00\x00aq\x05K\x07sh\x05K\x08s.", Offsets{ByID: map[string]int64{"a": 8}}},
		"integer as id":       {"\x80\x02}K\x05K\x07s.", Offsets{ByID: map[string]int64{"5": 7}}},
		"Rust":                {"0\n45\n18446744\n", Offsets{InOrder: []int64{0, 45, 18446744}}},
		"Rust, last line cut": {"0\n45", Offsets{InOrder: []int64{0, 45}}},
		"empty":               {"", Offsets{InOrder: []int64{}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseOffsets([]byte(tt.data))
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("error %v (-want +got)\n%s", err, diff)
			}
		})
	}
}

func TestParseOffsetsRejects(t *testing.T) {
	for name, data := range map[string]string{
		"a program":           "\x80\x02cos\nsystem\nX\x04\x00\x00\x00true\x85R.",
		"a list":              "\x80\x02]q\x00.",
		"a string":            "\x80\x02X\x01\x00\x00\x00a.",
		"two dictionaries":    "\x80\x02}X\x01\x00\x00\x00a}s.",
		"negative offset":     "\x80\x02}X\x01\x00\x00\x00aJ\xff\xff\xff\xffs.",
		"negative long":       "\x80\x02}X\x01\x00\x00\x00a\x8a\x01\xffs.",
		"long of 9 bytes":     "\x80\x02}X\x01\x00\x00\x00a\x8a\x09123456789s.",
		"string past the end": "\x80\x02}X\xff\xff\xff\xffa",
		"cut":                 "\x80\x02}X\x01\x00\x00\x00aK\x07s",
		"items without mark":  "\x80\x02}u.",
		"half an item":        "\x80\x02}(K\x01u.",
		"mark as dictionary":  "\x80\x02((K\x01K\x02u.",
		"memo of nothing":     "\x80\x02q\x00.",
		"recall of nothing":   "\x80\x02}h\x07.",
		"protocol 6":          "\x80\x06}.",
		"only the first byte": "\x80",
		"words":               "zero\n",
		"negative line":       "-1\n",
		"too large a line":    "9223372036854775808\n",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := parseOffsets([]byte(data)); err == nil {
				t.Errorf("read as %v", got)
			}
		})
	}
}

func TestAppendPickle(t *testing.T) {
	ids, offsets := []string{"ü\n", "x"}, []int64{0, 1 << 33}
	for i := range 2500 {
		ids, offsets = append(ids, fmt.Sprint(i)), append(offsets, int64(i)*1000)
	}
	data := appendPickle(nil, ids, offsets)
	got, err := parseOffsets(data)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{}
	for i, id := range ids {
		want[id] = offsets[i]
	}
	if diff := cmp.Diff(want, got.ByID); diff != "" {
		t.Errorf("read back (-want +got)\n%s", diff)
	}
	python := findPython(t)
	cmd := exec.Command(python, "-c", `import pickle,sys; d = pickle.load(sys.stdin.buffer); print(len(d), d["ü\n"], d["x"], d["2499"])`)
	cmd.Stdin = strings.NewReader(string(data))
	out, err := cmd.CombinedOutput()
	if want := fmt.Sprintf("%d 0 %d 2499000\n", len(ids), int64(1)<<33); err != nil || string(out) != want {
		t.Errorf("Python printed %q, %v; want %q", out, err, want)
	}
}

func findPython(t *testing.T) string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err == nil {
		err = exec.Command(python, "-c", "import json, pickle").Run()
	}
	if err != nil {
		t.Skip("skipped: no Python to read the file: ", err)
	}
	return python
}

func FuzzParseOffsets(f *testing.F) {
	for _, data := range pickles {
		f.Add([]byte(data))
	}
	f.Add([]byte("0\n12\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := parseOffsets(data)
		if err != nil {
			return
		}
		var ids []string
		var offsets []int64
		for id, offset := range o.ByID {
			ids, offsets = append(ids, id), append(offsets, offset)
		}
		again, err := parseOffsets(appendPickle(nil, ids, offsets))
		if diff := cmp.Diff(o.ByID, again.ByID); o.ByID != nil && (err != nil || diff != "") {
			t.Fatalf("written and read again: %v\n%s", err, diff)
		}
	})
}
