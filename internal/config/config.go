// Package config defines the configuration: the types, their defaults, and the locations
// of docsearch's files.
//
// It does not read config files. Package load does, and writes snapshots of the result.
// The hook reads these before most of the program is initialized (see package startup), so
// this package imports little.
package config

// A Config is the contents of the config file, with defaults filled in and invalid entries
// removed.
type Config struct {
	Databases []Database `json:"databases"`
	Hook      Hook       `json:"hook"`
	Search    Search     `json:"search"`
	Inject    Inject     `json:"inject"`
	Update    Update     `json:"update"`
	// Embedders are the configured embedders besides the builtin one. The first embeds the
	// passages of new builds; each embeds the queries to databases that were built with
	// it.
	Embedders []Embedder `json:"embedder,omitempty"`
	// Remotes are the servers of further databases.
	Remotes []Remote `json:"servers,omitempty"`
	// Clustered are the databases in Weaviate clusters. AddClustered adds them to Databases
	// where they can be searched.
	Clustered []Database `json:"clustered,omitempty"`

	// Publishers are the public keys of the publishers of packs that the user trusts, and
	// Catalogs the locations of catalogs of packs, in order. Both are nil in the hook,
	// which does not use them.
	Publishers []string `json:"publishers,omitempty"`
	Catalogs   []string `json:"catalogs,omitempty"`

	// Routes is a section that other parts of the program read, as JSON with the keys in
	// file order; nil if the file does not contain it.
	Routes Raw `json:"routes,omitempty"`
	// RouteFiles are the absolute paths of further files with rules, and of folders with such
	// files.
	RouteFiles []string `json:"route_files,omitempty"`

	// Projects are the folders of projects with databases of their own, see AddProject.
	Projects []ProjectFolder `json:"-"`

	// Ignored are the databases that RemoveIgnored has removed from Databases.
	Ignored        []Database        `json:"-"`
	Ignores        map[string]string `json:"-"` // see IgnoredBy; names in lower case
	SessionIgnores []string          `json:"-"` // see SetSession
	Home           string            `json:"-"` // of the user, see SetSession

	// Names are the names that the databases define; nil outside the hook.
	Names *Names `json:"-"`

	// Project is the project of the session; nil if it is unknown.
	Project *Project `json:"-"`
}

// A Raw is undecoded JSON, a json.RawMessage without that package.
type Raw []byte

// MarshalJSON returns r.
func (r Raw) MarshalJSON() ([]byte, error) {
	if r == nil {
		return []byte("null"), nil
	}
	return r, nil
}

// UnmarshalJSON keeps a copy of data.
func (r *Raw) UnmarshalJSON(data []byte) error {
	*r = append((*r)[:0], data...)
	return nil
}

// A Database is one configured database.
type Database struct {
	Name        string   `json:"name"`     // unique; a value of the search tool's "database"
	Keywords    []string `json:"keywords"` // at least one
	Path        string   `json:"path"`     // absolute
	Description string   `json:"description"`
	Tool        string   `json:"mcp_tool_name,omitempty"` // full name of another server's search tool; empty for docsearch's own
	URLs        []string `json:"urls,omitempty"`          // URL prefixes of its pages
	Mode        Mode     `json:"mode,omitempty"`          // empty: answer if the database has an index, else redirect
	Version     string   `json:"version,omitempty"`       // of the documented software
	Publisher   string   `json:"publisher,omitempty"`     // name of the publisher, if it came as a pack
	Inject      []string `json:"inject,omitempty"`        // patterns of the documents that are notes
	Notes       string   `json:"notes,omitempty"`         // absolute folder of its notes, if agents may write them
	Packages    []string `json:"packages,omitempty"`      // documented packages, as "node:react"

	// Threshold is the minimum confidence of an answer if it is above that of the build; see
	// package adapt. It is not in the config file.
	Threshold float64 `json:"-"`

	// Remote is the URL of the server that holds the database under the name RemoteName;
	// empty: this machine, and Path is set. See Remote.Databases.
	Remote     string `json:"server,omitempty"`
	RemoteName string `json:"server_name,omitempty"`
	// Cluster is the Weaviate cluster that holds the database; nil: none. It is not in
	// snapshots: only the program with the network uses it.
	Cluster *Cluster `json:"weaviate,omitempty"`

	Entry int `json:"-"` // position in the file's list, including ignored entries; -1 outside the file
	// Project is the folder of the project that the database was made for, and in which it
	// answers; empty: the user's own, which answers everywhere.
	Project string `json:"project,omitempty"`
	// Used is the version that the project of the session uses, if that is known and the
	// query names no version. Package match sets it.
	Used string `json:"-"`
}

// Keyword returns the first keyword, which represents the database in denials.
func (d *Database) Keyword() string { return d.Keywords[0] }

// QueryNames returns the words that show that a query is about the database: its name and
// keywords.
func (d *Database) QueryNames() []string { return append([]string{d.Name}, d.Keywords...) }

// A Mode is the hook's action for a web search that matches a database.
type Mode string

const (
	ModeAnswer   Mode = "answer"   // deny with the passages, if they answer
	ModeRedirect Mode = "redirect" // deny with the search call
	ModeAdvise   Mode = "advise"   // run as usual, with a line of context
	ModeOff      Mode = "off"      // run as usual
)

// Hook configures the hook.
type Hook struct {
	Retry     Retry  `json:"retry"`
	TimeoutMS int    `json:"timeout_ms"`              // the call runs as usual if the hook takes longer
	Tool      string `json:"mcp_tool_name,omitempty"` // docsearch's own search tool, where it has another name
	// Log enables the event log, and LogQueries the queries of web searches in it.
	Log        bool `json:"log"`
	LogQueries bool `json:"log_queries"`
	// Adapt moves the confidence thresholds with the agents' reactions to denials.
	Adapt bool `json:"adapt"`
}

