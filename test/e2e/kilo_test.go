//go:build e2e

package e2e

// kiloCode is built on OpenCode and has its tools. Version 7.7.7 is the newest whose program for
// this platform npm has.
var kiloCode = func() client {
	c := openCode
	c.name, c.title, c.command = "kilo", "Kilo Code", "kilo run"
	c.pkg, c.version, c.bin = "@kilocode/cli", "7.7.7", "kilo"
	c.files = map[string]string{".config/kilo/kilo.json": `{
  "autoupdate": false,
  "share": "disabled",
  "snapshot": false,
  "model": "local/scripted",
  "small_model": "local/scripted",
  "provider": {"local": {"npm": "@ai-sdk/openai-compatible", "name": "local",
    "options": {"baseURL": "{url}/v1", "apiKey": "x"}, "models": {"scripted": {"name": "scripted"}}}}
}
`}
	c.env = append([]string{"KILO_ENABLE_EXA=1", "KILO_TELEMETRY_LEVEL=off", "KILO_DISABLE_MODELS_FETCH=1"}, offline...)
	c.args = []string{"run", "--auto", prompt}
	c.hooks, c.second = ".config/kilo/plugin/docsearch.js", ".kilo/plugin/team.js"
	return c
}()
