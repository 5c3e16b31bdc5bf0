package decode

import (
	"strconv"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
)

// remotes decodes the list of servers.
func (d *decoder) remotes(v any) {
	if v == nil {
		return
	}
	list, ok := v.([]any)
	if !ok {
		d.report("servers", Problem{Entry: "servers", Expected: "a list of servers", Got: describe(v),
			Effect: "no servers"})
		return
	}
	for i, item := range list {
		d.remote("servers["+strconv.Itoa(i)+"]", item)
	}
}

// remote decodes one server. A server with an invalid field is ignored, because a request
// to another address, or without its token, would not be what the user wanted.
func (d *decoder) remote(path string, v any) {
	const skipped = "the server is ignored"
	m, ok := v.(map[string]any)
	if !ok {
		d.report(path, Problem{Entry: path, Expected: `a server with "url"`, Got: describe(v), Effect: skipped})
		return
	}
	o := &object{decoder: d, path: path, entry: path, fields: m, skipped: skipped, usable: true}
	o.secret("token", "token_file, token_env or token_command: the config must not contain the token")
	d.reportUnknown(path, path, o.fields, "url", "token_file", "token_env", "token_command", "timeout_ms", "mirror")
	r := config.Remote{TimeoutMS: config.DefaultRemoteTimeoutMS}
	const url = `the server's URL, as in "https://docs.example.com"; http is for this machine only`
	r.URL = strings.TrimRight(strings.TrimSpace(o.text("url", url)), "/")
	if o.usable && !config.IsServerURL(r.URL) {
		o.wrong("url", url, describe(m["url"]))
	}
	r.TokenFile = d.path(strings.TrimSpace(o.text("token_file", "the path of a file")), func(raw, resolved string) {
		o.unexpected("token_file", "an absolute path", strconv.Quote(raw), "using "+resolved)
	})
	const variable = "the name of an environment variable, not the token"
	if r.TokenEnv = strings.TrimSpace(o.text("token_env", variable)); !isVariable(r.TokenEnv) {
		o.wrong("token_env", variable, "") // it may be the token
	}
	sources := 0
	if command, given := m["token_command"]; given {
		var bad []any
		if r.TokenCommand, bad = stringList(command); len(bad) > 0 || len(r.TokenCommand) == 0 {
			o.wrong("token_command", "a list of a program and its arguments", describe(command))
		}
	}
	for _, given := range []bool{r.TokenFile != "", r.TokenEnv != "", len(r.TokenCommand) > 0} {
		if given {
			sources++
		}
	}
	if sources > 1 {
		o.wrong("token_file", "only one of token_file, token_env and token_command", "")
	}
	d.intField(m, path, "timeout_ms", 1, config.MaxTimeoutMS, &r.TimeoutMS)
	d.boolField(m, path, "mirror", &r.Mirror)
	for i := range d.config.Remotes {
		if d.config.Remotes[i].URL == r.URL && o.usable {
			o.wrong("url", "a server that is not in the list yet", describe(r.URL))
		}
	}
	if o.usable {
		d.config.Remotes = append(d.config.Remotes, r)
	}
}
