package ingest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
)

// References to labels and documents of other files show their titles, and follow them: after
// each change, an update has the passages of a build.
func TestTitlesOfReferences(t *testing.T) {
	dir := t.TempDir()
	ingesttest.WriteFiles(t, dir, map[string]string{
		"docs/index.rst":      "Start\n=====\n\nRead :ref:`gear-teeth`, :doc:`howto/turn` and :ref:`none`.\n\n.. _own:\n\nOwn part\n--------\n\nSee :ref:`Own`.\n",
		"docs/gear.rst":       "====\nGear\n====\n\nGears.\n\n.. _gear-teeth:\n\n.. index:: tooth\n\nTeeth of ``gears``\n------------------\n\nThey mesh. See :ref:`the start <own>`, :ref:`own` and :ref:`genindex`.\n",
		"docs/howto/turn.rst": ".. _turn:\n\nTurn the crank\n==============\n\nFirst read :doc:`/gear`, then :doc:`../index`, :doc:`this <../gear>`\nand :ref:`gear\nteeth`.\n\n.. _gear teeth:\n\nTeeth here\n----------\n\nHere.\n",
		"old/gear.rst":        "Gear\n====\n\nOld.\n\n.. _gear-teeth:\n\nOld teeth\n---------\n\nThe :ref:`gear-teeth`. More in :doc:`/gear`.\n",
		"docs/howto/gear.rst": "Near\n====\n\nNear.\n",
		"notes.txt":           ".. _notes:\n\nAll notes\n=========\n\n:ref:`turn` is a note, as :doc:`docs/gear` is.\n\n.. note:: One.\n\n.. warning:: Two.\n",
		"part.inc":            "Included: :ref:`turn`.\n",
		"including.rst":       "Including\n=========\n\n.. include:: part.inc\n\nEnd.\n",
	})
	open := func() *Folder {
		f, err := NewFolder(dir, folder.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	have := generate(t, open(), nil)
	wanted := []string{
		`Read Teeth of gears, Turn the crank and none.`, `See Own part.`, `See the start, Own part and Index.`,
		`First read Gear, then Start, this\nand Teeth here.`, `The Old teeth. More in Gear.`,
		`Turn the crank is a note, as Gear is.`, `Included: Turn the crank.`,
	}
	for _, want := range wanted {
		if !strings.Contains(string(have.lines), want) {
			t.Errorf("no %q in\n%s", want, have.lines)
		}
	}
	if generate(t, open(), &have.Generation) != nil {
		t.Error("nothing has changed, and all is read again")
	}
	for _, step := range []struct {
		change  map[string]string // "": the file is removed
		changed int               // documents that an update reads, with those that show a title
		want    string
	}{
		{map[string]string{"docs/gear.rst": "Gear\n====\n\nGears.\n\n.. _gear-teeth:\n\nCogs\n----\n\nThey mesh.\n"}, 2, "Read Cogs, Turn"},
		{map[string]string{"docs/howto/turn.rst": ".. _turn:\n\nRotate\n======\n\nRotate it.\n"}, 4, "Included: Rotate."},
		{map[string]string{"notes.txt": ".. _notes:\n\nAll notes\n=========\n\n:ref:`turn` is a note.\n\n.. note:: One.\n"}, 1, "Rotate is a note."},
		{map[string]string{"docs/gear.rst": ""}, 1, "Read Old teeth, Rotate"},
		{map[string]string{"old/gear.rst": ""}, 1, "Read gear-teeth, Rotate"},
	} {
		for name, text := range step.change {
			if text != "" {
				ingesttest.WriteFiles(t, dir, map[string]string{name: text})
			} else if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		f := open()
		now, built := generate(t, f, &have.Generation), generate(t, open(), nil)
		if now == nil {
			t.Fatalf("%v: no update", step.change)
		}
		if diff := cmp.Diff(string(built.lines), string(now.lines)); diff != "" {
			t.Errorf("%v: (-built +updated)\n%s", step.change, diff)
		}
		if !strings.Contains(string(now.lines), step.want) {
			t.Errorf("%v: no %q in\n%s", step.change, step.want, now.lines)
		}
		if got := f.Changes().Changed; got != step.changed && len(step.change) > 0 {
			t.Errorf("%v: %d documents are read, want %d", step.change, got, step.changed)
		}
		have = now
	}
}
