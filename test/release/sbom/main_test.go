package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The bill of materials of the test binary lists its modules.
func TestRun(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	output := filepath.Join(t.TempDir(), "sbom.json")
	if err := run([]string{output, binary, "1.2.3"}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	if d.Format != "CycloneDX" || !strings.HasPrefix(d.Metadata.Component.PURL, "pkg:golang/") || !strings.HasSuffix(d.Metadata.Component.PURL, "@v1.2.3") {
		t.Errorf("got %+v", d)
	}
	if len(d.Components) == 0 || d.Components[0].Name != "std" || d.Components[0].Version == "" {
		t.Errorf("components %+v, want std first", d.Components)
	}
}

func TestRunRejects(t *testing.T) {
	for _, args := range [][]string{{}, {"a", "b"}, {"a", "main_test.go", "1.0.0"}} {
		if err := run(args); err == nil {
			t.Errorf("run(%q) succeeded", args)
		}
	}
}
