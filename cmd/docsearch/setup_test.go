package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
)

// Concurrent setups each add their entry to the same config, and no entry is
// lost.
func TestSetupsAtOnce(t *testing.T) {
	b := folderBuilder(t)
	b.writeEdition(t, 0)
	home := t.TempDir()
	path := filepath.Join(home, "config.json")
	if err := os.WriteFile(path, []byte(otherEntry), 0o600); err != nil {
		t.Fatal(err)
	}
	b.setHome(t, home)
	const setups = 4
	var all sync.WaitGroup
	for i := range setups {
		all.Go(func() {
			out, err := setupProcess(t, b, fmt.Sprintf("gadget%d", i), b.source, "--no-install").CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	all.Wait()
	r, err := load.Load(config.Locations{Config: path})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, db := range r.Config.Databases {
		names[db.Name] = true
	}
	for i := range setups {
		if !names[fmt.Sprintf("gadget%d", i)] {
			t.Errorf("the entry of setup %d is lost: %v", i, names)
		}
	}
	if len(names) != 1+setups {
		t.Errorf("entries %v", names)
	}
}
