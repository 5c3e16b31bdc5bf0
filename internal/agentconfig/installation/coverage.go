package installation

import (
	"fmt"
	"os"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/hook"
)

// Coverage returns the hook events that the config and the rules need, in this
// folder and in the other projects where the hook has run: the user's settings
// apply to all of them. If the config cannot be read, it returns all events.
func Coverage(l config.Locations) config.Coverage {
	r, err := load.Load(l)
	if err != nil {
		return config.FullCoverage()
	}
	here := Here(l)
	cov := config.Coverage{}
	for _, place := range append(load.KnownPlaces(l, here), here) {
		routes := load.LoadRoutes(r, place)
		cov = cov.Union(hook.CoverageOf(&r.Config, routes.Rules, r.Config.Server(os.Getenv)))
	}
	return cov
}

// Here is the place of the working directory.
func Here(l config.Locations) config.RoutesPlace {
	cwd, _ := os.Getwd() // "" if it cannot be found
	return config.PlaceOf(l, os.Getenv, cwd)
}

// RecordEntries records the coverage of the user's settings for the hook, which
// compares it with the config when a session starts; nil if they have no hook.
func RecordEntries(l config.Locations, cov *config.Coverage) error {
	if err := config.SetRegistered(l, Here(l).Claude, cov); err != nil {
		return fmt.Errorf("cannot record the hook entries: %w", err)
	}
	return nil
}
