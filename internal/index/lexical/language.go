package lexical

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Languages are recognized by their script or, in Latin script, by their function words. The
// names are for messages, the order is that of LanguageCounts.
const (
	inEnglish = iota
	inGerman
	inFrench
	inSpanish
	inPortuguese
	inItalian
	inPolish
	latinLanguages // number of languages with function words
)

// LanguageCounts counts the evidence for the languages of texts. The zero value has none.
type LanguageCounts struct {
	words                      int // of any script
	function                   [latinLanguages]int
	han, kana, hangul, russian int // words, which East Asian scripts do not separate
}

const (
	// leastFunctionWords is the number of function words from which a text has a language, and
	// leastFunctionShare their least share of its words. Prose has a third, names of an API have
	// some by chance.
	leastFunctionWords = 2
	leastFunctionShare = .03
	// leastScriptShare is the share of words in another script from which a text has its
	// language. In documentation many words are names of commands and options in Latin script.
	leastScriptShare = .2
	// leastKanaShare is the share of Kana by which Japanese differs from Chinese.
	leastKanaShare = .1
	// lettersPerWord is the mean length of words in Chinese and Japanese.
	lettersPerWord = 2
)

// Add counts the words of a text in Markdown, except in code.
func (c *LanguageCounts) Add(text string) {
	for i, part := range strings.Split(text, "```") {
		if i%2 == 1 {
			continue
		}
		for j, prose := range strings.Split(part, "`") {
			if j%2 == 0 {
				c.addProse(prose)
			}
		}
	}
}

func (c *LanguageCounts) addProse(text string) {
	for word := range strings.FieldsSeq(text) {
		if len(word) > 1 && word[0] == '-' {
			continue // an option
		}
		word = strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) })
		if c.addScript(word) || word == "" ||
			strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' }) {
			continue // punctuation, or a name with punctuation inside
		}
		c.words++
		if utf8.RuneCountInString(word) > maxFunctionWord || len(word) > 1 && word == strings.ToUpper(word) {
			continue // too long, or a name such as DES
		}
		for set := functionWord(strings.ToLower(word)); set != 0; set &= set - 1 {
			c.function[bits.TrailingZeros8(set)]++
		}
	}
}

// addScript counts a word that has letters of a script other than Latin, and reports whether it
// has.
func (c *LanguageCounts) addScript(word string) bool {
	han, kana, hangul, cyrillic := 0, 0, 0, 0
	for _, r := range word {
		switch {
		case r < '\u0400':
		case r < '\u0530':
			cyrillic = 1
		case unicode.Is(unicode.Han, r):
			han++
		case '\u3041' <= r && r <= '\u30ff':
			kana++
		case unicode.Is(unicode.Hangul, r):
			hangul = 1
		}
	}
	if han+kana+hangul+cyrillic == 0 {
		return false
	}
	c.han += han
	c.kana += kana
	c.hangul += hangul
	c.russian += cyrillic
	c.words += (han+kana+lettersPerWord-1)/lettersPerWord + hangul + cyrillic
	return true
}

// Language returns the English name of the language that most of the counted words are in, or ""
// if it is not one of those known.
func (c *LanguageCounts) Language() string {
	east := c.han + c.kana
	reaches := func(n int, share float64) bool { return n > 0 && float64(n) >= share*float64(c.words) }
	switch {
	case reaches(east/lettersPerWord, leastScriptShare) && float64(c.kana) >= leastKanaShare*float64(east):
		return "Japanese"
	case reaches(east/lettersPerWord, leastScriptShare):
		return "Chinese"
	case reaches(c.hangul, leastScriptShare):
		return "Korean"
	case reaches(c.russian, leastScriptShare):
		return "Russian"
	}
	best := inEnglish
	for l, n := range c.function {
		if n > c.function[best] {
			best = l
		}
	}
	if c.function[best] < leastFunctionWords || !reaches(c.function[best], leastFunctionShare) {
		return ""
	}
	switch best {
	case inGerman:
		return "German"
	case inFrench:
		return "French"
	case inSpanish:
		return "Spanish"
	case inPortuguese:
		return "Portuguese"
	case inItalian:
		return "Italian"
	case inPolish:
		return "Polish"
	}
	return English
}

// English is the language that the confidence in an answer is calibrated for.
const English = "English"

// LanguageOf returns the language of a text as LanguageCounts does.
func LanguageOf(text string) string {
	var c LanguageCounts
	c.Add(text)
	return c.Language()
}

// IsForeign reports whether a query is in another language than English. A query has few function
// words: a single one shows it if the query also has words that are unknown in English.
func IsForeign(query string, unknown int) bool {
	var c LanguageCounts
	c.Add(query)
	language := c.Language()
	if language != "" || unknown == 0 || c.function[inEnglish] > 0 {
		return language != "" && language != English
	}
	return slices.Max(c.function[:]) > 0
}

// maxFunctionWord is the number of letters of the longest function words.
const maxFunctionWord = 7

// functionWord returns the set of languages that have a function word, one bit for each. Words of
// one letter are left out, because they are names of options and variables, and so are words
// that also are names of commands ("man").
func functionWord(w string) uint8 {
	const (
		en = 1 << inEnglish
		de = 1 << inGerman
		fr = 1 << inFrench
		es = 1 << inSpanish
		pt = 1 << inPortuguese
		it = 1 << inItalian
		pl = 1 << inPolish
	)
	switch w {
	case "the", "of", "and", "is", "that", "for", "with", "this", "be", "are", "not", "by", "from", "it", "you", "can",
		"will", "which", "how", "what", "when", "your", "if", "has", "have", "at", "but", "its", "into":
		return en
	case "in":
		return en | de | it
	case "on":
		return en | fr
	case "per", "non":
		return en | it
	case "to":
		return en | pl
	case "as", "do":
		return en | pt
	case "no":
		return en | es | pt
	case "an", "was":
		return en | de
	case "der", "und", "ist", "nicht", "ein", "eine", "einen", "einer", "dem", "mit", "für", "von", "zu", "auf", "sich",
		"auch", "wird", "werden", "im", "wenn", "oder", "sie", "kann", "wie", "bei", "als", "aus", "nach", "zum", "zur",
		"über", "durch", "sind", "kein", "keine":
		return de
	case "die", "den":
		return de
	case "das":
		return de | pt
	case "des":
		return de | fr
	case "es":
		return de | es
	case "les", "est", "une", "dans", "pour", "qui", "sur", "par", "pas", "vous", "cette", "sont", "du", "au", "ou",
		"avec", "ne", "si", "aux", "être", "peut", "et", "ces", "sans", "entre":
		return fr
	case "le":
		return fr | it
	case "la":
		return fr | es | it
	case "un":
		return fr | es | it
	case "de":
		return fr | es | pt
	case "que":
		return fr | es | pt
	case "el", "los", "las", "en", "del", "este", "más", "su", "puede", "cómo", "también", "cuando", "sin", "qué",
		"hay":
		return es
	case "una", "con", "al":
		return es | it
	case "para", "por", "como", "se", "ser", "sobre":
		return es | pt
	case "os", "em", "um", "uma", "é", "com", "não", "da", "na", "ao", "dos", "mais", "são", "pode", "você", "seu",
		"sua", "pelo", "pela":
		return pt
	case "il", "lo", "gli", "di", "che", "della", "dei", "nel", "più", "sono", "questo", "può", "alla", "delle", "come",
		"è":
		return it
	case "nie", "jest", "że", "jak", "dla", "przez", "lub", "są", "ten", "może", "przy", "się", "jako", "które", "aby",
		"oraz", "tym":
		return pl
	}
	return 0
}
