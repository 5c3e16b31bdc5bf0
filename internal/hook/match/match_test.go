package match

import (
	"slices"
	"testing"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/configtest"
	"github.com/docsearch/docsearch/internal/hook/event"
)

func TestKeywords(t *testing.T) {
	for _, test := range []struct {
		keyword, query string
		want           bool
	}{
		{"gitlab", "gitlab ci config", true},
		{"gitlab", "GitLab CI", true},
		{"GitLab", "how does gitlab work?", true},
		{"gitlab", "ungitlabbed", false},
		{"gitlab", "gitlabs", false},
		{"gitlab", "gitlab2", true},
		{"gitlab", "gitlab2go", false},
		{"gitlab", "gitlab17.2 runner", true},
		{"gitlab", "gitlab17.", true},
		{"gitlab", "gitlab17.2rc", false},
		{"python", "python3.12 asyncio", true},
		{"python3", "python3.12", true},
		{"python", "python.3", true},
		{"k", "k8", false},
		{"sql", "sql92", true},
		{"sql", "mysql8.0", false},
		{"gitlab", "gitlab_ci", false},
		{"gitlab", "gitlab-ci", true},
		{"gitlab", "docs.gitlab.com", true},
		{"gitlab", "(gitlab)", true},
		{"gitlab", "gitlab's runner", true},
		{"gitlab", "my gitlab", true},
		{"gitlab", "ungitlab gitlab", true},
		{"gitlab", "", false},
		{"gitlab-ci", "gitlab-ci yaml", true},
		{"gitlab-ci", "gitlab ci yaml", false},

		{"c++", "c++ templates", true},
		{"c++", "C++11 move", true},
		{"c++", "modern c++", true},
		{"c++", "c+++", false},
		{"c++", "objc++", false},
		{"c++", "c+ +", false},
		{"c#", "async in C#?", true},
		{"c#", "c##", false},
		{"c#", "c", false},
		{".net", ".net core", true},
		{".net", "c# .net", true},
		{".net", "(.NET)", true},
		{".net", "dot.net", false},
		{".net", "https://dot.net/core", false},
		{".net", "..net", false},
		{".net", ".network", false},
		{".net", "net", false},
		{"@angular/core", "install @angular/core today", true},
		{"--", "git checkout -- file", true},
		{"--", "---", false},

		{"gitlab ci", "the GitLab   CI file", true},
		{"gitlab ci", "gitlab\tci", true},
		{"gitlab ci", "gitlab\nci", true},
		{"gitlab  ci", "gitlab ci", true},
		{"gitlab ci", "gitlab cicd", false},
		{"gitlab ci", "my gitlab", false},

		{"müller", "Herr MÜLLER kommt", true},
		{"müller", "müllerin", false},
		{"ελλάδα", "στην Ελλάδα σήμερα", true},
		{"ΣΟΦΟΣ", "ο σοφος", true},
		{"москва", "МОСКВА 2026", true},
		{"москва", "московский", false},
		{"café", "le Café noir", true},
		{"cafe", "cafe\u0301", false},
		{"café", "cafe\u0301 noir", true},
		{"cafe\u0301", "café noir", true},
		{"straße", "STRAßE", true},
		{"k8s", "\u212a8S ingress", true}, // the Kelvin sign
		{"数据库", "如何备份数据库文件", true},
		{"gitlab", "gitlabの設定", true},
		{"データベース", "データベース設計", true},
		{"テスト", "コンテスト", false},
		{"gitlab", "gitlab을 설치", true},
		{"깃랩", "깃랩 설치", true},
		{"ภาษาไทย", "เอกสารภาษาไทยฉบับ", true},
		{"🦀", "🦀 book", true},
		{"日本", "日本", true},
	} {
		got := Has(Fold(test.query), []string{test.keyword})
		if got != test.want {
			t.Errorf("keyword %q in %q: %t, want %t", test.keyword, test.query, got, test.want)
		}
	}
}

