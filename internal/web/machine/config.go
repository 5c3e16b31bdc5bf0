package machine

import (
	"os"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/safetext"
)

// A Config is the active config with the origin of each value. It is JSON output.
type Config struct {
	File       string            `json:"file"`
	Exists     bool              `json:"exists"`
	Config     config.Config     `json:"config"`
	From       map[string]string `json:"from"`
	SearchTool string            `json:"search_tool"`
	State      string            `json:"state_dir"`
	Cache      string            `json:"cache_dir"`
	Data       string            `json:"data_dir"`
}

// ConfigOf returns a config with the places of its files.
func ConfigOf(l config.Locations, r *load.Result) Config {
	return Config{r.Path, r.Exists, r.Config, r.Origins(), r.Config.Server(os.Getenv).Search, l.State, l.Cache, l.Data}
}

// A Variable is an environment variable that docsearch reads.
type Variable struct {
	Name, Key string // of the config; "-": none
	Value     string // "" if it is not set; a token is not shown
}

// Variables returns the variables in the order of the documentation.
func Variables() []Variable {
	var all []Variable
	add := func(name, key string) {
		value := safetext.Printable(os.Getenv(name))
		if value != "" && name == "DOCSEARCH_TOKEN" {
			value = "(set)"
		}
		all = append(all, Variable{name, key, value})
	}
	for _, o := range config.Overrides() {
		add(o.Env, o.Section+"."+o.Field)
	}
	for _, name := range config.Variables() {
		add(name, "-")
	}
	return all
}
