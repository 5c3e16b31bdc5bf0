package textfiletest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	const file = "# Comment.\n\n[greeting]\nHello {name}, it is {time}.\n\n[farewell]\nBye.\n"
	for _, tt := range []struct{ name, file, code, want string }{
		{"all used", file, `texts.Text("greeting", "name", n, "time", m) + texts.Text("farewell")`, ""},
		{"unused text", file, `texts.Text("farewell")`, "does not use texts greeting"},
		{"unknown text", file, `texts.Text("greeting", "name", n, "time", m) + texts.Text("farewell") + texts.Text("x")`, "no text x"},
		{"unfilled placeholder", file, `texts.Text("greeting", "name", n) + texts.Text("farewell")`, "no value for the placeholder time"},
		{"unknown placeholder", file, `texts.Text("greeting", "name", n, "time", m, "day", d) + texts.Text("farewell")`, "no placeholder day"},
		{"odd values", file, `texts.Text("greeting", "name", n, "time") + texts.Text("farewell")`, "pairs"},
		{"computed name", "# Comment.\n[a]\nb\n", `texts.Text("a") + texts.Text(n)`, "no literal"},
		{"two texts of a name", file + "[farewell]\nBye.\n", `texts.Text("greeting", "name", n, "time", m) + texts.Text("farewell")`, "two texts farewell"},
		{"line in brackets", "# Comment.\n[a]\nb\n[c d]\n", `texts.Text("a")`, "does not use texts c d"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			folder := t.TempDir()
			code := "package p\n\n//go:embed t.txt\nvar texts textfile.File\n\nvar s = " + tt.code + "\n"
			for name, text := range map[string]string{"t.txt": tt.file, "p.go": code} {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			problems, _ := check(folder)
			got := strings.Join(problems, "; ")
			if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("problems %q, want %q", got, tt.want)
			}
		})
	}
}