func TestDatabases(t *testing.T) {
	dbs := []config.Database{
		{Name: "gitlab", Keywords: []string{"gitlab", "gl"}, URLs: []string{"https://docs.gitlab.com/ee/"}},
		{Name: "k8s", Keywords: []string{"kubernetes", "k8s"}, URLs: []string{"https://kubernetes.io/docs", "https://k8s.io/"}},
		{Name: "off", Keywords: []string{"gitlab"}, Mode: config.ModeOff},
		{Name: "plain", Keywords: []string{"gl"}},
		{Name: "idn", Keywords: []string{"books"}, URLs: []string{"https://xn--bcher-kva.example/docs/"}},
	}
	for _, test := range []struct {
		name   string
		search event.Search
		want   []string
	}{
		{"one keyword", event.Search{Query: "gitlab runner"}, []string{"gitlab"}},
		{"second keyword", event.Search{Query: "GL runner"}, []string{"gitlab", "plain"}},
		{"order of the config, not of the query", event.Search{Query: "k8s on gitlab"}, []string{"gitlab", "k8s"}},
		{"none", event.Search{Query: "cooking"}, nil},
		{"allowed domain without a keyword", event.Search{Query: "runner", Allowed: []string{"docs.gitlab.com"}}, []string{"gitlab"}},
		{"allowed parent domain", event.Search{Query: "runner", Allowed: []string{"GitLab.com"}}, []string{"gitlab"}},
		{"allowed wildcard", event.Search{Query: "runner", Allowed: []string{"*.gitlab.com"}}, []string{"gitlab"}},
		{"allowed with scheme and path", event.Search{Query: "runner", Allowed: []string{"https://docs.gitlab.com/ee"}}, []string{"gitlab"}},
		{"allowed child domain", event.Search{Query: "runner", Allowed: []string{"ee.docs.gitlab.com"}}, nil},
		{"allowed suffix that is not a domain", event.Search{Query: "runner", Allowed: []string{"lab.com"}}, nil},
		{"allowed empty", event.Search{Query: "runner", Allowed: []string{""}}, nil},
		{"other allowed domain", event.Search{Query: "gitlab gl", Allowed: []string{"example.com"}}, nil},
		{"its own and another allowed domain", event.Search{Query: "gitlab", Allowed: []string{"example.com", "docs.gitlab.com"}}, []string{"gitlab"}},
		{"allowed domain of a keyword, without addresses", event.Search{Query: "x", Allowed: []string{"docs.gl.example", "gl-docs.example"}}, []string{"plain"}},
		{"allowed domain that begins like a keyword", event.Search{Query: "gl", Allowed: []string{"global.example"}}, nil},
		{"IDN domain of a Punycode URL", event.Search{Query: "x", Allowed: []string{"bücher.example"}}, []string{"idn"}},
		{"Punycode domain, upper case", event.Search{Query: "x", Allowed: []string{"XN--BCHER-KVA.example"}}, []string{"idn"}},
		{"site in the text", event.Search{Query: "site:docs.gitlab.com runner"}, []string{"gitlab"}},
		{"other site in the text", event.Search{Query: "gitlab runner site:stackoverflow.com"}, nil},
		{"address in the text", event.Search{Query: "what is https://docs.gitlab.com/ee/ci/yaml/#cache about"}, []string{"gitlab"}},
		{"excluded site in the text", event.Search{Query: "gitlab runner -site:docs.gitlab.com"}, nil},
		{"other excluded site in the text", event.Search{Query: "gitlab runner -site:stackoverflow.com"}, []string{"gitlab"}},
		{"blocked unmatches", event.Search{Query: "gitlab k8s", Blocked: []string{"gitlab.com"}}, []string{"k8s"}},
		{"blocked beats allowed", event.Search{Query: "x", Allowed: []string{"docs.gitlab.com"}, Blocked: []string{"docs.gitlab.com"}}, nil},
		{"one of two addresses blocked", event.Search{Query: "k8s", Blocked: []string{"k8s.io"}}, []string{"k8s"}},
		{"both addresses blocked", event.Search{Query: "k8s", Blocked: []string{"k8s.io", "kubernetes.io"}}, nil},
		{"blocked without addresses", event.Search{Query: "gl", Blocked: []string{"gitlab.com"}}, []string{"plain"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, db := range Databases(test.search, &config.Config{Databases: dbs}) {
				got = append(got, db.Name)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("databases %v, want %v", got, test.want)
			}
		})
	}
}

