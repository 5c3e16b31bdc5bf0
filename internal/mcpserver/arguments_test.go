package mcpserver

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// testArguments has one argument of each kind.
type testArguments struct {
	Query, Detail string
	Keywords      []string
	TopK          int
	Whole         bool
	Database      stringList
}

func (a *testArguments) params() []param {
	return []param{
		{name: "query", target: &a.Query, required: true, aliases: []string{"q"}},
		{name: "keywords", target: &a.Keywords, aliases: []string{"terms"}},
		{name: "top_k", target: &a.TopK, min: 1, max: 50, aliases: []string{"k", "n_results"}},
		{name: "detail", target: &a.Detail, choices: []string{"passages", "headings"}},
		{name: "whole", target: &a.Whole},
		{name: "database", target: &a.Database, aliases: []string{"db"}},
	}
}

func TestDecode(t *testing.T) {
	for _, tt := range []struct {
		name, arguments string
		want            testArguments
	}{
		{"as declared", `{"query":"a b","keywords":["x","y"],"top_k":3,"detail":"headings","whole":true}`,
			testArguments{"a b", "headings", []string{"x", "y"}, 3, true, nil}},
		{"one name", `{"query":"a","database":"gitlab"}`, testArguments{Query: "a", TopK: 5, Database: stringList{"gitlab"}}},
		{"several names", `{"query":"a","db":["gitlab","k8s"]}`, testArguments{Query: "a", TopK: 5, Database: stringList{"gitlab", "k8s"}}},
		{"names with commas", `{"query":"a","database":"gitlab, k8s"}`, testArguments{Query: "a", TopK: 5, Database: stringList{"gitlab", "k8s"}}},
		{"defaults", `{"query":"a"}`, testArguments{Query: "a", TopK: 5}},
		{"null is absent", `{"query":"a","keywords":null,"top_k":null,"detail":null,"whole":null}`, testArguments{Query: "a", TopK: 5}},
		{"misnamed", `{"q":"a","terms":["x"],"n_results":3}`, testArguments{Query: "a", Keywords: []string{"x"}, TopK: 3}},
		{"other spellings", `{"Query":"a","topK":3}`, testArguments{Query: "a", TopK: 3}},
		{"hyphens", `{"query":"a","top-k":3,"n-results":null}`, testArguments{Query: "a", TopK: 3}},
		{"number in quotes", `{"query":"a","top_k":" 3 "}`, testArguments{Query: "a", TopK: 3}},
		{"number with a fraction of nothing", `{"query":"a","top_k":3.0}`, testArguments{Query: "a", TopK: 3}},
		{"more than there may be", `{"query":"a","top_k":1000}`, testArguments{Query: "a", TopK: 50}},
		{"string for a list", `{"query":"a","keywords":"os.rename"}`, testArguments{Query: "a", Keywords: []string{"os.rename"}, TopK: 5}},
		{"commas for a list", `{"query":"a","keywords":"c++, std::move,, c++"}`, testArguments{Query: "a", Keywords: []string{"c++", "std::move"}, TopK: 5}},
		{"list in a string", `{"query":"a","keywords":"[\"x, y\", \"z\"]"}`, testArguments{Query: "a", Keywords: []string{"x, y", "z"}, TopK: 5}},
		{"numbers in a list", `{"query":"a","keywords":[404, "x", null, ""]}`, testArguments{Query: "a", Keywords: []string{"404", "x"}, TopK: 5}},
		{"number for a string", `{"query":404}`, testArguments{Query: "404", TopK: 5}},
		{"list for a string", `{"query":["a","b"]}`, testArguments{Query: "a b", TopK: 5}},
		{"truth in quotes", `{"query":"a","whole":"True"}`, testArguments{Query: "a", TopK: 5, Whole: true}},
		{"truth as a number", `{"query":"a","whole":1}`, testArguments{Query: "a", TopK: 5, Whole: true}},
		{"choice in capitals", `{"query":"a","detail":"Headings"}`, testArguments{Query: "a", Detail: "headings", TopK: 5}},
		{"encoded twice", `"{\"query\":\"a\",\"top_k\":3}"`, testArguments{Query: "a", TopK: 3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := testArguments{TopK: 5}
			if err := decode("search", got.params(), parse(t, tt.arguments)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestDecodeExplains(t *testing.T) {
	const usage = "; search takes query (required), keywords, top_k, detail (passages or headings), whole, database"
	for _, tt := range []struct{ name, arguments, want string }{
		{"nothing", `{}`, "query is required" + usage},
		{"no object", `null`, "query is required" + usage},
		{"blank", `{"query":"  "}`, "query is required" + usage},
		{"null", `{"query":null}`, "query is required" + usage},
		{"unknown", `{"query":"a","bogus":1}`, `unknown argument "bogus"` + usage},
		{"twice", `{"query":"a","q":"b"}`, `"q" and "query" are the same argument: pass query only`},
		{"no number", `{"query":"a","top_k":"many"}`, `invalid top_k: want a whole number from 1 to 50, got "many"` + usage},
		{"fraction", `{"query":"a","top_k":2.5}`, `invalid top_k: want a whole number from 1 to 50, got 2.5` + usage},
		{"too small", `{"query":"a","top_k":0}`, `invalid top_k: want a whole number from 1 to 50, got 0` + usage},
		{"no number at all", `{"query":"a","top_k":"NaN"}`, `invalid top_k: want a whole number from 1 to 50, got "NaN"` + usage},
		{"object for a string", `{"query":{"text":"a"}}`, `invalid query: want a string, got {"text":"a"}` + usage},
		{"list of objects", `{"query":"a","keywords":[{"k":1}]}`, `invalid keywords: want an array of strings, got [{"k":1}]` + usage},
		{"list of lists", `{"query":"a","keywords":[["x"]]}`, `invalid keywords: want an array of strings, got [["x"]]` + usage},
		{"object for a name", `{"query":"a","database":{}}`, `invalid database: want a string (several names separated by commas), got {}` + usage},
		{"no choice", `{"query":"a","detail":"all"}`, `invalid detail: want one of passages, headings, got "all"` + usage},
		{"no truth", `{"query":"a","whole":"maybe"}`, `invalid whole: want true or false, got "maybe"` + usage},
		{"list", `["a"]`, `invalid arguments of search: want an object, got ["a"]` + usage},
		{"string", `"a"`, `invalid arguments of search: want an object, got "a"` + usage},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := testArguments{TopK: 5}
			err := decode("search", a.params(), parse(t, tt.arguments))
			if err == nil {
				t.Fatalf("no error, got %+v", a)
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func parse(t testing.TB, s string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"query":"a","keywords":["x"],"top_k":3}`, `{"q":1,"terms":"a,b","k":"7"}`, `"{\"query\":\"a\"}"`,
		`{"query":[1,[2,["x"]]]}`, `{"keywords":"[1,[2]]"}`, `{"top_k":1e300}`, `[]`, `null`, `{"":{}}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var v any
		if json.Unmarshal([]byte(s), &v) != nil {
			return
		}
		a := testArguments{TopK: 5}
		if err := decode("search", a.params(), v); err != nil {
			if !strings.Contains(err.Error(), "search takes") && !strings.Contains(err.Error(), "same argument") {
				t.Errorf("%q does not explain the call", err)
			}
			return
		}
		if a.Query == "" || a.TopK < 1 || a.TopK > 50 || (a.Detail != "" && a.Detail != "passages" && a.Detail != "headings") {
			t.Errorf("%s was taken as %+v", s, a)
		}
	})
}
