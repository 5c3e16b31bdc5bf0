package lexical

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// stemmedEndings are the endings that the English stemmer removes or replaces.
var stemmedEndings = strings.Fields("s es ies ied sses us ss ed edly ing ingly eed eedly y e l ll i li ly " +
	"tional ational enci ency anci ancy abli ably entli ently izer ization ation ator alism aliti ality alli ally " +
	"fulness fulli fully ousli ously ousness iveness iviti ivity biliti bility bli logi logy lessli lessly " +
	"alize icate iciti icity ical ful ness ative al ance ence er ic able ible ant ement ment ent ism ate iti ity ous ive ize ion sion tion at bl iz")

// randomWord returns a word of random letters with up to three endings.
func randomWord(rng *rand.Rand, letters string) string {
	b := []byte{letters[rng.IntN(len(letters))]}
	for range rng.IntN(7) {
		b = append(b, letters[rng.IntN(len(letters))])
	}
	for range rng.IntN(4) {
		b = append(b, stemmedEndings[rng.IntN(len(stemmedEndings))]...)
	}
	return string(b)
}

func TestUnchangedByStemmer(t *testing.T) {
	a, err := NewAnalyzer("english")
	if err != nil {
		t.Fatal(err)
	}
	check := func(word string) {
		if stem := a.stemOf(word); stem != "" && !bytes.HasPrefix([]byte(word), unchangedByStemmer([]byte(stem))) {
			t.Errorf("the stem of %q is %q", word, stem)
		}
	}
	for _, word := range strings.Fields("skis skies dying lying tying idly gently ugly early only singly sky news " +
		"howe atlas cosmos bias andes inning outing canning herring earring proceed exceed succeed") {
		check(word)
	}
	for x := range 26 * 26 * 26 { // all words of up to three letters, alone and with each ending
		var b []byte
		for n := x; n > 0 || len(b) == 0; n /= 26 {
			b = append(b, byte('a'+n%26))
		}
		check(string(b))
		for _, ending := range stemmedEndings {
			check(string(b) + ending)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		check(randomWord(rng, "abcdefghijklmnopqrstuvwxyz"))
	}
}

// TestNearestWordReference compares with a search that looks up each edit.
func TestNearestWordReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	corrected := 0
	for n := range 24 {
		letters := []string{"abey", "aegilnrsty", "abcdefghijklmnopqrstuvwxyz"}[n%3]
		words := make([]string, 5<<(n%8))
		for i := range words {
			words[i] = randomWord(rng, letters)
		}
		fields := make([]Fields, 6)
		for i := range fields {
			for range len(words) / 2 {
				fields[i].Body += words[rng.IntN(len(words))] + " "
			}
		}
		x := build(t, make([]uint32, len(fields)), fields)
		for range 60 {
			word := []byte(words[rng.IntN(len(words))])
			at := rng.IntN(len(word))
			switch rng.IntN(4) {
			case 0:
				word[at] = letters[rng.IntN(len(letters))]
			case 1:
				word = append(word[:at], word[at+1:]...)
			case 2:
				word = append(word[:at], append([]byte{letters[rng.IntN(len(letters))]}, word[at:]...)...)
			case 3:
				if at+1 < len(word) {
					word[at], word[at+1] = word[at+1], word[at]
				}
			}
			if !isCorrectable(string(word)) {
				continue
			}
			got, err := x.nearestWord(string(word))
			if err != nil {
				t.Fatal(err)
			}
			if want := nearestReference(t, x, string(word)); got != want {
				t.Fatalf("index %d: %q is corrected to %q, want %q", n, word, got, want)
			}
			if got != "" {
				corrected++
			}
		}
	}
	if corrected < 100 {
		t.Errorf("%d corrections", corrected)
	}
}

// nearestReference is nearestWord without a selection of edits.
func nearestReference(t *testing.T, x *Index, word string) string {
	t.Helper()
	best, frequency := "", minCorrection-1
	try := func(candidate string) {
		term := x.analyzer.stemOf(candidate)
		if term == "" {
			return
		}
		l, found, err := x.postingList(term)
		if err != nil {
			t.Fatal(err)
		}
		if found && l.passageFrequency > frequency {
			best, frequency = candidate, l.passageFrequency
		}
	}
	for i := 1; i+1 < len(word); i++ {
		try(word[:i] + word[i+1:i+2] + word[i:i+1] + word[i+2:])
	}
	if best != "" {
		return best
	}
	for i := 1; i <= len(word); i++ {
		if i < len(word) {
			try(word[:i] + word[i+1:])
		}
		for c := 'a'; c <= 'z'; c++ {
			if i < len(word) {
				try(word[:i] + string(c) + word[i+1:])
			}
			try(word[:i] + string(c) + word[i:])
		}
	}
	return best
}

// BenchmarkNearestWord corrects words of out-of-domain queries in a small index.
func BenchmarkNearestWord(b *testing.B) {
	x := manual(b)
	words := strings.Fields("kubernetes recipe vacation streem weather fodler docker espresso restaurant sprained")
	for b.Loop() {
		for _, w := range words {
			if _, err := x.nearestWord(w); err != nil {
				b.Fatal(err)
			}
		}
	}
}
