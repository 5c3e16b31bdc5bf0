package config

import "strconv"

const servedMagic = "docsearch served 1\n"

// RecordServed records that docsearch's MCP server serves a client: the process client, which
// began with a session. forget removes the record.
func RecordServed(l Locations, client int, session string) (forget func()) {
	files := []string{servedPath(l, "any"), servedPath(l, "process "+strconv.Itoa(client)), servedPath(l, "session "+session)}
	for _, file := range files {
		writeCacheFile(l, file, []byte(servedMagic)) // without it, all clients count as served
	}
	return func() {
		for _, file := range files[1:] {
			removeCacheFile(file)
		}
	}
}

// Unserved reports whether no server serves a client, known by its process ID or a session. It
// is false unless servers leave records on this machine: one that is reached over HTTP leaves
// none.
func Unserved(l Locations, client, session string) bool {
	served := func(key string) bool {
		_, err := readCacheFile(servedPath(l, key))
		return err == nil
	}
	return client != "" && served("any") && !served("process "+client) && !served("session "+session)
}

func servedPath(l Locations, key string) string { return cacheFile(l, "served", key, ".record") }
