package document

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// encodeUTF16 encodes a text in UTF-16 with a byte order mark.
func encodeUTF16(order binary.AppendByteOrder, text string) string {
	b := order.AppendUint16(nil, 0xfeff)
	for _, unit := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

func FuzzFromUTF16(f *testing.F) {
	f.Add([]byte(encodeUTF16(binary.LittleEndian, "a😀b")))
	f.Add([]byte(encodeUTF16(binary.BigEndian, "a😀b")))
	f.Add([]byte("\xff\xfe\x3d\xd8"))
	f.Add([]byte("\xfe\xff\xdc\x00\xd8\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got := FromUTF16(data)
		var units []uint16
		for i := 2; i+1 < len(data); i += 2 {
			if data[0] == 0xff {
				units = append(units, binary.LittleEndian.Uint16(data[i:]))
			} else {
				units = append(units, binary.BigEndian.Uint16(data[i:]))
			}
		}
		switch {
		case !strings.HasPrefix(string(data), "\xff\xfe") && !strings.HasPrefix(string(data), "\xfe\xff"):
			if string(got) != string(data) {
				t.Error("changed what is not UTF-16")
			}
		case string(got) != string(utf16.Decode(units)) || !utf8.Valid(got):
			t.Errorf("%x is %q, want %q", data, got, string(utf16.Decode(units)))
		}
	})
}
