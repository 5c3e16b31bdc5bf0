package document

import (
	"strings"
	"testing"

	"golang.org/x/net/html/charset"
)

func TestLegacyEncodings(t *testing.T) {
	for _, tt := range []struct{ encoding, text string }{
		{"windows-1252", "Der Kessel faßt für drei Gäste – genug. Déjà vu?"},
		{"windows-1251", "Чайник закипает, когда вода достигает ста градусов. Не открывайте крышку."},
		{"koi8-r", "Чайник закипает, когда вода достигает ста градусов. Не открывайте крышку."},
		{"shift_jis", "やかんに水を入れて、スイッチを押してください。お湯が沸きます。"},
		{"euc-jp", "やかんに水を入れて、スイッチを押してください。お湯が沸きます。"},
		{"iso-2022-jp", "やかんに水を入れて、スイッチを押してください。"},
		{"euc-kr", "주전자에 물을 넣고 스위치를 누르십시오. 물이 끓습니다."},
		{"gbk", "在水壶中加入水,然后按下开关。水壶是用来烧水的,不要打开盖子。"},
		{"big5", "在水壺中加入水,然後按下開關。水壺是用來燒水的,不要打開蓋子。"},
		{"iso-8859-2", "coding: latin2\nZažltý kôň: příliš žluťoučký"},
	} {
		e, _ := charset.Lookup(tt.encoding)
		text := "# Kettle\n\n" + tt.text + "\n"
		data, err := e.NewEncoder().Bytes([]byte(text))
		if err != nil {
			t.Fatal(tt.encoding, err)
		}
		got, err := DecodeText(data)
		if err != nil || string(got) != text {
			t.Errorf("%s: %v %q", tt.encoding, err, got)
		}
	}
	for in, want := range map[string]string{
		strings.Repeat("é", 10) + "\xff": strings.Repeat("é", 10) + "\ufffd", // damaged UTF-8
		"a\x01\xff":                      "binary",
		"\x8f text \x9d text":            "text in an unknown encoding",
		"caf\xe9":                        "café",
		"coding: nonsense\ncaf\xe9":      "coding: nonsense\ncafé",
	} {
		got, err := DecodeText([]byte(in))
		if err != nil {
			got = []byte(err.Error())
		}
		if string(got) != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzLegacyEncodings(f *testing.F) {
	f.Add([]byte("coding: shift_jis\n\x82\xa0"))
	f.Add([]byte("caf\xe9"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if text, err := DecodeText(data); err == nil && strings.ToValidUTF8(string(text), "") != string(text) {
			t.Errorf("%q is not UTF-8", text)
		}
	})
}
