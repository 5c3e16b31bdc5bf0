//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// Versions of the tools that check a bundle and an entry of the MCP registry.
const (
	bundleToolVersion = "2.1.2"
	registryModule    = "github.com/modelcontextprotocol/registry@v1.8.8"
)

// buildBundle writes a bundle with the program of this system, as a release does, and
// returns its path and that of the entry in the MCP registry.
func buildBundle(t *testing.T) (bundle, server string) {
	t.Helper()
	dist := t.TempDir()
	folder := filepath.Join(dist, "build_"+runtime.GOOS+"_"+runtime.GOARCH+"_v1", "bin")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, filepath.Base(program(t))), []byte(read(t, program(t))), 0o755); err != nil {
		t.Fatal(err)
	}
	bundle, server = filepath.Join(dist, "docsearch_1.2.3.mcpb"), filepath.Join(dist, "server.json")
	cmd := exec.CommandContext(t.Context(), "go", "run", "./test/release/bundle", bundle, server, dist, "1.2.3", "1700000000")
	cmd.Dir = root(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("bundle: %v\n%s", err, out)
	}
	return bundle, server
}

// The tool of the bundle format accepts the bundle, and a server that is started as the
// manifest requires searches the user's databases.
func TestBundle(t *testing.T) {
	tools := npm(t, "@anthropic-ai/mcpb", bundleToolVersion)
	node := npm(t, "node", nodeVersion)
	bundle, _ := buildBundle(t)
	folder := t.TempDir()
	for _, args := range [][]string{{"unpack", bundle, folder}, {"validate", folder}} {
		if stdout, stderr, code := runNode(t, node, filepath.Join(tools, "mcpb"), args...); code != 0 {
			t.Fatalf("mcpb %q: exit code %d\n%s%s", args, code, stdout, stderr)
		}
	}
	library := filepath.Join(tools, "..", "@anthropic-ai", "mcpb", "dist", "index.js")
	stdout, stderr, code := runNode(t, node, filepath.Join(root(t), "test", "e2e", "testdata", "config.mjs"), folder, library)
	var config struct {
		Command string
		Args    []string
	}
	if err := json.Unmarshal([]byte(stdout), &config); code != 0 || err != nil {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, stdout, stderr)
	}
	if !strings.HasPrefix(config.Command, folder) {
		t.Fatalf("the application runs %s, want a program in the bundle", config.Command)
	}

	s := &session{home: t.TempDir(), project: t.TempDir()}
	s.env = []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH")}
	s.database(t)
	server, err := mcpclient.NewStdioMCPClient(config.Command, s.env, config.Args...)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if _, err := server.Initialize(t.Context(), mcp.InitializeRequest{}); err != nil {
		t.Fatal(err)
	}
	list, err := server.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal([]byte(read(t, filepath.Join(folder, "manifest.json"))), &manifest); err != nil {
		t.Fatal(err)
	}
	var named, offered []string
	for _, tool := range manifest.Tools {
		named = append(named, tool.Name)
	}
	for _, tool := range list.Tools {
		offered = append(offered, tool.Name)
	}
	slices.Sort(named)
	slices.Sort(offered)
	if !slices.Equal(named, offered) {
		t.Errorf("the manifest names the tools %q, the server offers %q", named, offered)
	}
	search := mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "search", Arguments: map[string]any{"query": question}}}
	result, err := server.CallTool(t.Context(), search)
	if err != nil || result.IsError || len(result.Content) == 0 {
		t.Fatalf("search: %v, %v", err, result)
	}
	if text, ok := mcp.AsTextContent(result.Content[0]); !ok || !strings.Contains(text.Text, sentence) {
		t.Errorf("search returned %v", result.Content[0])
	}
}

// The MCP registry's own validators accept the entry, and find the problems of a wrong one.
func TestRegistryEntry(t *testing.T) {
	_, path := buildBundle(t)
	entry := read(t, path)
	validate := registryValidator(t)
	if problems := validate(entry); problems != "" {
		t.Errorf("the registry finds problems in\n%s\n%s", entry, problems)
	}
	wrong := strings.ReplaceAll(entry, `"stdio"`, `"pipe"`)
	if problems := validate(wrong); !strings.Contains(problems, "unsupported transport type: pipe") {
		t.Errorf("the registry finds in a wrong entry: %q", problems)
	}
	// The registry compares this field of the npm package to the entry.
	var server, manifest struct {
		Name    string
		MCPName string
	}
	if err := json.Unmarshal([]byte(entry), &server); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("skipped: node not found, so the npm package cannot be compared")
	}
	folders := buildPackages(t, "1.2.3")
	if err := json.Unmarshal([]byte(read(t, filepath.Join(folders[0], "package.json"))), &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.Name != "docsearch-cli" || manifest.MCPName != server.Name {
		t.Errorf("the npm package %s has the name %q, the entry %q", manifest.Name, manifest.MCPName, server.Name)
	}
}

// registryValidator returns a function that checks an entry with the validators of the
// registry. They are internal, so it compiles them in a copy of their module.
func registryValidator(t *testing.T) func(entry string) (problems string) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", registryModule)
	cmd.Dir = dir
	out, err := cmd.Output()
	var module struct{ Dir, Error string }
	if err := errors.Join(err, json.Unmarshal(out, &module)); err != nil {
		t.Skipf("skipped: cannot download %s: %v %s", registryModule, err, module.Error)
	}
	for _, part := range []string{"internal", "pkg"} {
		if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join(module.Dir, part))); err != nil {
			t.Fatal(err)
		}
	}
	s := &session{}
	for name, source := range map[string]string{
		"go.mod":               filepath.Join(module.Dir, "go.mod"),
		"go.sum":               filepath.Join(module.Dir, "go.sum"),
		"cmd/validate/main.go": filepath.Join(root(t), "test", "e2e", "testdata", "validate.go"),
	} {
		s.write(t, filepath.Join(dir, filepath.FromSlash(name)), read(t, source))
	}
	validator := filepath.Join(dir, "validate")
	cmd = exec.CommandContext(t.Context(), "go", "build", "-o", validator, "./cmd/validate")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cannot compile the validators: %v\n%s", err, out)
	}
	return func(entry string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), validator)
		cmd.Stdin = strings.NewReader(entry)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
}
