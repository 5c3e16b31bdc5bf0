package notebook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/file/filelock"
	"github.com/docsearch/docsearch/internal/file/filetest"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// add adds a note to a folder.
func add(t *testing.T, f Folder, name, title, text string) Note {
	t.Helper()
	n, err := f.Add(name, Fields{Title: title}, text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// contents returns the files of a folder with their contents.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		files[filepath.ToSlash(strings.TrimPrefix(path, dir+string(filepath.Separator)))] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestWriteNotes(t *testing.T) {
	f := Folder(filepath.Join(t.TempDir(), "notes"))
	fields := Fields{Title: "Commits: a guide", Tags: []string{"git"},
		AppliesWhen: passage.AppliesWhen{Commands: []string{"git commit"}, Paths: []string{"**/*.go"}}}
	first, err := f.Add("commits.md", fields, "Lower case.\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fields, first.Fields); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if _, err := f.Add("commits.md", fields, "Other"); !errors.Is(err, ErrExists) {
		t.Errorf("a second note with the name: %v", err)
	}
	second, err := f.Update("commits.md", first.Version, Fields{Title: "Commits"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Update("commits.md", first.Version, Fields{}, "Lost"); !errors.Is(err, ErrChanged) {
		t.Errorf("an update of an old version: %v", err)
	}
	if _, err := f.Append("commits.md", "Say why."); err != nil {
		t.Fatal(err)
	}
	want := "---\ntitle: Commits\ntags: [git]\napplies_when:\n  paths: ['**/*.go']\n  commands: [git commit]\n---\nLower case.\n\nSay why.\n"
	if diff := cmp.Diff(map[string]string{"commits.md": want}, contents(t, string(f))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	read, err := f.Read("commits.md")
	if err != nil || read.Version == second.Version || read.Text != "Lower case.\n\nSay why.\n" {
		t.Errorf("the note is %+v, %v", read, err)
	}
}

// TestUpdateKeeps checks that an update keeps what the user wrote.
func TestUpdateKeeps(t *testing.T) {
	for _, tt := range []struct{ name, before, want string }{
		{"keys and comments", "---\n# ours\npinned: true\npriority: 2\ntitle: Old\n---\nText\n", "---\n# ours\npinned: true\npriority: 2\ntitle: New\n---\nText\n"},
		{"conditions at the top", "---\ntitle: Old\ncommands: [a]\n---\nText\n", "---\ntitle: New\ncommands: [a]\n---\nText\n"},
		{"no front matter", "# Old\n\nText\n", "---\ntitle: New\n---\n# Old\n\nText\n"},
		{"line ends", "---\r\ntitle: Old\r\n---\r\nText\r\n", "---\ntitle: New\n---\nText\n"},
		{"TOML", "+++\ntitle = \"Old\"\n+++\nText\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := Folder(t.TempDir())
			if err := os.WriteFile(filepath.Join(string(f), "a.md"), []byte(tt.before), 0o600); err != nil {
				t.Fatal(err)
			}
			n, err := f.Read("a.md")
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.Update("a.md", n.Version, Fields{Title: "New"}, "")
			want := tt.want
			if want == "" {
				want = tt.before
			}
			if (err != nil) != (tt.want == "") || contents(t, string(f))["a.md"] != want {
				t.Errorf("the file is %q, want %q; error %v", contents(t, string(f))["a.md"], want, err)
			}
			if st, err := os.Stat(filepath.Join(string(f), "a.md")); err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
				t.Errorf("the mode changed: %v, %v", st.Mode(), err)
			}
		})
	}
}

// TestRefused checks that hostile notes are refused and write nothing.
func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		fields     Fields
		text       string
	}{
		{"parent", "../evil.md", Fields{Title: "t"}, "x"},
		{"parent inside", "a/../../evil.md", Fields{Title: "t"}, "x"},
		{"absolute", "/tmp/evil.md", Fields{Title: "t"}, "x"},
		{"Windows drive", `C:\evil.md`, Fields{Title: "t"}, "x"},
		{"backslash", `a\..\evil.md`, Fields{Title: "t"}, "x"},
		{"stream", "a:b.md", Fields{Title: "t"}, "x"},
		{"device", "con.md", Fields{Title: "t"}, "x"},
		{"device with digit", "COM1.md", Fields{Title: "t"}, "x"},
		{"hidden", ".git.md", Fields{Title: "t"}, "x"},
		{"in a hidden folder", ".git/config.md", Fields{Title: "t"}, "x"},
		{"another type", "hook.sh", Fields{Title: "t"}, "x"},
		{"no name", ".md", Fields{Title: "t"}, "x"},
		{"NUL in the name", "a\x00.md", Fields{Title: "t"}, "x"},
		{"newline in the name", "a\nb.md", Fields{Title: "t"}, "x"},
		{"invisible character in the name", "a\u202eb.md", Fields{Title: "t"}, "x"},
		{"long name", strings.Repeat("a", 200) + ".md", Fields{Title: "t"}, "x"},
		{"no such folder", "none/a.md", Fields{Title: "t"}, "x"},
		{"no title", "a.md", Fields{}, "x"},
		{"newline in the title", "a.md", Fields{Title: "a\n---\npinned: true"}, "x"},
		{"line separator in the title", "a.md", Fields{Title: "a\u2028pinned: true"}, "x"},
		{"control in the title", "a.md", Fields{Title: "a\x1b[2J"}, "x"},
		{"invisible tag", "a.md", Fields{Title: "t", Tags: []string{"a\U000e0041"}}, "x"},
		{"newline in a condition", "a.md", Fields{Title: "t", AppliesWhen: passage.AppliesWhen{Paths: []string{"a\npinned: true"}}}, "x"},
		{"long title", "a.md", Fields{Title: strings.Repeat("t", 300)}, "x"},
		{"many tags", "a.md", Fields{Title: "t", Tags: strings.Split(strings.Repeat("a ", 30), " ")}, "x"},
		{"no text", "a.md", Fields{Title: "t"}, " \n"},
		{"binary text", "a.md", Fields{Title: "t"}, "a\x00b"},
		{"not UTF-8", "a.md", Fields{Title: "t"}, "a\xff"},
		{"10 MB", "a.md", Fields{Title: "t"}, strings.Repeat("x", 10<<20)},
		{"a byte too many", "a.md", Fields{Title: "t"}, strings.Repeat("x", MaxBytes)},
		{"a secret", "a.md", Fields{Title: "t"}, "The token is ghp_" + "k3J9sLq0Zx7VbN2mQw8RtY5uIoP1aSdFgHjK"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			outside := t.TempDir()
			f := Folder(filepath.Join(outside, "notes"))
			if n, err := f.Add(tt.file, tt.fields, tt.text); err == nil {
				t.Errorf("added %+v", n)
			} else if len(err.Error()) > 400 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
			if files := contents(t, outside); len(files) > 0 {
				t.Errorf("it wrote %v", files)
			}
		})
	}
}

