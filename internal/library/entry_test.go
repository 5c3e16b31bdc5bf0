package library

import (
	"reflect"
	"testing"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/edit"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/setup"
	"github.com/docsearch/docsearch/recipes"
)

func TestProposeEntry(t *testing.T) {
	p := &Plan{Dir: t.TempDir()}
	found := &setup.Suggestions{Keyword: "widgets"}
	recipe := &ChosenRecipe{versioned: true, Recipe: &recipes.Recipe{
		Title: "Widgets", Version: "2.1", Keywords: []string{"widgets", "wid"}, URLs: []string{"https://widgets.example/"},
	}}
	chosen := &ChosenPack{
		Head: &pack.Head{Manifest: &pack.Manifest{Keywords: []string{"packed"}, Description: "From the pack"}},
		URLs: []string{"https://pack.example/"}, Publisher: "docs.example+1234+key",
	}
	own := &config.Database{Name: "mine", Keywords: []string{"m"}, Path: p.Dir + "/.", Description: "Mine"}
	other := &config.Database{Name: "mine", Keywords: []string{"m"}, Path: t.TempDir(), Description: "Mine"}
	withURL := &config.Database{Name: "mine", Path: p.Dir, URLs: []string{"https://mine.example/"}}
	for _, c := range []struct {
		name   string
		recipe *ChosenRecipe
		pack   *ChosenPack
		old    *config.Database
		want   edit.Entry
	}{
		{"suggested", nil, nil, nil,
			edit.Entry{Name: "w", Keywords: []string{"widgets"}, Path: p.Dir, Description: "widgets documentation"}},
		{"recipe", recipe, nil, nil, edit.Entry{Name: "w", Keywords: []string{"widgets", "wid"}, Path: p.Dir,
			Description: "Widgets documentation", URLs: []string{"https://widgets.example/"}, Version: "2.1"}},
		{"pack", nil, chosen, nil, edit.Entry{Name: "w", Keywords: []string{"packed"}, Path: p.Dir,
			Description: "From the pack", URLs: []string{"https://pack.example/"}, Publisher: "docs.example"}},
		{"own entry", recipe, nil, own, edit.Entry{Name: "mine", Keywords: []string{"m"}, Path: own.Path,
			Description: "Mine", URLs: []string{"https://widgets.example/"}, Version: "2.1"}},
		{"entry of another database", nil, nil, other,
			edit.Entry{Name: "mine", Keywords: []string{"m"}, Path: p.Dir, Description: "Mine"}},
		{"entry without URLs, and a pack", nil, chosen, own,
			edit.Entry{Name: "mine", Keywords: []string{"m"}, Path: own.Path, Description: "Mine", Publisher: "docs.example"}},
		{"entry with URLs", recipe, nil, withURL,
			edit.Entry{Name: "mine", Path: p.Dir, URLs: []string{"https://mine.example/"}, Version: "2.1"}},
	} {
		got := p.ProposeEntry("w", found, c.recipe, c.pack, c.old)
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got  %+v\nwant %+v", c.name, got, c.want)
		}
	}
}
