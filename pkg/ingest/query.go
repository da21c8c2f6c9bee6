package ingest

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/rocpd"
)

// Query runs SQL that only reads on a rocpd database on disk, and returns up
// to limit rows, all of them for 0. Errors are *PathError for the database,
// *rocpd.QueryError for the query, or that of the context.
func Query(ctx context.Context, p, query string, limit int) (res *rocpd.QueryResult, err error) {
	real, info, err := resolve(p)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &PathError{Path: p, Problem: "not a file", Advice: "give one database (*_results.db)"}
	}
	c := candidate{fsys: dirFS(filepath.Dir(real)), name: filepath.Base(real), shown: filepath.ToSlash(p), real: real}
	if err := errors.Join(c.start(), c.stop()); err != nil {
		return nil, c.fail(err, "")
	}
	switch {
	case len(c.head) == 0:
		err = rocpd.ErrEmpty
	case !rocpd.Sniff(c.head):
		err = rocpd.NotSQLite(c.head)
	default:
		res, err = rocpd.Query(ctx, rocpd.File{FS: c.fsys, Name: c.name, Shown: c.shown}, query, limit)
	}
	var refused *rocpd.QueryError
	if errors.As(err, &refused) {
		return res, err
	}
	return res, databaseError(ctx.Err(), p, err)
}
