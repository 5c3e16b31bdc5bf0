package passage

import "testing"

// Names of release notes, and of features that are called so.
func TestNamesReleaseNotes(t *testing.T) {
	for name, want := range map[string][2]bool{
		"changelog": {true, false}, "changelog-2": {true, false}, "whatsnew": {true, false}, "release-notes": {true, false},
		"release-notes-3.2": {true, false}, "release_v2": {true, false}, "release-16": {true, false}, "release-1.2-beta": {true, false},
		"releases": {false, true}, "news": {false, true}, "release-notes-generator": {false, false},
		"release-2-things": {false, false}, "release-process": {false, false}, "history": {false, false}, "": {false, false},
	} {
		if got := [2]bool{NamesReleaseNotes(name), MayNameReleaseNotes(name)}; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
