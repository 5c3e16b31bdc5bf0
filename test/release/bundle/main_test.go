package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A bundle contains the programs that dist has, its manifest names their platforms, and
// two bundles of the same programs have the same bytes.
func TestNewBundle(t *testing.T) {
	dist := t.TempDir()
	for _, name := range []string{
		"unix_linux_amd64_v1/bin/docsearch", "unix_linux_arm64_v8.0/bin/docsearch", "windows_windows_amd64_v1/bin/docsearch.exe",
		"windows_windows_arm64_v8.0/bin/docsearch.exe", // not in the bundle
	} {
		path := filepath.Join(dist, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir("../../..") // of LICENSE
	modified := time.Unix(1_700_000_000, 0).UTC()
	data, err := newBundle(dist, "1.2.3", modified)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := newBundle(dist, "1.2.3", modified); err != nil || !bytes.Equal(data, again) {
		t.Errorf("the second bundle differs, %v", err)
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range archive.File {
		names = append(names, file.Name)
		if executable := file.Mode()&0o111 != 0; executable != strings.HasPrefix(file.Name, "server/") || !file.Modified.Equal(modified) {
			t.Errorf("%s has the mode %v and the date %v", file.Name, file.Mode(), file.Modified)
		}
	}
	want := []string{"manifest.json", "LICENSE", "server/docsearch", "server/docsearch.exe", "server/docsearch-Linux-x86_64", "server/docsearch-Linux-aarch64"}
	if !slices.Equal(names, want) {
		t.Errorf("the bundle contains %q, want %q", names, want)
	}
	file, err := archive.Open("manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var filled struct {
		Version       string
		Compatibility struct{ Platforms []string }
	}
	content, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &filled); err != nil {
		t.Fatal(err)
	}
	if filled.Version != "1.2.3" || !slices.Equal(filled.Compatibility.Platforms, []string{"win32", "linux"}) {
		t.Errorf("the manifest is %s", content)
	}
	if _, err := newBundle(t.TempDir(), "1.2.3", modified); err == nil || !strings.Contains(err.Error(), "no program found") {
		t.Errorf("a bundle without a program: %v", err)
	}
}

func TestNewServer(t *testing.T) {
	data, err := newServer("1.2.3", "docsearch_1.2.3.mcpb", sha256.Sum256(nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"name": "io.`, `"version": "1.2.3"`, `/releases/download/v1.2.3/docsearch_1.2.3.mcpb"`,
		`"fileSha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"`, `"identifier": "docsearch-cli"`,
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the entry lacks %s:\n%s", want, data)
		}
	}
}
