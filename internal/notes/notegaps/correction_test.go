package notegaps

import (
	"strings"
	"testing"
)

func TestIsCorrection(t *testing.T) {
	for message, want := range map[string]bool{
		"No, use pnpm here.":                                    true,
		"No. Use pnpm.":                                         true,
		"Don’t edit generated files":                            true,
		"That's wrong, the total is net of tax.":                true,
		"You should run make generate first.":                   true,
		"Use pnpm instead of npm.":                              true,
		"Run it in the container rather than on the host":       true,
		"Why did you delete the tests?":                         true,
		"You forgot to run make generate. Please do that.":      true,
		"from now on, ask before you push":                      true,
		"":                                                      false,
		"No.":                                                   false,
		"No problem, that's fine. Now the checkout page.":       false,
		"Don't worry about the linter.":                         false,
		"Retry with a backoff instead of failing at once.":      false,
		"Now add tests for the parser.":                         false,
		"Notes are in the wiki, read them first":                false,
		"Always green now? Then open the pull request.":         false,
		"Looks good. Next time we can do the rest of it.":       false,
		"Add a flag. It should have a default.":                 false,
		"\u2028 \xff ... ?":                                     false,
		"Stop":                                                  false,
		"Actually we deploy from the release branch, not main.": true,
	} {
		if got := isCorrection(message); got != want {
			t.Errorf("%q: %t, want %t", message, got, want)
		}
	}
}

func FuzzCorrection(f *testing.F) {
	f.Add("No, use pnpm here. npm breaks the lockfile.")
	f.Add("Please \u2028. \xff?")
	f.Fuzz(func(t *testing.T, text string) {
		if sentence := firstSentence(text); !strings.HasPrefix(text, sentence) || isCorrection(text) && len(wordsOf(sentence)) == 0 {
			t.Errorf("first sentence %q of %q", sentence, text)
		}
	})
}