func TestDefining(t *testing.T) {
	c := config.Config{Databases: []config.Database{
		{Name: "postgresql", Keywords: []string{"postgres"}, URLs: []string{"https://postgresql.org/docs/"}},
		{Name: "cmake", Keywords: []string{"cmake"}},
		{Name: "redirected", Keywords: []string{"redirected"}, Mode: config.ModeRedirect},
		{Name: "off", Keywords: []string{"off"}, Mode: config.ModeOff},
	}}
	c.Names = config.NewNames(c.Databases, func([]config.Database) [][]string {
		return [][]string{{"pgdump", "psql"}, {"findpackage"}, {"redirectall"}, {"switchoff"}}
	}, func([]config.Database) [][]string {
		return [][]string{{"currentsetting", "export"}, {"fetchcontentmakeavailable", "timeout"}, nil, nil}
	})
	for _, test := range []struct {
		name   string
		search event.Search
		want   []string
	}{
		{"a name", event.Search{Query: "pg_dump exclude table"}, []string{"postgresql"}},
		{"without its separator", event.Search{Query: "pgdump exclude table"}, []string{"postgresql"}},
		{"in other case, with signs", event.Search{Query: "how to `Find_Package(Boost)`?"}, []string{"cmake"}},
		{"two names of one database", event.Search{Query: "psql: restore of pg_dump,"}, []string{"postgresql"}},
		{"names of two databases", event.Search{Query: "psql find_package"}, nil},
		{"a part of a word", event.Search{Query: "my_pg_dump mypsql"}, nil},
		{"a keyword of another database", event.Search{Query: "psql in cmake"}, []string{"cmake"}},
		{"of a database that is confident of nothing", event.Search{Query: "redirect_all"}, nil},
		{"of a database that is off", event.Search{Query: "switch-off"}, nil},
		{"the search is limited to a site", event.Search{Query: "psql site:stackoverflow.com"}, nil},
		{"the search excludes the database's site", event.Search{Query: "psql", Blocked: []string{"postgresql.org"}}, nil},
		{"signs", event.Search{Query: "( ) _ -- ?"}, nil},
		{"an identifier", event.Search{Query: "what is current_setting('x')"}, []string{"postgresql"}},
		{"an identifier in other case", event.Search{Query: "FetchContent_MakeAvailable()."}, []string{"cmake"}},
		{"identifiers of two databases", event.Search{Query: "current_setting FetchContent_MakeAvailable"}, nil},
		{"a name that is written as a word", event.Search{Query: "timeout of an export"}, nil},
		{"a part of a path", event.Search{Query: "src/current_setting /current_setting a@current_setting"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, db := range Databases(test.search, &c) {
				got = append(got, db.Name)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("databases %v, want %v", got, test.want)
			}
		})
	}
}

// Of several editions, the one that the query names matches, else the one for the project.
func TestEditions(t *testing.T) {
	uses := func(version string) *config.Project {
		return configtest.Project(t, config.Use{Software: "node:react", Versions: []string{version}})
	}
	for _, tt := range []struct {
		query, version string // that the project uses
		want, used     string
	}{
		{"react effect cleanup", "18.3.1", "react-18", "18.3.1"},
		{"react effect cleanup", "19.1.0", "react", "19.1.0"},
		{"react effect cleanup", "16.0.0", "react", "16.0.0"},
		{"react 19 effect cleanup", "18.3.1", "react", ""},
		{"effect cleanup in react@18.2", "19.1.0", "react-18", ""},
		{"react18 effect cleanup", "19.1.0", "react-18", ""},
		{"react top 18 mistakes", "19.1.0", "react", "19.1.0"},
	} {
		c := &config.Config{Project: uses(tt.version), Databases: []config.Database{
			{Name: "react-18", Keywords: []string{"react"}, Version: "18.3.1", Packages: []string{"node:react"}},
			{Name: "react", Keywords: []string{"react"}, Version: "19.1.0", Packages: []string{"node:react"}},
			{Name: "other", Keywords: []string{"other"}},
		}}
		got := Databases(event.Search{Query: tt.query}, c)
		if len(got) != 1 || got[0].Name != tt.want || got[0].Used != tt.used {
			t.Errorf("%q with %s: %v, want %s for %q", tt.query, tt.version, got, tt.want, tt.used)
		}
	}
}
