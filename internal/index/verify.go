package index

import (
	"context"
	"errors"
	"fmt"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/progress"
)

// A Report is the result of Verify.
type Report struct {
	Info
	// Problems are sentences, one per problem. Without problems, the index is valid.
	Problems []string
	// Recall is measured by Verify. Nil: no vectors.
	Recall *generation.Recall
}

// Verify reads every file of the database at path and compares it with its checksums,
// its counts and the passages. It also measures the recall of the vector search. The
// error reports why verification was impossible.
func Verify(ctx context.Context, path string, report progress.Func) (Report, error) {
	var r Report
	var err error
	if r.Info, err = Inspect(path); err != nil {
		return r, err
	}
	g, err := generation.Current(r.Dir)
	if err != nil {
		return r, err
	}

	var total, done int64
	for _, f := range g.Files {
		total += f.Size
	}
	err = g.Verify(func(n int64) {
		done += n
		report.Report("checking files", done, total)
	})
	if r.add(err); err != nil {
		return r, nil
	}

	// A build replaces the published files just after its generation is current.
	if !generation.InProgress(r.Dir) {
		damaged := damagedPublished(r.Dir, g)
		if now, err := generation.Current(r.Dir); err == nil && now.Generation == g.Generation {
			for _, err := range damaged {
				r.add(err)
			}
		}
	}

	db, err := Open(path)
	if r.add(err); err != nil {
		return r, nil
	}
	defer db.Close()
	if have, want := db.table.Passages(), r.Passages; have != want {
		r.add(fmt.Errorf("the table has %d passages, want %d", have, want))
	}
	if have, want := db.lexical.Passages(), r.Passages; have != want {
		r.add(fmt.Errorf("the lexical index has %d passages, want %d", have, want))
	}
	r.add(db.lexical.Verify(nil))
	done, total = 0, int64(r.Passages)
	r.add(db.table.Verify(func(n int64) {
		done += n
		report.Report("checking passages", done, total)
	}))

	if err := ctx.Err(); err != nil {
		return r, err
	}
	if db.vectors != nil {
		r.add(errors.Join(db.embedder.Verify(nil), db.vectors.Verify(nil)))
		report.Report("measuring recall", 0, 0)
		r.Recall, err = db.measureRecall(ctx)
		r.add(err)
		if r.Recall != nil && r.Recall.Value < minRecall {
			r.add(fmt.Errorf("recall@%d is %.4f, want at least %.2f", r.Recall.At, r.Recall.Value, minRecall))
		}
	}
	if db.provided != nil {
		r.add(db.provided.Verify(nil))
	}
	return r, ctx.Err()
}

func (r *Report) add(err error) {
	if err != nil {
		r.Problems = append(r.Problems, err.Error())
	}
}