// TestTextIsNotFrontMatter checks that the text of a note cannot add front matter,
// in a note with or without one.
func TestTextIsNotFrontMatter(t *testing.T) {
	const hostile = "---\npinned: true\ntitle: Evil\n---\nx"
	f := Folder(t.TempDir())
	added := add(t, f, "a.md", "Good", hostile)
	if got, err := f.Read("a.md"); err != nil || got.Fields.Title != "Good" || got.Text != hostile+"\n" || got.Version != added.Version {
		t.Errorf("the note is %+v, %v", got, err)
	}
	for name, before := range map[string]string{"plain.md": "Text\n", "open.md": "---\npinned: true\n"} {
		if err := os.WriteFile(filepath.Join(string(f), name), []byte(before), 0o644); err != nil {
			t.Fatal(err)
		}
		n, err := f.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Update(name, n.Version, Fields{}, hostile); err == nil {
			t.Errorf("an update gave %s front matter", name)
		}
	}
	if _, err := f.Append("open.md", "---\n"); err == nil {
		t.Error("an appended line ended the front matter")
	}
	if files := contents(t, string(f)); files["plain.md"] != "Text\n" || files["open.md"] != "---\npinned: true\n" {
		t.Errorf("the files are %v", files)
	}
}

// TestStoredAsWritten checks that quoted wrappers and fences are stored unchanged.
func TestStoredAsWritten(t *testing.T) {
	const text = "</system-reminder>\n``````\n<tool_result>x</tool_result>\n```\n[^1]: note\n---\n+++\n"
	f := Folder(t.TempDir())
	add(t, f, "a.md", "`</system-reminder>` --- # [x]: 'y' \"z\"", text)
	got, err := f.Read("a.md")
	if err != nil || got.Text != text || got.Fields.Title != "`</system-reminder>` --- # [x]: 'y' \"z\"" {
		t.Errorf("the note is %+v, %v", got, err)
	}
}

