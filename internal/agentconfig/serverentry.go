package agentconfig

import (
	"fmt"

	"github.com/tailscale/hujson"
)

// A serverAt is the position of a server in a document: the keys that lead to the
// object with the servers, and the server's name.
type serverAt struct {
	keys []string
	name string
}

// putServer adds docsearch's server to the MCP servers of a document, or corrects
// its program. entry is the new server as JSON.
func putServer(d *document, at serverAt, program, entry string) error {
	servers := d.top()
	for _, key := range at.keys {
		var err error
		if servers, err = servers.needObject(key); err != nil {
			return err
		}
	}
	existing, ok, err := servers.object(at.name)
	if err != nil {
		return err
	}
	if !ok {
		servers.put(at.name, entry)
		return nil
	}
	if !isServer(existing) {
		command := existing.text("command") + existing.text("url")
		return fmt.Errorf("%s belongs to another program: %q; to remove it, run \"claude mcp remove %s\"", existing.path, command, at.name)
	}
	setServerProgram(existing, program)
	return nil
}

// dropServer removes docsearch's server, and the objects that become empty.
func dropServer(d *document, at serverAt) error {
	path := []object{d.top()}
	for _, key := range at.keys {
		child, ok, err := path[len(path)-1].object(key)
		if err != nil || !ok {
			return err
		}
		path = append(path, child)
	}
	servers := path[len(path)-1]
	entry, ok, err := servers.object(at.name)
	if err != nil || !ok || !isServer(entry) {
		return err
	}
	servers.remove(servers.index(at.name))
	for i := len(at.keys) - 1; i >= 0 && len(path[i+1].Members) == 0; i-- {
		path[i].remove(path[i].index(at.keys[i]))
	}
	return nil
}

// claudeServer returns the entry of the server for Claude Code, as JSON. With
// alwaysLoad, the first request contains the tool, not only its name.
func claudeServer(program string) string {
	return serverJSON(`"type": "stdio", `, `, "alwaysLoad": true`)(program)
}

// findServer returns the server entry at a position.
func findServer(d *document, at serverAt) (entry object, ok bool) {
	servers, ok := d.servers(at)
	if !ok {
		return object{}, false
	}
	entry, ok, err := servers.object(at.name)
	return entry, err == nil && ok
}

// servers returns the object with the servers.
func (d *document) servers(at serverAt) (servers object, ok bool) {
	servers = d.top()
	for _, key := range at.keys {
		var err error
		if servers, ok, err = servers.object(key); err != nil || !ok {
			return object{}, false
		}
	}
	return servers, true
}

// isServer reports whether a server entry runs docsearch.
func isServer(entry object) bool {
	program, args := serverCommand(entry)
	return len(args) > 0 && args[0] == "serve" && isDocsearch(program)
}

// serverCommand returns the program and the arguments of a server entry. They are
// two members, or one list.
func serverCommand(entry object) (program string, args []string) {
	list, ok, err := entry.array("command")
	if err != nil || !ok {
		program = entry.text("command")
		list, _, err = entry.array("args")
	}
	if err != nil || list.Array == nil {
		return program, nil
	}
	for _, arg := range list.Elements {
		args = append(args, stringOf(arg))
	}
	if ok && len(args) > 0 {
		program, args = args[0], args[1:]
	}
	return program, args
}

// setServerProgram corrects the program of a server entry.
func setServerProgram(entry object, program string) {
	if old, _ := serverCommand(entry); old == program {
		return
	}
	value := &entry.Members[entry.index("command")].Value
	if list, ok := value.Value.(*hujson.Array); ok {
		value = &list.Elements[0]
	}
	value.Value = hujson.String(program)
}