// The hook's time limit, in milliseconds. On two cores with a load average of 43, a search
// takes more than 800 ms in two of three calls, and more than two seconds in one of 31.
const (
	DefaultTimeoutMS = 2000
	MaxTimeoutMS     = 60_000
)

// A Retry is the condition under which a denied search runs.
type Retry string

const (
	RetryIdentical Retry = "identical" // if it is sent again unchanged
	RetryEvidence  Retry = "evidence"  // if, in addition, the local index was searched in between
)

// Search sets the defaults of the search tool's arguments.
type Search struct {
	TopK      int `json:"top_k"`
	MaxTokens int `json:"max_tokens"`
	// MaxAgeDays is the age of the last comparison with the source from which results of a
	// database include a warning; 0 disables it.
	MaxAgeDays int `json:"max_age_days"`
}

// Update configures automatic updates of databases.
type Update struct {
	OnSessionStart bool `json:"on_session_start"` // in the background, each database once a day
}

// An Embedder is an embedding model and its address. The provider sets defaults for zero
// fields.
type Embedder struct {
	Provider       string  `json:"provider"` // one of the constants below
	Model          string  `json:"model"`    // name of the model; for model2vec its absolute folder
	URL            string  `json:"url,omitempty"`
	KeyEnv         string  `json:"api_key_env,omitempty"` // name of the environment variable with the key
	QueryPrompt    string  `json:"query_prompt,omitempty"`
	DocumentPrompt string  `json:"document_prompt,omitempty"`
	Dimensions     int     `json:"dimensions,omitempty"` // to request
	Batch          int     `json:"batch,omitempty"`      // maximum number of texts per request
	Weight         float64 `json:"weight,omitempty"`     // of the vector score; the lexical score has weight 1
}

// Embedding providers. The builtin one needs no configuration.
const (
	ProviderBuiltin   = "builtin"
	ProviderOllama    = "ollama"
	ProviderOpenAI    = "openai" // any server with OpenAI's API
	ProviderModel2Vec = "model2vec"
)

// Local reports whether the embedder is a local folder and not a server.
func (e *Embedder) Local() bool {
	return e.Provider == ProviderModel2Vec
}

// Default returns the configuration of an empty file.
func Default() Config {
	return Config{
		Databases: []Database{},
		Hook:      Hook{Retry: RetryIdentical, TimeoutMS: DefaultTimeoutMS, Log: true, LogQueries: true},
		Search:    Search{TopK: 5, MaxTokens: 4000, MaxAgeDays: 90},
		Inject:    DefaultInject(),
	}
}

// An Override is an environment variable that overrides a value of the config file.
type Override struct {
	Env            string // DOCSEARCH_, the section and the field, in upper case
	Section, Field string
	Kind           Kind
}

// A Kind is the type of an overridden value.
type Kind byte

const (
	KindText   Kind = iota
	KindNumber      // whole or decimal
	KindFlag        // true or false, 1 or 0, yes or no, on or off
	KindList        // separated by commas; a single comma is an empty list
)

// Overrides lists all overrides: one for each key of the sections, except those that hold
// lists of objects.
func Overrides() [18]Override {
	return [...]Override{
		{"DOCSEARCH_HOOK_RETRY", "hook", "retry", KindText},
		{"DOCSEARCH_HOOK_TIMEOUT_MS", "hook", "timeout_ms", KindNumber},
		{"DOCSEARCH_HOOK_MCP_TOOL_NAME", "hook", "mcp_tool_name", KindText},
		{"DOCSEARCH_HOOK_LOG", "hook", "log", KindFlag},
		{"DOCSEARCH_HOOK_LOG_QUERIES", "hook", "log_queries", KindFlag},
		{"DOCSEARCH_HOOK_ADAPT", "hook", "adapt", KindFlag},
		{"DOCSEARCH_SEARCH_TOP_K", "search", "top_k", KindNumber},
		{"DOCSEARCH_SEARCH_MAX_TOKENS", "search", "max_tokens", KindNumber},
		{"DOCSEARCH_SEARCH_MAX_AGE_DAYS", "search", "max_age_days", KindNumber},
		{"DOCSEARCH_INJECT_SESSIONS", "inject", "sessions", KindFlag},
		{"DOCSEARCH_INJECT_TOOLS", "inject", "tools", KindList},
		{"DOCSEARCH_INJECT_FAILURES", "inject", "failures", KindFlag},
		{"DOCSEARCH_INJECT_TOP_K", "inject", "top_k", KindNumber},
		{"DOCSEARCH_INJECT_HYBRID", "inject", "hybrid", KindFlag},
		{"DOCSEARCH_INJECT_MAX_CHARS", "inject", "max_chars", KindNumber},
		{"DOCSEARCH_INJECT_FLOOR", "inject", "floor", KindNumber},
		{"DOCSEARCH_INJECT_SKIP_AGENTS", "inject", "skip_agents", KindList},
		{"DOCSEARCH_UPDATE_ON_SESSION_START", "update", "on_session_start", KindFlag},
	}
}

// Variables lists the environment variables that docsearch reads besides the overrides.
func Variables() []string {
	return []string{
		"DOCSEARCH_CONFIG_PATH", "DOCSEARCH_STATE_DIR", "DOCSEARCH_DATA", "DOCSEARCH_CACHE_DIR",
		IgnoreVariable, "DOCSEARCH_DEBUG", "DOCSEARCH_MCP_TOOL", "DOCSEARCH_MODULES", "DOCSEARCH_PROGRESS", "DOCSEARCH_TOKEN",
		"TOOL_ROUTING_ROUTES", "TOOL_ROUTING_DEBUG",
	}
}
