package activity

import (
	"fmt"
	"os"
	"time"

	"github.com/docsearch/docsearch/internal/background"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/eventlog"
	"github.com/docsearch/docsearch/internal/eventlog/adapt"
)

// AdaptThresholds moves the thresholds by the events since the last update, if the config
// allows it.
func AdaptThresholds() error {
	l := config.Locate(os.Getenv)
	r, err := load.Load(l)
	if err != nil {
		return err
	}
	if !r.Config.Hook.Adapt || l.State == "" {
		return nil
	}
	background.LowerPriority()
	var f adapt.Follower
	if _, err := (eventlog.Log{Dir: l.State}).Read(func(e eventlog.Event) error {
		f.Add(e)
		return nil
	}); err != nil {
		return fmt.Errorf("cannot read the event log: %w", err)
	}
	moved := false
	err = adapt.Store{Dir: l.State}.Update(func(all *adapt.Thresholds) {
		moved = all.Observe(AnsweringDatabases(&r.Config), f.Searches(), time.Now().Add(-adapt.Window))
	})
	if err != nil || !moved {
		return err
	}
	return config.Forget(l)
}
