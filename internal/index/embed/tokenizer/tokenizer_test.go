package tokenizer

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const bert = `{"added_tokens": [{"id": 0, "content": "[UNK]"}],
	"normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
	"pre_tokenizer": {"type": "BertPreTokenizer"},
	"model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 10,
		"vocab": {"[UNK]": 0, "un": 1, "##happy": 2, "##hap": 3, "##py": 4, "cafe": 5, "!": 6, "中": 7, "文": 8, "$": 9, "a": 10, "##a": 11}}}`

func TestWordPiece(t *testing.T) {
	tok, err := Parse([]byte(bert))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		text string
		want []int
	}{
		{"", nil},
		{"   \t\n", nil},
		{"unhappy", []int{1, 2}},
		{"Unhap", []int{1, 3}},
		{"unhappyx", nil}, // one unknown part makes the word unknown
		{"Café!", []int{5, 6}},
		{"cafe\u0301", []int{5}},
		{"caf\u00ade un", []int{5, 1}}, // a soft hyphen is dropped
		{"中文", []int{7, 8}},
		{"un$a", []int{1, 9, 10}},
		{"a\x00a", []int{10, 11}},
		{strings.Repeat("a", 10), append([]int{10}, slices.Repeat([]int{11}, 9)...)},
		{strings.Repeat("a", 11), nil},
		{"un[UNK]un", []int{1, 1}}, // [UNK] is an added token and the unknown token
		{"\xff\xfe", nil},
	} {
		if diff := cmp.Diff(tt.want, tok.Tokens(tt.text), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", tt.text, diff)
		}
	}
}

const pieces = `{"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFKC"}, {"type": "Replace", "pattern": {"Regex": "\\s+"}, "content": " "},
		{"type": "Replace", "pattern": {"String": "~"}, "content": "ab"}, {"type": "Strip", "strip_left": true, "strip_right": true}]},
	"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
	"model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["▁", -2], ["a", -3], ["b", -3], ["ab", -4], ["▁ab", -7], ["▁a", -4.5], ["bc", -3]]}}`

func TestUnigram(t *testing.T) {
	tok, err := Parse([]byte(pieces))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		text string
		want []int
	}{
		{"", nil},
		{"ab", []int{1, 4}},  // -2 -4 is more than -7, and than -4.5 -3
		{"abc", []int{6, 7}}, // -4.5 -3
		{" a  b ", []int{6, 1, 3}},
		{"~", []int{1, 4}},
		{"ａ", []int{6}},
		{"axb", []int{6, 3}}, // x is unknown
	} {
		if diff := cmp.Diff(tt.want, tok.Tokens(tt.text), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", tt.text, diff)
		}
	}
}

// TestPrecompiled tests a trie with one entry, which replaces A by aa.
func TestPrecompiled(t *testing.T) {
	const root, leaf = 0x100, 0x200 // offsets of the children of the root and of A
	trie := make([]uint32, 0x400)
	trie[0] = root << 10
	trie[root^'A'] = 'A' | 1<<8 | (root^'A'^leaf)<<10
	trie[leaf] = 2 | 1<<31
	data := binary.LittleEndian.AppendUint32(nil, uint32(4*len(trie)))
	for _, u := range trie {
		data = binary.LittleEndian.AppendUint32(data, u)
	}
	data = append(data, "x\x00aa\x00"...)
	raw, err := json.Marshal(map[string]string{"type": "Precompiled", "precompiled_charsmap": base64.StdEncoding.EncodeToString(data)})
	if err != nil {
		t.Fatal(err)
	}
	n, err := parseNormalizer(raw)
	if err != nil {
		t.Fatal(err)
	}
	if got := n("BAÄ A"); got != "BaaÄ aa" {
		t.Errorf("%q", got)
	}
}

func FuzzTokenizer(f *testing.F) {
	f.Add([]byte(bert), "un happy 中 café [UNK]")
	f.Add([]byte(pieces), "ab abc ~ x")
	f.Add([]byte(`{"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Whitespace"}, {"type": "Punctuation"}]}, "model": {"vocab": {"[UNK]": 3}}}`), "a.b c")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		tok, err := Parse(data)
		if err != nil {
			return
		}
		for _, id := range tok.Tokens(text) {
			if id < 0 || id >= tok.Size() {
				t.Fatalf("token %d of %d", id, tok.Size())
			}
		}
	})
}
