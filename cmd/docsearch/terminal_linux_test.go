package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/docsearch/docsearch/internal/humanize/terminal"
)

// openTerminal opens both ends of a pseudo-terminal with the given number of
// columns. It keeps the output at an interrupt: the kernel would discard output
// that is written between the signal and the end of its handling of Ctrl-C.
func openTerminal(t *testing.T, columns uint16) (master, tty *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminal: ", err)
	}
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: columns}); err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	termios, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	termios.Lflag |= unix.NOFLSH
	if err := unix.IoctlSetTermios(int(tty.Fd()), unix.TCSETS, termios); err != nil {
		t.Fatal(err)
	}
	return master, tty
}

// pseudoTerminal opens a pseudo-terminal with the given number of columns. read
// closes it and returns the text written to it.
func pseudoTerminal(t *testing.T, columns uint16) (tty *os.File, read func() string) {
	t.Helper()
	master, tty := openTerminal(t, columns)
	var shown bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(&shown, master) // returns an error when the terminal is closed
	}()
	return tty, func() string {
		tty.Close()
		<-done
		return strings.ReplaceAll(shown.String(), "\r\n", "\n")
	}
}

// atTerminal runs a command with a terminal as its output.
func atTerminal(t *testing.T, columns uint16, args ...string) string {
	t.Helper()
	tty, read := pseudoTerminal(t, columns)
	var stderr bytes.Buffer
	code := run(t.Context(), args, strings.NewReader(""), tty, &stderr)
	shown := read()
	if code != exitOK {
		t.Fatalf("docsearch %s: exit code %d\n%s%s", strings.Join(args, " "), code, shown, stderr.String())
	}
	return shown
}

func TestSearchAtTerminal(t *testing.T) {
	home, docs := t.TempDir(), filepath.Join(t.TempDir(), "docs")
	t.Setenv("HOME", home)
	t.Setenv("DOCSEARCH_DATA", filepath.Join(home, "data"))
	t.Setenv("DOCSEARCH_CONFIG_PATH", filepath.Join(home, "config.json"))
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	t.Setenv("PAGER", "sed s/^/paged/") // the results fit on the terminal
	if err := os.MkdirAll(docs, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(docs))
	const crank = "To frobnicate a widget, turn its crank until the bell rings, which it does after a while."
	for name, content := range map[string]string{
		"widgets.md": "# Widgets\n\n## Frobnicating\n\n" + crank + "\n",
		"metals.md":  "# Metals\n\nZirconium is \x1b[31mnot red\x1b[0m and \u202enot backwards.\n",
	} {
		if err := os.WriteFile(filepath.Join(docs, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if code := run(t.Context(), []string{"index", "build", "docs"}, nil, &out, &out); code != exitOK {
		t.Fatalf("build: %s", out.String())
	}

	question := []string{"search", "how", "do", "I", "frobnicate", "widgets"}
	for _, tt := range []struct {
		name    string
		env     map[string]string
		columns uint16
		args    []string
		want    string // regular expression
		not     string
	}{
		{name: "colors", columns: 120, args: question,
			want: `^\x1b\[1m1\. Widgets > Frobnicating\x1b\[0m\n   \x1b\[2mdocs/widgets\.md:1\x1b\[0m\n   To \x1b\[1;33mfrobnicate\x1b\[0m a \x1b\[1;33mwidget\x1b\[0m, turn .*\n$`},
		{name: "narrow", columns: 40, args: question,
			want: `turn its\n   crank until the bell rings, which it\n   does after a while\.\n$`},
		{name: "NO_COLOR", env: map[string]string{"NO_COLOR": "1"}, columns: 120, args: question,
			want: `^1\. Widgets > Frobnicating\n   docs/widgets\.md:1\n   To frobnicate a widget, turn`, not: `\x1b`},
		{name: "dumb terminal", env: map[string]string{"TERM": "dumb"}, columns: 120, args: question, want: `^1\. Widgets`, not: `\x1b`},
		{name: "JSON wanted", columns: 120, args: append([]string{"search", "--json"}, question[1:]...), want: `^\{\n  "query"`},
		{name: "no control sequences of documents", columns: 120, args: []string{"search", "zirconium"},
			want: `\x1b\[0m is \[31mnot red\[0m and not backwards\.`, not: `\x1b\[31m|\x{202e}`},
		{name: "explained", columns: 200, args: append([]string{"search", "--explain"}, question[1:]...),
			want: `relevance \d\.\d\d = confidence \d\.\d\d of docs x score .* / best score .*
   .*score \d\.\d\d = words \d\.\d\d .*static prior .*
      .*widget: words 0\.\d\d; in headings 1, page 1, .*
      .*frobnic: words 0\.\d\d; in title 1, body 2.*

.*confidence of docs: \d\.\d\d.*
   .*lexical confidence \d\.\d\d, (below|reaches) the threshold 0\.\d\d.*
   .*log odds -?\d+\.\d\d = base rate -\d\.\d\d \+ `},
		{name: "nothing relevant", columns: 120, args: []string{"search", "quasar"}, want: `^no confident answer in docs for "quasar"\n$`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, value := range tt.env {
				t.Setenv(name, value)
			}
			got := atTerminal(t, tt.columns, tt.args...)
			if !regexp.MustCompile(tt.want).MatchString(got) {
				t.Errorf("shown:\n%q\nwant a match of\n%s", got, tt.want)
			}
			if tt.not != "" && regexp.MustCompile(tt.not).MatchString(got) {
				t.Errorf("shown:\n%q\nmatches\n%s", got, tt.not)
			}
		})
	}
}

// TestPaged shows a text on a terminal of 50 lines.
func TestPaged(t *testing.T) {
	t.Setenv("TERM", "xterm")
	long, short := strings.Repeat("line\n", 50), strings.Repeat("line\n", 49)
	for _, tt := range []struct{ name, pager, text, want string }{
		{"long", "sed 's/^/paged /'", long, strings.Repeat("paged line\n", 50)},
		{"short", "sed 's/^/paged /'", short, short},
		{"no pager", "", long, long},
		{"cat", "cat", long, long},
		{"missing", filepath.Join(t.TempDir(), "missing"), long, long},
		{"left early", "head -n 1; exit 1", long, "line\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("PAGER", tt.pager)
			tty, read := pseudoTerminal(t, 80)
			err := terminal.ShowPaged(tty, io.Discard, []byte(tt.text))
			if got := read(); err != nil || got != tt.want {
				t.Errorf("%v, shown %q, want %q", err, got, tt.want)
			}
		})
	}
}
