package agentconfig

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeHook replaces docsearch. It denies web fetches with a line for the person, adds a context
// to other calls and sessions, fails for the tool "broken", and records the events.
const fakeHook = `#!/usr/bin/env node
const fs = require("fs")
const data = fs.readFileSync(0, "utf8")
fs.appendFileSync(__dirname + "/events", process.argv.slice(2).join(" ") + " " + data + "\n")
const e = JSON.parse(data)
const print = (o, systemMessage) => console.log(JSON.stringify({ hookSpecificOutput: o, systemMessage }))
if (e.tool_name === "broken") { console.log("{"); process.exit(3) }
else if (e.tool_name === "webfetch") print({ permissionDecision: "deny", permissionDecisionReason: "R" }, "M")
else if (e.hook_event_name === "PostToolUse") print({ additionalContext: "failure of " + e.tool_input.command })
else if (e.tool_name === "read" || e.hook_event_name.endsWith("Start")) print({ additionalContext: "context of " + (e.tool_name || e.hook_event_name) })
`

// pluginDriver calls the plugin as OpenCode does and prints the results.
const pluginDriver = `
const { Docsearch } = await import(process.argv[2])
const results = { toasts: [] }
const showToast = async ({ body }) => { results.toasts.push(body.message); throw new Error("no screen") }
const hooks = await Docsearch({ client: { tui: { showToast } }, directory: "/p" })
const run = async (tool, args, output) => {
  const input = { tool, sessionID: "s", callID: "call_" + tool }
  try { await hooks["tool.execute.before"](input, { args }) } catch (e) { results[tool] = "denied: " + e.message; return }
  await hooks["tool.execute.after"](input, output)
  results[tool] = output.output
}
await run("webfetch", { url: "https://a.b" }, { output: "page" })
await run("read", { filePath: "a.go" }, { output: "text" })
await run("bash", { command: "make" }, { output: "no rule", metadata: { exit: 2 } })
await run("broken", {}, { output: "ran" })
await run("mcp_tool", {}, {})
await run("cyclic", (() => { const a = {}; a.a = a; return a })(), { output: "ran" })
await hooks["tool.execute.before"]({ tool: "empty" }, undefined)
await hooks["tool.execute.after"]({ tool: "empty" }, undefined)
await hooks.event({ event: { type: "session.created", properties: { info: { id: "child", parentID: "s" } } } })
for (const session of ["s", "s", "child", undefined]) {
  const output = { system: ["base"] }
  await hooks["experimental.chat.system.transform"]({ sessionID: session }, output)
  ;(results.system ??= []).push(output.system.join(" + "))
}
await hooks.event({ event: { type: "session.compacted", properties: { sessionID: "s" } } })
await hooks.event({ event: { type: "session.deleted", properties: { info: { id: "child" } } } })
await hooks.event({ event: {} })
const mute = await Docsearch({ directory: "/p" })
await mute["tool.execute.before"]({ tool: "webfetch" }, {}).catch((e) => (results.mute = e.message))
console.log(JSON.stringify(results))
`

// runPlugin runs a driver with a plugin and a hook that replaces docsearch. It returns the
// driver's output, and the command lines and events of the hook.
func runPlugin(t *testing.T, file, driver string) (out string, events []string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil || runtime.GOOS == "windows" { // where a script is no program
		t.Skip("needs node and a Unix system")
	}
	dir := t.TempDir()
	hook := filepath.Join(dir, "hook.js")
	plugin, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(plugin, []byte(`"DOCSEARCH_PROGRAM"`)); n != 1 {
		t.Fatalf("%d placeholders for the program, want 1", n)
	}
	name, err := json.Marshal(hook)
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		hook: fakeHook, filepath.Join(dir, "driver.mjs"): driver,
		filepath.Join(dir, "plugin.mjs"): strings.NewReplacer(`"DOCSEARCH_PROGRAM"`, string(name), "timeout: 2000", "timeout: 60000").Replace(string(plugin)), // a busy machine
	} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(node, filepath.Join(dir, "driver.mjs"), filepath.Join(dir, "plugin.mjs"))
	cmd.Stderr = os.Stderr
	printed, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := os.ReadFile(filepath.Join(dir, "events"))
	if err != nil {
		t.Fatal(err)
	}
	return string(printed), strings.Split(strings.TrimSpace(string(recorded)), "\n")
}

