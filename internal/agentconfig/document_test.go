package agentconfig

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/file/inplace"
)

const program = "/opt/tools/docsearch"

var userServer = testClaudeServer()

func testClaudeServer() serverEntry { return (&Claude{Server: "docsearch"}).server(User) }

// layouts are settings files by their layout, as people and programs write them.
var layouts = map[string]string{
	"empty file":                       "",
	"blank file":                       "\n\n",
	"empty object":                     "{}",
	"spread object":                    "{\n}\n",
	"two spaces":                       "{\n  \"model\": \"opus\",\n  \"env\": {\n    \"A\": \"1\"\n  }\n}\n",
	"no final newline":                 "{\n  \"model\": \"opus\"\n}",
	"four spaces":                      "{\n    \"model\": \"opus\"\n}\n",
	"tabs":                             "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"Stop\": []\n\t}\n}\n",
	"crlf":                             "{\r\n  \"model\": \"opus\"\r\n}\r\n",
	"byte order mark":                  "\ufeff{\n  \"model\": \"opus\"\n}\n",
	"compact":                          `{"model":"opus","env":{"A":"1"}}`,
	"compact spaced":                   `{ "model": "opus", "env": { "A": "1" } }`,
	"one member":                       `{"model": "opus"}`,
	"no indentation":                   "{\n\"model\": \"opus\"\n}\n",
	"closing bracket on the last line": "{\n  \"model\": \"opus\"}",
	"comments": `// my settings
{
  "model": "opus", // the good one
  /* hooks
     follow */
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          { "type": "command", "command": "check.sh" } // mine
        ] // the end
      }
      // more to come
    ]
  } // no comma
}
`,
	"comment in an empty list": "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      // nothing yet\n    ]\n  }\n}\n",
	"line comment on one line": "{\"model\": \"opus\" // x\n}\n",
	"trailing commas":          "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [],},\n    ],\n  },\n}\n",
	"blanks before commas":     "{\n  \"model\": \"opus\" ,\n  \"env\": {} \n}\n",
	"others' hooks": `{
  "permissions": {
    "allow": ["WebSearch", "Bash(ls *)"]
  },
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          {
            "type": "command",
            "command": "/usr/bin/true"
          }
        ]
      }
    ],
    "Stop": [
      { "hooks": [ { "type": "command", "command": "say done" } ] }
    ]
  },
  "statusLine": {"type": "command", "command": "~/.claude/line.sh"}
}
`,
	"a list on one line":  "{\n  \"hooks\": {\n    \"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": []}]\n  }\n}\n",
	"lists on two lines":  "{\n  \"hooks\": { \"PreToolUse\": [\n    {\"matcher\": \"Bash\", \"hooks\": []}\n  ] }\n}\n",
	"unusual names":       "{\n  \"\\u0068ooks\": {\"Stop\": []},\n  \"k\\\"ey\": [1, 2.50, 1e400, null, true],\n  \"ключ\": \"значение \\ud83d\\ude00\"\n}\n",
	"a name twice":        "{\n  \"hooks\": {\"Stop\": []},\n  \"hooks\": {\"Stop\": []}\n}\n",
	"servers":             "{\n  \"mcpServers\": {\n    \"leann\": {\n      \"command\": \"leann_mcp\"\n    }\n  }\n}\n",
	"empty mcpServers":    "{\n  \"mcpServers\": {},\n  \"numStartups\": 4\n}\n",
	"empty hooks":         "{\n  \"hooks\": {}\n}\n",
	"hooks without lists": "{\n  \"hooks\": {\n    \"PreToolUse\": []\n  }\n}\n",
}

