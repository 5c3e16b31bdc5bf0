package manage

import (
	"context"
	"errors"
	"testing"
)

// A slowMachine blocks while it reads a database named "slow".
type slowMachine struct {
	*testMachine
	began   chan struct{}
	release chan struct{}
}

func (m *slowMachine) wait(name string) {
	if name == "slow" {
		m.began <- struct{}{}
		<-m.release
	}
}

func (m *slowMachine) Databases(context.Context) ([]Database, error) {
	all := m.databases
	m.wait(all[0].Name)
	return all, nil
}

// A page that waits for a slow file ends when its request ends, and delays no other one.
func TestSlowFiles(t *testing.T) {
	slow, quick := Database{Name: "slow", Path: "/slow"}, Database{Name: "quick", Path: "/quick"}
	gone, leave := context.WithCancel(t.Context())
	leave()
	for name, read := range map[string]func(*Pages, context.Context, Database) error{
		"databases": func(p *Pages, ctx context.Context, d Database) error {
			all, err := p.list(ctx)
			if err == nil && all[0].Name != d.Name {
				t.Errorf("databases: got %q, want %q", all[0].Name, d.Name)
			}
			return err
		},
	} {
		m := &slowMachine{&testMachine{databases: []Database{slow}}, make(chan struct{}), make(chan struct{})}
		p := &Pages{Options: Options{Machine: m, State: t.TempDir()}}
		ended := make(chan error)
		go func() { ended <- read(p, t.Context(), slow) }()
		<-m.began
		if err := read(p, gone, slow); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: a request that has ended: %v", name, err)
		}
		m.databases = []Database{quick}
		p.databases.forget()
		for range 2 { // the second from memory
			if err := read(p, t.Context(), quick); err != nil {
				t.Errorf("%s: another request: %v", name, err)
			}
		}
		close(m.release)
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := read(p, t.Context(), quick); err != nil {
			t.Errorf("%s: after the slow one: %v", name, err)
		}
	}
}