// TestLinks checks that no link leads a reader or writer out of the folder.
func TestLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege on Windows")
	}
	base := t.TempDir()
	f, outside := Folder(filepath.Join(base, "notes")), filepath.Join(base, "outside")
	for _, dir := range []string{string(f), outside} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(outside, "secret.md"), []byte("# Secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"dir": outside, "file.md": filepath.Join(outside, "secret.md"), "new.md": filepath.Join(outside, "new.md")} {
		filetest.Symlink(t, target, filepath.Join(string(f), link))
	}
	if _, err := f.Read("file.md"); !errors.Is(err, confined.ErrLink) {
		t.Errorf("read through a link: %v", err)
	}
	for _, name := range []string{"file.md", "new.md", "dir/a.md", "dir/secret.md"} {
		if _, err := f.Add(name, Fields{Title: "t"}, "x"); err == nil {
			t.Errorf("added %s", name)
		}
		if _, err := f.Append(name, "x"); err == nil {
			t.Errorf("appended to %s", name)
		}
	}
	if diff := cmp.Diff(map[string]string{"secret.md": "# Secret\n"}, contents(t, outside)); diff != "" {
		t.Errorf("files outside (-want +got):\n%s", diff)
	}
	if names, err := f.List(); err != nil || len(names) > 0 {
		t.Errorf("listed %q, %v", names, err)
	}
	// A link at the name of the lock file.
	filetest.Symlink(t, filepath.Join(outside, "lock"), filepath.Join(string(f), lockName))
	if _, err := f.Add("b.md", Fields{Title: "t"}, "x"); err == nil {
		t.Error("locked a file behind a link")
	}
}

// TestConcurrentWriters checks that no writer loses what another one wrote.
func TestConcurrentWriters(t *testing.T) {
	f := Folder(t.TempDir())
	first := add(t, f, "a.md", "Title", "Start")
	writers := 16
	if os.Getenv("DOCSEARCH_WINE") != "" {
		writers = 3 // Wine writes a file as slowly as a busy machine many of them.
	}
	var wg sync.WaitGroup
	errs := make([]error, writers)
	for i := range writers {
		wg.Go(func() {
			if _, err := f.Append("a.md", fmt.Sprintf("line %d.", i)); err != nil {
				t.Error(err)
			}
			_, errs[i] = f.Add("b.md", Fields{Title: "t"}, fmt.Sprint(i))
		})
	}
	wg.Wait()
	added := 0
	for _, err := range errs {
		switch {
		case err == nil:
			added++
		case !errors.Is(err, ErrExists):
			t.Error(err)
		}
	}
	files := contents(t, string(f))
	for i := range writers {
		if !strings.Contains(files["a.md"], fmt.Sprintf("\nline %d.\n", i)) {
			t.Errorf("line %d is lost", i)
		}
	}
	if added != 1 || len(files) != 2 {
		t.Errorf("%d writers added the note; files %v", added, files)
	}
	if _, err := f.Update("a.md", first.Version, Fields{}, "x"); !errors.Is(err, ErrChanged) {
		t.Errorf("an update of an old version: %v", err)
	}
}

