package shell

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommands(t *testing.T) {
	for _, test := range []struct {
		line string
		want []string
	}{
		{"", nil},
		{"kubectl get pods", []string{"kubectl get pods"}},
		{"A=1 B=2 make -j2 all", []string{"make -j2 all"}},
		{"A=1", nil},
		{"a; b && c || d | e &", []string{"a", "b", "c", "d", "e"}},
		{`echo "kubectl; x" '$(y)' # z`, []string{`echo "kubectl; x" '$(y)'`}},
		{"cat > f <<'EOF'\nkubectl\nEOF", []string{"cat > f <<'EOF'"}},
		{"cat <<EOF | jq .\n{}\nEOF", []string{"cat <<EOF", "jq ."}},
		{"echo $(a | b) `c`", []string{"echo $(a | b) `c`", "a", "b", "c"}},
		{"if a; then b; fi; for x in 1 2; do c $x; done; f() { d; }; (e; g)", []string{"a", "b", "c $x", "d", "e", "g"}},
		{"! time a", []string{"a"}},
		{"diff <(a) <(b)", []string{"diff <(a) <(b)", "a", "b"}},
		{"2>/dev/null ls", []string{"ls"}},
		{"ls 2>/dev/null -l", []string{"ls 2>/dev/null -l"}},
	} {
		got, err := Commands(test.line)
		if err != nil {
			t.Errorf("%q: %v", test.line, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.line, diff)
		}
	}
	for _, line := range []string{"if", "echo 'x", "a ((", strings.Repeat("$(", maxDepth+1)} {
		if got, err := Commands(line); err == nil {
			t.Errorf("%.20q: %q, want an error", line, got)
		}
	}
}

func FuzzCommands(f *testing.F) {
	f.Add("a && b | $(c) <<EOF\nx\nEOF\n")
	f.Add("f() { 2>&1 a; }; `b`")
	f.Fuzz(func(t *testing.T, line string) {
		commands, err := Commands(line)
		if err != nil {
			return
		}
		for _, c := range commands {
			if !strings.Contains(line, c) {
				t.Errorf("%q is not in %q", c, line)
			}
		}
	})
}
