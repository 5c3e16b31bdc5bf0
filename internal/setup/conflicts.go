package setup

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Conflict is a keyword that also occurs in many unrelated searches.
type Conflict struct {
	Keyword string
	With    string   // the other meaning
	Instead []string // unambiguous keywords; may be empty
}

func (c Conflict) String() string {
	s := fmt.Sprintf("%q is also %s: unrelated web searches will search this database", c.Keyword, c.With)
	if len(c.Instead) > 0 {
		s += fmt.Sprintf(" (%q is unambiguous)", c.Instead[0])
	}
	return s
}

// FindConflict returns the known conflict of a keyword; false if the keyword has none.
func FindConflict(keyword string) (Conflict, bool) {
	k := strings.ToLower(strings.TrimSpace(keyword))
	if i := slices.IndexFunc(conflicts[:], func(c Conflict) bool { return c.Keyword == k }); i >= 0 {
		c := conflicts[i]
		c.Keyword = keyword
		if c.With == "" {
			c.With = "a common word"
		}
		return c, true
	}
	if utf8.RuneCountInString(k) < 3 {
		return Conflict{Keyword: keyword, With: "an ambiguous abbreviation"}, true
	}
	return Conflict{}, false
}

// conflicts lists names of software that also have another meaning. Without With,
// the other meaning is a common word.
var conflicts = [...]Conflict{
	{"access", "", []string{"microsoft access", "ms access"}},
	{"apache", "the name of a foundation with hundreds of projects", []string{"httpd", "apache httpd"}},
	{"app", "", nil},
	{"api", "", nil},
	{"arrow", "", []string{"apache arrow", "pyarrow"}},
	{"assembly", "the name of .NET's libraries", []string{"assembly language"}},
	{"astro", "an abbreviation of astronomy", []string{"astro.build"}},
	{"atom", "an editor, a feed format, and a common word", nil},
	{"basic", "", []string{"visual basic", "vb.net"}},
	{"beam", "Erlang's virtual machine and a pipeline framework", []string{"apache beam"}},
	{"black", "a color", []string{"psf/black"}},
	{"bottle", "", []string{"bottle.py", "bottlepy"}},
	{"bun", "", []string{"bun.sh"}},
	{"c", "a letter, and a word in C++ and C#", []string{"c language", "c17", "c23"}},
	{"caddy", "", []string{"caddyserver", "caddyfile"}},
	{"cargo", "", []string{"rust cargo", "cargo.toml"}},
	{"celery", "a vegetable", []string{"celeryq", "python celery"}},
	{"chef", "", []string{"chef infra", "chefspec"}},
	{"click", "", []string{"python click", "click.palletsprojects.com"}},
	{"cloud", "", nil},
	{"code", "", []string{"vscode", "visual studio code"}},
	{"compose", "Android's UI kit and Docker's tool", []string{"docker compose", "jetpack compose"}},
	{"consul", "", []string{"hashicorp consul"}},
	{"crystal", "", []string{"crystal-lang"}},
	{"css", "in most queries about web pages", nil},
	{"cypress", "a tree", []string{"cypress.io"}},
	{"d", "a letter", []string{"dlang"}},
	{"dart", "", []string{"dartlang", "dart sdk"}},
	{"dash", "a punctuation mark, a shell, and a documentation browser", []string{"plotly dash"}},
	{"data", "", nil},
	{"database", "", nil},
	{"docs", "", nil},
	{"echo", "a shell command", []string{"labstack echo"}},
	{"electron", "a particle", []string{"electronjs"}},
	{"elixir", "", []string{"elixir-lang"}},
	{"ember", "", []string{"ember.js", "emberjs"}},
	{"excel", "", []string{"microsoft excel"}},
	{"expo", "an abbreviation of exhibition", []string{"expo sdk"}},
	{"express", "", []string{"express.js", "expressjs"}},
	{"falcon", "", []string{"falconframework"}},
	{"fiber", "", []string{"gofiber"}},
	{"fish", "", []string{"fish shell", "fishshell"}},
	{"flask", "", []string{"python flask"}},
	{"flow", "", []string{"flow.org"}},
	{"flux", "", []string{"fluxcd"}},
	{"framework", "", nil},
	{"gin", "", []string{"gin-gonic"}},
	{"go", "", []string{"golang"}},
	{"guide", "", nil},
	{"gulp", "", []string{"gulpjs"}},
	{"helm", "", []string{"helm chart", "helm.sh"}},
	{"help", "", nil},
	{"hive", "", []string{"apache hive"}},
	{"html", "in most queries about web pages", nil},
	{"http", "in most queries about web servers", nil},
	{"hugo", "a name", []string{"gohugo", "hugo static site"}},
	{"ionic", "", []string{"ionicframework"}},
	{"jest", "", []string{"jestjs"}},
	{"julia", "a name", []string{"julialang"}},
	{"less", "", []string{"lesscss", "less css"}},
	{"linear", "", []string{"linear.app"}},
	{"lit", "", []string{"lit.dev", "lit-element"}},
	{"make", "", []string{"gnu make", "makefile"}},
	{"maven", "", []string{"apache maven", "pom.xml"}},
	{"meteor", "", []string{"meteorjs"}},
	{"mocha", "", []string{"mochajs"}},
	{"nest", "", []string{"nestjs"}},
	{"network", "", nil},
	{"next", "", []string{"next.js", "nextjs"}},
	{"ninja", "", []string{"ninja-build"}},
	{"node", "", []string{"node.js", "nodejs"}},
	{"nomad", "", []string{"hashicorp nomad"}},
	{"notion", "", []string{"notion api"}},
	{"oracle", "a company, a database and a cloud", []string{"oracle database", "pl/sql"}},
	{"packer", "", []string{"hashicorp packer"}},
	{"parcel", "", []string{"parceljs"}},
	{"phoenix", "a city", []string{"phoenixframework", "phoenix liveview"}},
	{"pig", "", []string{"apache pig"}},
	{"play", "", []string{"playframework", "play framework"}},
	{"poetry", "", []string{"python-poetry"}},
	{"processing", "", []string{"processing.org"}},
	{"project", "", nil},
	{"puppet", "", []string{"puppetlabs", "puppet manifest"}},
	{"pyramid", "", []string{"pylons"}},
	{"r", "a letter", []string{"rstats", "rlang"}},
	{"rails", "", []string{"ruby on rails"}},
	{"react", "a common word, and part of the names of other libraries", []string{"reactjs", "react.js"}},
	{"reference", "", nil},
	{"remix", "", []string{"remix.run"}},
	{"requests", "", []string{"python-requests"}},
	{"rest", "", nil},
	{"rich", "", []string{"textualize rich"}},
	{"rocket", "", []string{"rocket.rs"}},
	{"rollup", "", []string{"rollupjs"}},
	{"ruby", "a stone", []string{"ruby-lang"}},
	{"rust", "oxidized iron, and a game", []string{"rustlang", "rust-lang"}},
	{"salt", "", []string{"saltstack"}},
	{"sass", "", []string{"scss", "dart-sass"}},
	{"scheme", "", []string{"r7rs"}},
	{"scratch", "", []string{"scratch.mit.edu"}},
	{"screen", "", []string{"gnu screen"}},
	{"server", "", nil},
	{"service", "", nil},
	{"shell", "", []string{"posix shell"}},
	{"slack", "", []string{"slack api"}},
	{"solid", "a common word, and a set of design principles", []string{"solidjs"}},
	{"spark", "", []string{"apache spark", "pyspark"}},
	{"spring", "a season", []string{"spring boot", "springframework"}},
	{"sql", "in most queries about databases", nil},
	{"storm", "", []string{"apache storm"}},
	{"swarm", "", []string{"docker swarm"}},
	{"swift", "a common word, OpenStack's storage, and a bank network", []string{"swiftlang", "swiftui"}},
	{"system", "", nil},
	{"teams", "", []string{"microsoft teams"}},
	{"test", "", nil},
	{"tornado", "", []string{"tornadoweb"}},
	{"trio", "", []string{"python-trio"}},
	{"turbo", "", []string{"turborepo", "hotwire turbo"}},
	{"twisted", "", []string{"twistedmatrix"}},
	{"unity", "", []string{"unity3d"}},
	{"unreal", "", []string{"unreal engine"}},
	{"user", "", nil},
	{"vault", "", []string{"hashicorp vault"}},
	{"warp", "", []string{"warp.rs"}},
	{"web", "", nil},
	{"windows", "a common word, and part of queries about software that runs there", []string{"win32"}},
	{"word", "", []string{"microsoft word"}},
	{"yarn", "a common word, and Hadoop's scheduler", []string{"yarnpkg"}},
	{"zig", "", []string{"ziglang"}},
}

// aliasesOf returns other common names of a piece of software.
func aliasesOf(name string) []string {
	for _, names := range aliases {
		if names[0] == name {
			return names[1:]
		}
	}
	return nil
}

// aliases lists the names of pieces of software. The first name of each list is
// the key, the others are its aliases.
var aliases = [...][]string{
	{"go", "golang"},
	{"k8s", "kubernetes", "kubectl"},
	{"kubernetes", "k8s", "kubectl"},
	{"mongo", "mongodb"},
	{"node", "node.js", "nodejs"},
	{"nodejs", "node.js"},
	{"node.js", "nodejs"},
	{"next.js", "nextjs"},
	{"nextjs", "next.js"},
	{"postgres", "postgresql", "psql"},
	{"postgresql", "postgres", "psql"},
	{"react", "reactjs", "react.js"},
	{"rust", "rustc", "rustlang"},
	{"scikit-learn", "sklearn"},
	{"sklearn", "scikit-learn"},
	{"sqlite", "sqlite3"},
	{"sqlite3", "sqlite"},
	{"vue", "vue.js", "vuejs"},
	{"vue.js", "vuejs"},
}
