package notegaps

import "testing"

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

func TestTitleOf(t *testing.T) {
	for text, want := range map[string]string{
		"No, use pnpm here. npm breaks the lockfile.": "Use pnpm here",
		"Don't force push\nat all":                    "Don't force push",
		"no":                                          "No",
		"Please, no.":                                 "No",
		"":                                            "Correction",
		"übung macht den Meister":                     "Übung macht den Meister",
	} {
		if got := titleOf(text); got != want {
			t.Errorf("%q: title %q, want %q", text, got, want)
		}
	}
}

func FuzzCorrection(f *testing.F) {
	f.Add("No, use pnpm here. npm breaks the lockfile.")
	f.Add("Please \u2028. \xff?")
	f.Fuzz(func(t *testing.T, text string) {
		isCorrection(text)
		if title := titleOf(text); title == "" || len(title) > maxTitle {
			t.Errorf("title %q", title)
		}
	})
}