// Only a denial may throw, because an exception denies the call.
func TestOpenCodePlugin(t *testing.T) {
	out, lines := runPlugin(t, "opencode.js", pluginDriver)
	want := `{"toasts":["M"],"webfetch":"denied: R","read":"text\n\ncontext of read","bash":"no rule\n\nfailure of make","broken":"ran","cyclic":"ran",` +
		`"system":["base + context of SessionStart","base + context of SessionStart","base + context of SubagentStart","base"],"mute":"R"}` + "\n"
	if out != want {
		t.Errorf("results %s, want %s", out, want)
	}
	for i, want := range []string{
		`hook --client opencode {"hook_event_name":"PreToolUse","session_id":"s","cwd":"/p","tool_use_id":"call_webfetch","tool_name":"webfetch","tool_input":{"url":"https://a.b"}}`,
		`hook --client opencode {"hook_event_name":"PreToolUse","session_id":"s","cwd":"/p","tool_use_id":"call_read","tool_name":"read","tool_input":{"filePath":"a.go"}}`,
		`hook --client opencode {"hook_event_name":"PreToolUse","session_id":"s","cwd":"/p","tool_use_id":"call_bash","tool_name":"bash","tool_input":{"command":"make"}}`,
		`hook --client opencode {"hook_event_name":"PostToolUse","session_id":"s","cwd":"/p","tool_use_id":"call_bash","tool_name":"bash","tool_input":{"command":"make"},"tool_response":{"exit_code":2,"output":"no rule"}}`,
		`hook --client opencode {"hook_event_name":"PreToolUse","session_id":"s","cwd":"/p","tool_use_id":"call_broken","tool_name":"broken","tool_input":{}}`,
		`hook --client opencode {"hook_event_name":"PreToolUse","session_id":"s","cwd":"/p","tool_use_id":"call_mcp_tool","tool_name":"mcp_tool","tool_input":{}}`,
		`hook --client opencode {"hook_event_name":"PreToolUse","cwd":"/p","tool_name":"empty"}`,
		`hook --client opencode {"hook_event_name":"SessionStart","session_id":"s","cwd":"/p","source":"startup"}`,
		`hook --client opencode {"hook_event_name":"SubagentStart","session_id":"child","agent_id":"child","cwd":"/p","source":"startup"}`,
		`hook --client opencode {"hook_event_name":"PostCompact","session_id":"s","cwd":"/p"}`,
		`hook --client opencode {"hook_event_name":"SessionEnd","session_id":"child","agent_id":"child","cwd":"/p"}`,
	} {
		if i >= len(lines) || lines[i] != want {
			t.Fatalf("event %d of %d: %q, want %q", i+1, len(lines), lines[min(i, len(lines)-1)], want)
		}
	}
}

// clineDriver calls the plugin as Cline does and prints the results.
const clineDriver = `
const { default: plugin } = await import(process.argv[2])
await plugin.setup({}, { workspaceInfo: { rootPath: "/p" } })
const snapshot = { conversationId: "s", agentId: "a" }
const { beforeRun, beforeTool, afterTool } = plugin.hooks
const call = (toolName, input) => ({ snapshot, toolCall: { toolCallId: "call_" + toolName, toolName }, input })
const results = []
results.push(await beforeRun({ snapshot }), await beforeRun({ snapshot }))
results.push(await beforeRun({ snapshot: { conversationId: "child", agentId: "b", parentAgentId: "a" } }))
for (const tool of ["webfetch", "read", "broken"]) results.push(await beforeTool(call(tool, { path: "a.go" })))
results.push(await afterTool({ ...call("run_commands", { command: "make" }), result: { output: [{ success: false }] } }))
results.push(await afterTool({ ...call("read", {}), result: { output: "text" } }))
results.push(await beforeTool(undefined), await beforeTool({}))
console.log(JSON.stringify(results))
`

// Only a denial skips a call.
func TestClinePlugin(t *testing.T) {
	out, events := runPlugin(t, "cline.js", clineDriver)
	want := `[{"appendContext":"context of SessionStart"},null,{"appendContext":"context of SubagentStart"},` +
		`{"skip":true,"reason":"R"},{"appendContext":"context of read"},null,{"appendContext":"failure of make"},null,null,null]` + "\n"
	if out != want {
		t.Errorf("results %s, want %s", out, want)
	}
	if diff := cmp.Diff([]string{
		`hook --client cline {"hook_event_name":"SessionStart","session_id":"s","cwd":"/p","source":"startup"}`,
		`hook --client cline {"hook_event_name":"SubagentStart","session_id":"child","agent_id":"b","cwd":"/p","source":"startup"}`,
		`hook --client cline {"hook_event_name":"PreToolUse","session_id":"s","cwd":"/p","tool_use_id":"call_webfetch","tool_name":"webfetch","tool_input":{"path":"a.go"}}`,
		`hook --client cline {"hook_event_name":"PreToolUse","session_id":"s","cwd":"/p","tool_use_id":"call_read","tool_name":"read","tool_input":{"path":"a.go"}}`,
		`hook --client cline {"hook_event_name":"PreToolUse","session_id":"s","cwd":"/p","tool_use_id":"call_broken","tool_name":"broken","tool_input":{"path":"a.go"}}`,
		`hook --client cline {"hook_event_name":"PostToolUse","session_id":"s","cwd":"/p","tool_use_id":"call_run_commands","tool_name":"run_commands","tool_input":{"command":"make"},"tool_response":[{"success":false}]}`,
	}, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// Kilo Code's plugin is that of OpenCode under other names.
func TestKiloPlugin(t *testing.T) {
	text := opencodeFile("kilo").render("/bin/docsearch")
	for _, part := range []string{"\nconst Docsearch = ", `"--client", "kilo"`, "install --client kilo", "\nexport default { id: \"docsearch\", server: Docsearch }\n"} {
		if strings.Count(text, part) != 1 {
			t.Errorf("%q is not there once:\n%s", part, text)
		}
	}
	if strings.Contains(text, "opencode") || strings.Contains(text, "export const") {
		t.Errorf("the plugin has names of OpenCode:\n%s", text)
	}
}
