package rocpd

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"modernc.org/sqlite"
)

// QueryResult is what a query gave.
type QueryResult struct {
	// Columns are as SQLite names them.
	Columns []string
	// Rows hold int64, float64, string, []byte or nil. Text that is not UTF-8
	// is made so.
	Rows [][]any
	// More is set when there are rows beyond the limit.
	More bool
}

// QueryError is a query that SQLite refuses.
type QueryError struct {
	// Problem is what SQLite says, Hints name what exists instead.
	Problem string
	Hints   []string
}

// Error returns all parts in one line.
func (e *QueryError) Error() string {
	return strings.Join(append([]string{e.Problem}, e.Hints...), "; ")
}

// Query runs SQL that only reads, and returns up to limit rows, all of them
// for 0. The names of tables without suffix stand for the rows of all table
// sets. The error is a *NotDatabase, a *QueryError or that of the context.
func Query(ctx context.Context, f File, query string, limit int) (res *QueryResult, err error) {
	s, err := f.sql()
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := s.Close(); err == nil {
			err = cerr
		}
	}()
	sch, err := s.schema(ctx)
	if err != nil {
		return nil, s.unreadable(ctx, err)
	}
	if err := recognise(sch); err != nil {
		return nil, err
	}
	if err := s.allTables(ctx, sch); err != nil {
		return nil, s.unreadable(ctx, err)
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := conn.Close(); err == nil {
			err = cerr
		}
	}()
	for _, v := range sch.views() {
		if _, err := conn.ExecContext(ctx, "CREATE TEMP VIEW "+quote(v.name)+" AS "+v.sql); err != nil {
			return nil, fmt.Errorf("view %s: %w", v.name, err)
		}
	}
	if err := conn.Raw(readOnly); err != nil {
		return nil, err
	}
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return nil, queryError(ctx, sch, query, err)
	}
	res, err = collect(rows, limit)
	if err != nil {
		return nil, queryError(ctx, sch, query, err)
	}
	return res, nil
}

func collect(rows *sql.Rows, limit int) (res *QueryResult, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	res = &QueryResult{}
	if res.Columns, err = rows.Columns(); err != nil {
		return nil, err
	}
	for rows.Next() {
		if limit > 0 && len(res.Rows) == limit {
			res.More = true
			return res, nil
		}
		row, into := make([]any, len(res.Columns)), make([]any, len(res.Columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		for i := range row {
			row[i] = plain(row[i])
		}
		res.Rows = append(res.Rows, row)
	}
	return res, rows.Err()
}

// plain makes a value printable.
func plain(v any) any {
	switch v := v.(type) {
	case string:
		return strings.ToValidUTF8(v, "\uFFFD")
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprint(v)
		}
	case []byte:
		return slices.Clone(v)
	}
	return v
}

// readOnly lets a connection read and do nothing else.
func readOnly(driverConn any) error {
	r, ok := driverConn.(sqlite.AuthorizerRegisterer)
	if !ok {
		return errors.New("the SQLite driver has no authorizer")
	}
	return r.RegisterAuthorizer(authorize)
}

// readPragmas only describe tables.
var readPragmas = []string{"table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list"}

// authorize decides about one operation of a statement. Environments of
// processes may hold secrets: they read as NULL.
func authorize(action sqlite.AuthorizerActionCode, arg1, arg2, _, _ string) sqlite.AuthorizerReturnCode {
	switch action {
	case sqlite.AuthSelect, sqlite.AuthFunction, sqlite.AuthRecursive:
		return sqlite.AuthorizerOK
	case sqlite.AuthRead:
		if strings.HasPrefix(strings.ToLower(arg1), "rocpd_info_process") && strings.EqualFold(arg2, "environment") {
			return sqlite.AuthorizerIgnore
		}
		return sqlite.AuthorizerOK
	case sqlite.AuthPragma:
		if slices.Contains(readPragmas, strings.ToLower(arg1)) {
			return sqlite.AuthorizerOK
		}
	}
	return sqlite.AuthorizerDeny
}

// refusals are parts of SQLite's messages about statements that would write.
var refusals = []string{"not authorized", "authorization denied", "readonly", "cannot modify"}

// queryError says why a query failed, with hints where it uses names that
// there are not.
func queryError(ctx context.Context, sch *schema, query string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	text := sqlText(err)
	if slices.ContainsFunc(refusals, func(r string) bool { return strings.Contains(text, r) }) {
		return &QueryError{Problem: "only reading is allowed", Hints: []string{"use SELECT, WITH, VALUES or PRAGMA table_info(NAME)"}}
	}
	e := &QueryError{Problem: text}
	if strings.Contains(text, "no such table") || strings.Contains(text, "no such column") {
		e.Hints = sch.hints(query, text)
	}
	return e
}
