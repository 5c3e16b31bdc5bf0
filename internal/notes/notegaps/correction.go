package notegaps

import (
	"slices"
	"strings"
	"unicode"
)

// findCorrections finds the calls of a turn that the user corrects: those that the user
// stopped, and the call that a correction after the turn is most likely about.
func (a *analysis) findCorrections(start, end int) {
	stopped := false
	for i := start; i < end; i++ {
		if c := &a.in.Calls[i]; c.Rejected && len(strings.Fields(c.Reply)) >= minCorrection {
			a.evidence[i] = evidence{need: Corrected, text: c.Reply}
			stopped = true
		}
	}
	reply := a.in.Calls[end-1].Reply
	if stopped || !isCorrection(reply) {
		return
	}
	said := a.termsOf(reply)
	best, most := end-1, -1
	for i := end - 1; i >= start; i-- {
		c := *a.calls[i]
		common := 0
		for t := range a.termsOf(c.Command + " " + c.Description + " " + c.Path + " " + c.Text) {
			if said[t] {
				common++
			}
		}
		if common > most {
			best, most = i, common
		}
	}
	a.evidence[best] = evidence{need: Corrected, text: reply}
}

// minCorrection is the minimum number of words of a correction.
const minCorrection = 3

// isCorrection reports whether a message of the user corrects the agent. It recognizes
// English only: a message that starts with a word such as "no" or "don't", or contains a
// phrase such as "should have" in its first sentence.
func isCorrection(message string) bool {
	sentence := firstSentence(message)
	words := wordsOf(sentence)
	if len(wordsOf(message)) < minCorrection || len(words) == 0 {
		return false
	}
	text := strings.Join(words, " ") + " "
	for _, start := range [...]string{"no problem ", "no worries ", "not bad ", "don't worry ", "no questions "} {
		if strings.HasPrefix(text, start) {
			return false
		}
	}
	if strings.HasPrefix(message[len(sentence):], "?") && words[0] != "why" {
		return false
	}
	if slices.Contains([]string{"no", "nope", "not", "never", "don't", "stop", "wrong", "undo", "revert", "incorrect"},
		words[0]) {
		return true
	}
	for _, start := range [...]string{
		"do not ", "please don't ", "please do not ", "you should ", "you shouldn't ", "you must ", "you forgot ",
		"you have to ", "we don't ",
		"we do not ", "we never ", "we always ", "always ", "that's not ", "that is not ", "that's wrong ",
		"that is wrong ", "this is wrong ", "i said ",
		"i told you ", "why did you ", "why didn't you ", "actually we ",
	} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	phrases := []string{" should have ", " shouldn't have ", " next time ", " from now on "}
	if slices.Contains([]string{"call", "please", "put", "run", "use", "we", "write"}, words[0]) { // "handle timeouts instead of ..." is a task
		phrases = append(phrases, " instead ", " rather than ")
	}
	return slices.ContainsFunc(phrases, func(phrase string) bool { return strings.Contains(" "+text, phrase) })
}

// firstSentence returns the text up to the end of its first sentence with more than one
// word.
func firstSentence(text string) string {
	words, inWord := 0, false
	for i, r := range text {
		if r == '\n' || strings.ContainsRune(".!?", r) && (i+1 == len(text) || unicode.IsSpace(rune(text[i+1]))) {
			if words > 1 {
				return text[:i]
			}
		}
		if space := unicode.IsSpace(r); space || !inWord {
			inWord = !space
			if inWord {
				words++
			}
		}
	}
	return text
}

// wordsOf returns the words of a text in lower case.
func wordsOf(text string) []string {
	text = strings.ReplaceAll(strings.ToLower(text), "’", "'")
	return strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) &&
			r != '\''
	})
}
