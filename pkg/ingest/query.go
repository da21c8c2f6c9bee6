package ingest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/rocpd"
)

// Query runs SQL that only reads on a rocpd database: a file, packed or not, or
// what comes through a pipe. It returns up to limit rows, all of them for 0.
// Errors are *PathError for the database, *rocpd.QueryError for the query, or
// that of the context.
func Query(ctx context.Context, stdin io.Reader, p, query string, limit int) (res *rocpd.QueryResult, err error) {
	o := newOpener(ctx, Options{Stdin: stdin})
	defer func() { err = errors.Join(err, o.tr.Close()) }()
	c, err := o.one(p)
	if err != nil {
		return nil, err
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

// one gives a file or a stream, unpacked.
func (o *opener) one(p string) (c candidate, err error) {
	if streamed(p) {
		c, err = o.stream(p)
	} else {
		var real string
		var info fs.FileInfo
		if real, info, err = resolve(p); err == nil && !info.Mode().IsRegular() {
			err = &PathError{Path: p, Problem: "not a file", Advice: "give one database (*_results.db)"}
		}
		c = candidate{fsys: dirFS(filepath.Dir(real)), name: filepath.Base(real), shown: filepath.ToSlash(p), real: real}
	}
	if err != nil {
		return c, err
	}
	err = c.start()
	if err == nil && kindOf(c.head, "") == packed {
		var r io.Reader
		if r, err = o.unpacked(&c); err == nil {
			err = o.replace(&c, r)
		}
	}
	return c, c.fail(errors.Join(err, c.stop()), "")
}

// IsCapture reports whether a path is a file that holds something of a capture,
// by its content or by the dispatch directory that it lies in.
func IsCapture(p string) bool {
	real, info, err := resolve(p)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	c := candidate{fsys: dirFS(filepath.Dir(real)), name: filepath.Base(real), shown: p, real: real, given: true}
	if err := errors.Join(c.start(), c.stop()); err != nil {
		return false
	}
	return kindOf(c.head, real) != notArchive || isDispatch(filepath.Dir(real)) || slices.ContainsFunc(formats(), func(f format) bool { return f.sniff(&c) })
}
