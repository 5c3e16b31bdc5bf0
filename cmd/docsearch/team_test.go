package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// The commands of "Try it on one machine" in docs/team.md work as they are written, except
// for the port.
func TestTeamPage(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a Unix shell")
	}
	_, section, _ := strings.Cut(pages(t)["team.md"], "## Try it on one machine\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var script strings.Builder
	for block, isCode := range codeBlocks(section) {
		if isCode {
			script.WriteString(block)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	dir := t.TempDir()
	cmd := exec.Command("bash", "-e", "-c", strings.ReplaceAll(script.String(), "127.0.0.1:7373", address))
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + filepath.Join(dir, "home"), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir}
	cmd.WaitDelay = 10 * time.Second // the server ends
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	text := string(out)
	for _, want := range []string{
		"127.0.0.1 has 1 database:\n  handbook: Team handbook (keywords: handbook",
		"is sent to 127.0.0.1 with",
		`"permissionDecision":"deny"`, "Found in your team's documentation (Team handbook)",
		`(database \"handbook\" on 127.0.0.1)`,
		"deployctl rotate --signing-certificate",
		"revoked amy",
		"database handbook skipped: http://" + address + " does not accept the token",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if n := strings.Count(text, `"permissionDecision":"deny"`); n != 1 {
		t.Errorf("%d denials in\n%s", n, text)
	}
	token, err := os.ReadFile(filepath.Join(dir, "amy.token"))
	if err != nil || strings.Contains(text, strings.TrimSpace(string(token))) {
		t.Errorf("the token is in the output, %v", err)
	}
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Base(path) == "amy.token" {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), strings.TrimSpace(string(token))) {
			t.Errorf("the token is in %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// The command lines in the deployment files have the flags of the program.
func TestDeploymentFiles(t *testing.T) {
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join("..", "..", "deploy", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for _, setting := range []string{"UMask=0077", "StateDirectoryMode=0700", "CacheDirectoryMode=0700", "LogsDirectoryMode=0700", "ProtectProc=invisible"} {
		if !slices.Contains(strings.Split(read("docsearch.service"), "\n"), setting) {
			t.Errorf("docsearch.service lacks %s", setting)
		}
	}
	unit := regexp.MustCompile(`(?s)ExecStart=\S+/docsearch (.*?[^\\])\n`).FindStringSubmatch(read("docsearch.service"))
	if unit == nil {
		t.Fatal("the unit has no command")
	}
	checkCommandLine(t, "docsearch.service", strings.ReplaceAll(unit[1], "\\\n", ""))
	var compose struct {
		Services map[string]struct{ Command []string }
	}
	if err := yaml.Unmarshal([]byte(read("compose.yaml")), &compose); err != nil {
		t.Fatal(err)
	}
	checkCommandLine(t, "compose.yaml", strings.Join(compose.Services["docsearch"].Command, " "))
	commands := 0
	for document := range strings.SplitSeq(read("kubernetes.yaml"), "\n---\n") {
		var object struct {
			Kind string
			Spec struct {
				Template struct {
					Spec struct {
						Containers []struct{ Args []string }
					}
				}
			}
		}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil || object.Kind == "" {
			t.Fatal(fmt.Errorf("%w: %s", err, document))
		}
		for _, c := range object.Spec.Template.Spec.Containers {
			commands++
			checkCommandLine(t, "kubernetes.yaml", strings.Join(c.Args, " "))
		}
	}
	if commands != 1 || len(compose.Services["docsearch"].Command) == 0 {
		t.Errorf("%d commands in kubernetes.yaml", commands)
	}
}