func TestEditsTouchNothingElse(t *testing.T) {
	for name, before := range layouts {
		t.Run(name, func(t *testing.T) {
			after := edited(t, before, install)
			again := edited(t, after, install)
			if diff := cmp.Diff(after, again); diff != "" {
				t.Errorf("a second install changes something (-first +second):\n%s", diff)
			}
			if gone := missing(before, after); len(gone) > 0 {
				t.Errorf("install lost %q; the file is now\n%s", gone, after)
			}
			back := edited(t, after, uninstall)
			if got, want := valueOf(t, pruned(t, back)), valueOf(t, pruned(t, before)); !reflect.DeepEqual(got, want) {
				t.Errorf("uninstall left %v, want %v", got, want)
			}
			if exactly := !strings.Contains(name, "empty") && name != "blank file" && name != "spread object" && name != "hooks without lists"; exactly && back != before {
				t.Errorf("uninstall did not bring the bytes back (-before +after):\n%s", cmp.Diff(before, back))
			}
		})
	}
}

func TestInstalledEntries(t *testing.T) {
	got := edited(t, "{\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{}\n\t\t]\n\t}\n}\n", install)
	want := `{
	"hooks": {
		"PreToolUse": [
			{},
			{
				"matcher": "WebSearch|WebFetch",
				"hooks": [
					{
						"type": "command",
						"command": "trap 'exit 0' EXIT; /opt/tools/docsearch hook",
						"timeout": 10,
						"statusMessage": "Searching local documentation"
					}
				]
			},
			{
				"matcher": "Bash|Edit|MultiEdit|NotebookEdit|Write",
				"hooks": [
					{
						"type": "command",
						"command": "trap 'exit 0' EXIT; /opt/tools/docsearch hook",
						"timeout": 10
					}
				]
			},
			{
				"matcher": "ReadMcpResourceTool",
				"hooks": [
					{
						"type": "command",
						"command": "trap 'exit 0' EXIT; /opt/tools/docsearch hook",
						"timeout": 10
					}
				]
			},
			{
				"matcher": "mcp__.*",
				"hooks": [
					{
						"type": "command",
						"command": "trap 'exit 0' EXIT; /opt/tools/docsearch hook",
						"timeout": 10
					}
				]
			}
		],
		"SessionStart": [
			{
				"hooks": [
					{
						"type": "command",
						"command": "trap 'exit 0' EXIT; /opt/tools/docsearch hook",
						"timeout": 10
					}
				]
			}
		],
		"SubagentStart": [
			{
				"hooks": [
					{
						"type": "command",
						"command": "trap 'exit 0' EXIT; /opt/tools/docsearch hook",
						"timeout": 10
					}
				]
			}
		],
		"PostToolUseFailure": [
			{
				"matcher": "Bash",
				"hooks": [
					{
						"type": "command",
						"command": "trap 'exit 0' EXIT; /opt/tools/docsearch hook",
						"timeout": 10
					}
				]
			}
		]
	},
	"mcpServers": {
		"docsearch": {
			"type": "stdio",
			"command": "/opt/tools/docsearch",
			"args": [
				"serve"
			],
			"alwaysLoad": true
		}
	}
}
`
	want = strings.ReplaceAll(want, "trap 'exit 0' EXIT; /opt/tools/docsearch hook", HookCommand(User, program))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	compact := edited(t, `{"a":1}`, install)
	if strings.ContainsAny(compact, "\n ") && !strings.HasPrefix(compact, `{"a":1,"hooks":{"PreToolUse":[{"matcher":"WebSearch|WebFetch",`) {
		t.Errorf("a compact file became %s", compact)
	}
}

func TestParseRejects(t *testing.T) {
	for name, test := range map[string]struct{ data, want string }{
		"cut short":     {`{"a": 1`, "unexpected EOF"},
		"two values":    {`{} {}`, "after top-level value"},
		"a list":        {`[]`, "the file contains a list, want an object"},
		"text":          {`hello`, "invalid literal"},
		"hooks list":    {`{"hooks": []}`, "hooks is a list, want an object"},
		"hooks null":    {`{"hooks": null}`, "hooks is null, want an object"},
		"event string":  {`{"hooks": {"PreToolUse": "x"}}`, "hooks.PreToolUse is a string, want a list"},
		"servers false": {`{"mcpServers": false}`, "mcpServers is true or false, want an object"},
		"taken":         {`{"mcpServers": {"docsearch": {"command": "npx", "args": ["other"]}}}`, "mcpServers.docsearch belongs to another program"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := parse([]byte(test.data))
			if err == nil {
				err = install(d)
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %v, want one with %q", err, test.want)
			}
		})
	}
}

