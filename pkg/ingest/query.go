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
	f := located{fsys: dirFS(filepath.Dir(real)), name: filepath.Base(real), shown: filepath.ToSlash(p), real: real}
	s, err := sniff(f)
	if err != nil {
		return nil, &PathError{Path: p, Problem: cause(err), Err: err}
	}
	head := s.head
	if err := s.Close(); err != nil {
		return nil, &PathError{Path: p, Problem: cause(err), Err: err}
	}
	switch {
	case len(head) == 0:
		err = rocpd.ErrEmpty
	case !rocpd.Sniff(head):
		err = rocpd.NotSQLite(head)
	default:
		res, err = rocpd.Query(ctx, rocpd.File{FS: f.fsys, Name: f.name, Shown: f.shown}, query, limit)
	}
	var other *rocpd.NotDatabase
	var refused *rocpd.QueryError
	switch {
	case err == nil || ctx.Err() != nil || errors.As(err, &refused):
		return res, err
	case errors.As(err, &other):
		return nil, &PathError{Path: p, Problem: other.Problem, Advice: other.Advice, Err: err}
	}
	return nil, &PathError{Path: p, Problem: cause(err), Err: err}
}
