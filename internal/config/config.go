// Package config defines the configuration: the types, their defaults, and the
// locations of docsearch's files.
//
// It reads no config file. Package load does, and writes snapshots of the result,
// by which the hook decides before most of the program is initialized (see package
// startup). So this package imports little.
package config

// A Config is what the user's config file says, with defaults filled in and
// without the entries that are wrong.
type Config struct {
	Databases []Database `json:"databases"`
	Hook      Hook       `json:"hook"`
	Search    Search     `json:"search"`
	Inject    Inject     `json:"inject"`
	Update    Update     `json:"update"`
	// Embedders are those besides the builtin one that may be asked: the first
	// for the passages of new builds, each for the queries to databases that
	// were built with it.
	Embedders []Embedder `json:"embedder,omitempty"`

	// Sections that other parts of the program read, as JSON with the keys in
	// the order of the file; nil where the file has none.
	Routes Raw `json:"routes,omitempty"`

	// Names are those that the databases define; nil outside the hook.
	Names *Names `json:"-"`
}

// A Raw is JSON as it stands: a json.RawMessage without that package.
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

// A Database is one body of documentation.
type Database struct {
	Name        string   `json:"name"`     // unique; what the search tool's "database" takes
	Keywords    []string `json:"keywords"` // at least one
	Path        string   `json:"path"`     // absolute
	Description string   `json:"description"`
	Tool        string   `json:"mcp_tool_name,omitempty"` // empty: docsearch's own
	URLs        []string `json:"urls,omitempty"`          // prefixes of the pages it holds
	Mode        Mode     `json:"mode,omitempty"`          // empty: answer with an index, else redirect
	Version     string   `json:"version,omitempty"`       // of the documented software
	Inject      []string `json:"inject,omitempty"`        // patterns of the documents that the agent is told of without asking

	Entry int `json:"-"` // its place in the file's list, which counts the skipped, too
}

// Keyword names the database in denials: its first keyword.
func (d *Database) Keyword() string { return d.Keywords[0] }

// A Mode is what the hook does with a web search that matches a database.
type Mode string

const (
	ModeAnswer   Mode = "answer"   // deny with the passages, if they answer
	ModeRedirect Mode = "redirect" // deny and point at the tool
	ModeAdvise   Mode = "advise"   // let it through with a line of context
	ModeOff      Mode = "off"      // let it through
)

// Hook is the configuration of the hook as a whole.
type Hook struct {
	Retry     Retry  `json:"retry"`
	TimeoutMS int    `json:"timeout_ms"`              // the hook lets the call through when it takes longer
	Tool      string `json:"mcp_tool_name,omitempty"` // docsearch's own search tool, where it has another name
	// Log is whether it keeps on this machine what it did, and LogQueries
	// whether with the queries of web searches.
	Log        bool `json:"log"`
	LogQueries bool `json:"log_queries"`
}

// The hook's time limit, in milliseconds.
const (
	DefaultTimeoutMS = 800
	MaxTimeoutMS     = 60_000
)

// A Retry says when a denied search passes.
type Retry string

const (
	RetryIdentical Retry = "identical" // when it is sent again unchanged
	RetryEvidence  Retry = "evidence"  // when the local index was consulted since, too
)

// Search is how the search tool answers where a call does not say.
type Search struct {
	TopK      int `json:"top_k"`
	MaxTokens int `json:"max_tokens"`
	// MaxAgeDays is how long after a database was last compared with its source
	// its answers say so; 0: never.
	MaxAgeDays int `json:"max_age_days"`
}

// Update is when databases are brought up to date without anybody asking.
type Update struct {
	OnSessionStart bool `json:"on_session_start"` // in the background, each once a day
}

// An Embedder is a model that turns texts into vectors, and how to reach it.
// Fields that are zero are for the provider to fill in.
type Embedder struct {
	Provider       string  `json:"provider"` // one of the constants below
	Model          string  `json:"model"`    // its name; for model2vec its folder, absolute
	URL            string  `json:"url,omitempty"`
	KeyEnv         string  `json:"api_key_env,omitempty"` // the environment variable that has the key
	QueryPrompt    string  `json:"query_prompt,omitempty"`
	DocumentPrompt string  `json:"document_prompt,omitempty"`
	Dimensions     int     `json:"dimensions,omitempty"` // to ask for
	Batch          int     `json:"batch,omitempty"`      // texts in a request, at most
	Weight         float64 `json:"weight,omitempty"`     // of the vectors, where that of the words is 1
}

// Providers of embeddings. The builtin one is there without being configured.
const (
	ProviderBuiltin   = "builtin"
	ProviderOllama    = "ollama"
	ProviderOpenAI    = "openai" // any server that speaks OpenAI's protocol
	ProviderModel2Vec = "model2vec"
)

// Local reports whether the embedder is a folder, and nobody to be asked.
func (e *Embedder) Local() bool {
	return e.Provider == ProviderModel2Vec
}

// Default is the configuration of an empty file.
func Default() Config {
	return Config{
		Databases: []Database{},
		Hook:      Hook{Retry: RetryIdentical, TimeoutMS: DefaultTimeoutMS, Log: true},
		Search:    Search{TopK: 5, MaxTokens: 4000, MaxAgeDays: 90},
		Inject:    DefaultInject(),
	}
}

// An Override is an environment variable that has the last word on a value.
type Override struct{ Env, Section, Field string }

// Overrides lists them all.
func Overrides() [4]Override {
	return [...]Override{
		{"DOCSEARCH_HOOK_RETRY", "hook", "retry"},
		{"DOCSEARCH_HOOK_TIMEOUT_MS", "hook", "timeout_ms"},
		{"DOCSEARCH_SEARCH_TOP_K", "search", "top_k"},
		{"DOCSEARCH_SEARCH_MAX_TOKENS", "search", "max_tokens"},
	}
}
