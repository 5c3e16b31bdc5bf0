package hostile

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A database built by another user names one of the user's folders as its
// source, including ignored files. No command reads that folder.
func TestDatabaseNamesAFolderOfTheUser(t *testing.T) {
	a := newLinksAttack(t)
	private := filepath.Join(a.home, "private")
	a.write(filepath.Join(private, "a.md"), page("kettle"))
	stranger := *a.sandbox
	stranger.env = append([]string{}, a.env...)
	for _, name := range []string{"HOME", "USERPROFILE", "XDG_DATA_HOME", "LOCALAPPDATA"} {
		stranger.env = append(stranger.env, name+"="+filepath.Join(a.work, "stranger"))
	}
	idx := filepath.Join(a.work, "idx")
	a.must(stranger.run(hookLimit, "", "index", "build", private, "--out", idx, "--no-ignore"))
	// The folder gets new files after the build.
	a.write(filepath.Join(private, "secret.md"), "# "+canary+"\n\nThe passphrase of the kettle is "+canary+".\n")
	a.config(idx)
	makeOverdue(t, idx)
	for _, args := range [][]string{
		{"list"}, {"index", "info", idx}, {"index", "verify", idx}, {"search", "--db", idx, "passphrase of the kettle"},
		{"update", idx}, {"update", "--all"}, {"update", "--full", idx}, {"update", "--detached", idx},
		{"update", "--all", "--background"}, {"index", "build", idx}, {"setup", "cookware", idx, "--no-install", "--yes"}, {"doctor"},
	} {
		r := a.docsearch(args...)
		a.check(r, idx)
		if strings.Contains(r.stdout+r.stderr, "secret.md") || strings.Contains(r.stdout, "changed since") {
			t.Errorf("the folder was looked at:\n%s%s", r.stdout, r.stderr)
		}
		if t.Failed() {
			t.Fatalf("by docsearch %s", strings.Join(args, " "))
		}
	}
	a.hook(`{"session_id": "s", "hook_event_name": "SessionStart", "source": "startup", "cwd": "` + filepath.ToSlash(a.work) + `"}`)
	a.check(result{}, idx)
	// Only a user who names the folder can index it.
	a.must(a.docsearch("index", "build", private, "--out", idx))
	if r := a.docsearch("search", "--json", "--db", idx, "passphrase of the kettle"); !strings.Contains(r.stdout, canary) {
		t.Errorf("after a build of the folder, search says %s%s", r.stdout, r.stderr)
	}
}

// docsearch does not trust a manifest that was modified after the user's build,
// even with a valid checksum.
func TestManifestIsRewritten(t *testing.T) {
	a := newLinksAttack(t)
	docs := filepath.Join(a.work, "docs")
	for _, s := range pageSubjects {
		a.write(filepath.Join(docs, s+".md"), page(s))
	}
	idx := filepath.Join(a.work, "idx")
	a.must(a.docsearch("index", "build", docs, "--out", idx))
	manifest := filepath.Join(idx, "docsearch", "manifest.json")
	quoted := func(path string) string {
		text, err := json.Marshal(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	changed := strings.Replace(a.read(manifest), `"location": `+quoted(docs), `"location": `+quoted(a.victim), 1)
	if changed == a.read(manifest) {
		t.Fatal("the manifest does not name its source")
	}
	a.write(manifest, changed)
	r := a.docsearch("update", idx)
	if r.code == 0 || !strings.Contains(r.stderr, "manifest.json is corrupt") || !strings.Contains(r.stderr, "docsearch index build") {
		t.Errorf("with a changed path: %+v", r)
	}
	a.check(r, idx)
	a.write(manifest, fixChecksum(t, changed))
	r = a.docsearch("update", idx)
	if r.code == 0 || !strings.Contains(r.stderr, "cannot update") {
		t.Errorf("with a changed path and its checksum: %+v", r)
	}
	a.check(r, idx)
}

// fixChecksum updates the checksum of a manifest.
func fixChecksum(t *testing.T, manifest string) string {
	t.Helper()
	const begins, length = "{\n  \"checksum\": \"", 8
	rest, found := strings.CutPrefix(manifest, begins)
	if !found {
		return manifest // older format
	}
	body := rest[length+len("\","):]
	return begins + fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(body))) + "\"," + body
}

// makeOverdue sets the build time of a database to years ago, so that it needs
// a background update.
func makeOverdue(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, "docsearch", "manifest.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(data), `"created": "20`, `"created": "19`, 1)
	if err := os.WriteFile(path, []byte(fixChecksum(t, text)), 0o644); err != nil {
		t.Fatal(err)
	}
}