// Install and uninstall keep any file valid, keep its contents, and reverse each
// other.
func FuzzEdits(f *testing.F) {
	for _, data := range layouts {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := parse(data)
		if err != nil || install(d) != nil {
			return
		}
		first := d.Bytes()
		if d, err = parse(first); err != nil {
			t.Fatalf("install made invalid JSON of %q: %v\n%s", data, err, first)
		}
		if err := install(d); err != nil || !bytes.Equal(d.Bytes(), first) {
			t.Fatalf("a second install of %q: %v\n%s", data, err, d.Bytes())
		}
		if err := uninstall(d); err != nil {
			t.Fatal(err)
		}
		if _, err := parse(d.Bytes()); err != nil {
			t.Fatalf("uninstall made invalid JSON of %q: %v\n%s", data, err, d.Bytes())
		}
		if bytes.Contains(data, []byte("docsearch")) || bytes.Contains(data, []byte(`\`)) {
			return // it may have had an entry of ours
		}
		if got, want := valueOf(t, pruned(t, string(d.Bytes()))), valueOf(t, pruned(t, string(data))); !reflect.DeepEqual(got, want) {
			t.Fatalf("of %q only %q is left", data, d.Bytes())
		}
	})
}

func install(d *inplace.Document) error {
	if err := putHook(d, invocation{scope: User}, program, allRegistrations); err != nil {
		return err
	}
	return userServer.putIn(d, program)
}

func uninstall(d *inplace.Document) error {
	if err := dropHook(d); err != nil {
		return err
	}
	return userServer.dropFrom(d)
}

func edited(t *testing.T, data string, edit func(*inplace.Document) error) string {
	t.Helper()
	d, err := parse([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := edit(d); err != nil {
		t.Fatal(err)
	}
	if _, err := parse(d.Bytes()); err != nil {
		t.Fatalf("the edit made invalid JSON: %v\n%s", err, d.Bytes())
	}
	return string(d.Bytes())
}

// missing returns the lines of before that are missing from after, in order,
// without commas and closing brackets.
func missing(before, after string) (lines []string) {
	before, after = strings.ReplaceAll(before, ",", ""), strings.ReplaceAll(after, ",", "")
	for line := range strings.Lines(before) {
		line = strings.TrimRight(line, " \t\r\n{}[]")
		at := strings.Index(after, line)
		if at < 0 {
			lines = append(lines, line)
			continue
		}
		after = after[at+len(line):]
	}
	return lines
}

// pruned returns the document without empty containers.
func pruned(t *testing.T, data string) string {
	t.Helper()
	d, err := parse([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	remove := func(path ...any) {
		if err := d.Remove(path...); err != nil {
			t.Fatal(err)
		}
	}
	if hooks := d.Root().Member("hooks"); hooks != nil {
		if list := hooks.Member("PreToolUse"); list != nil && list.Kind() == inplace.List && len(list.Items) == 0 {
			remove("hooks", "PreToolUse")
		}
		if hooks = d.Root().Member("hooks"); hooks.Kind() == inplace.Object && len(hooks.Members) == 0 {
			remove("hooks")
		}
	}
	if servers := d.Root().Member("mcpServers"); servers != nil && servers.Kind() == inplace.Object && len(servers.Members) == 0 {
		remove("mcpServers")
	}
	return string(d.Bytes())
}

func valueOf(t *testing.T, data string) any {
	t.Helper()
	d, err := parse([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return d.Values()
}