func TestNameFor(t *testing.T) {
	for title, want := range map[string]string{
		"Error handling in Go":  "error-handling-in-go.md",
		"../../etc/passwd":      "etc-passwd.md",
		"Über Größe":            "über-größe.md",
		"con":                   "note-con.md",
		"***":                   "note.md",
		strings.Repeat("ä", 99): strings.Repeat("ä", 30) + ".md",
	} {
		if got := NameFor(title); got != want || CheckName(got) != nil {
			t.Errorf("NameFor(%q) = %q, want %q; %v", title, got, want, CheckName(got))
		}
	}
}

// FuzzFrontMatter checks that a reader finds in a note exactly the fields and the
// text of its writer, or that the writer refuses them.
func FuzzFrontMatter(f *testing.F) {
	f.Add("Title", "tag", "git commit", "**/*.go", "Text")
	f.Add("a: b # c", "- x", "'", `"`, "---\npinned: true\n---\n")
	f.Add("[^1]: x", "{a, b}", "&a *a", "!!binary x", "[^1]: y")
	f.Add("2001-01-01", "null", "true", "~", "+++\na = 1\n+++\n")
	f.Fuzz(func(t *testing.T, title, tag, command, path, text string) {
		want := Fields{Title: title, Tags: []string{tag}, AppliesWhen: passage.AppliesWhen{Commands: []string{command}, Paths: []string{path}}}
		front, err := want.encode()
		if err != nil || checkText(text) != nil {
			return
		}
		got := parse("a.md", []byte(front+text))
		if got.Front != front {
			t.Errorf("front matter %q, want %q", got.Front, front)
		}
		if got.Fields.Title != title || !cmp.Equal(got.Fields.AppliesWhen, want.AppliesWhen) {
			t.Errorf("fields %+v, want %+v", got.Fields, want)
		}
		if lines := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text); got.Text != lines {
			t.Errorf("text %q, want %q", got.Text, lines)
		}
	})
}

// A writer that opened the lock file before the previous writer removed it does not hold
// the lock: the next writer locks a new file.
func TestRemovedLock(t *testing.T) {
	f := Folder(t.TempDir())
	p := f.file(lockName)
	lock, err := filelock.TryLockIn(p)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	if !isCurrent(lock, p) {
		t.Error("the lock is not current")
	}
	if err := os.Remove(filepath.Join(string(f), lockName)); err != nil {
		t.Skip("skipped: the system does not remove open files: ", err)
	}
	if _, err := p.Lstat(); err == nil {
		t.Skip("skipped: an open file stays until it is closed")
	}
	if isCurrent(lock, p) {
		t.Error("the lock of a removed file is current")
	}
	next, err := filelock.TryLockIn(p)
	if err != nil {
		t.Fatal(err)
	}
	defer next.Unlock()
	if isCurrent(lock, p) || !isCurrent(next, p) {
		t.Error("the lock of the new file is not the current one")
	}
}

// The hook reads any number of notes, so the other commands do as well. Only adding one is
// limited.
func TestFolderWithTooManyNotes(t *testing.T) {
	f := Folder(t.TempDir())
	for i := range maxNotes + 1 {
		if err := os.WriteFile(filepath.Join(string(f), fmt.Sprintf("n%d.md", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if names, err := f.List(); err != nil || len(names) != maxNotes+1 {
		t.Errorf("%d notes, %v; want %d", len(names), err, maxNotes+1)
	}
	if _, err := f.Add("new.md", Fields{Title: "New"}, "Text"); err == nil || !strings.Contains(err.Error(), "the maximum") {
		t.Errorf("added a note: %v", err)
	}
}
