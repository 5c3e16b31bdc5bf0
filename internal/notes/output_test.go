package notes

import "testing"

func TestShowsFailure(t *testing.T) {
	for _, test := range []struct {
		name, command, output string
		want                  bool
	}{
		{"a missing file", "ls /nonexistent", "ls: cannot access '/nonexistent': No such file or directory\n", true},
		{"a compiler", "go build ./...", "# x/y\nmain.go:4:2: undefined: foo\n", true},
		{"an exception", "python3 manage.py migrate", "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\ndjango.db.utils.OperationalError: no such table: a\n", true},
		{"a marked error above other lines", "cargo build", "error[E0382]: borrow of moved value\n" + "a line\nb line\nc line\nd line\ne line\nf line\n", true},
		{"a launcher", "sudo kubectl apply -f x.yml", "error: the path \"x.yml\" does not exist\n", true},
		{"nothing", "true", "", false},
		{"success", "go test ./...", "ok  \tx/y\t0.01s\n", false},
		{"a word far from the end", "make", "checking whether cc can fail... cannot\n" + "one\ntwo\nthree\nfour\nfive\nsix\n", false},
		{"a file about errors", "cat errors.log", "error: disk full\n", false},
		{"a search", "cd x && rg -n error", "a.go:3: return fmt.Errorf(\"error: %w\", err)\n", false},
		{"a launched search", "sudo grep error /var/log/syslog", "error: disk full\n", false},
		{"history", "git -C x log", "fix: error: cannot open file\n", false},
	} {
		if got := ShowsFailure(test.command, test.output); got != test.want {
			t.Errorf("%s: %t, want %t", test.name, got, test.want)
		}
	}
}
