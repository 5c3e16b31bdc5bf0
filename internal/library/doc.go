// Package library decides how databases get onto this machine, and keeps them: it finds
// the databases of the config, of projects and of the data folder, plans, builds and
// updates databases from their sources, and removes them.
package library

// collect returns the results of f for the elements of a list.
func collect[E, R any](list []E, f func(E) R) []R {
	var all []R
	for _, e := range list {
		all = append(all, f(e))
	}
	return all
}
