package textfile

import "testing"

func TestText(t *testing.T) {
	const file File = `# A comment.

[one]
A {a}, a {b}, and {"json": 1}.

[lines]
# For two lines.
# Really.
First.

Second {a}.

# A comment about what follows.

[open]
{ and {a
[last]
the end`
	for _, tt := range []struct {
		name   string
		values []string
		want   string
	}{
		{"one", []string{"a", "{b}", "b", "2"}, `A {b}, a 2, and {"json": 1}.`},
		{"one", nil, `A {a}, a {b}, and {"json": 1}.`},
		{"lines", []string{"a", "line"}, "First.\n\nSecond line."},
		{"open", []string{"a", "x"}, "{ and {a"},
		{"last", nil, "the end"},
	} {
		if got := file.Text(tt.name, tt.values...); got != tt.want {
			t.Errorf("Text(%q, %q) = %q, want %q", tt.name, tt.values, got, tt.want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a text that does not exist was found")
		}
	}()
	file.Text("two")
}
