package lexical

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPageNames(t *testing.T) {
	var documents []uint32
	var fields []Fields
	var want []string
	add := func(page string) {
		documents = append(documents, uint32(len(documents)))
		fields = append(fields, Fields{Page: page, Title: page, Body: "It has a page."})
	}
	for i := range 100 { // several blocks of the dictionary
		add(fmt.Sprintf("tool_%02dx", i))
		want = append(want, fmt.Sprintf("tool%02dx", i))
	}
	for _, page := range []string{
		"zz_dump", "Zctl(1)", "zymotic — Fermentation", // names
		"test", "find — Find files", "with", // everyday words
		"redis",      // other software
		"cp",         // too short
		"Over there", // no name
	} {
		add(page)
	}
	want = append(want, "zctl", "zymotic", "zzdump")
	got, err := build(t, documents, fields).PageNames()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
