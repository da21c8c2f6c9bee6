package main

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"

	_ "modernc.org/sqlite" // the driver that writes the databases
)

//go:embed schema3.sql
var schema3 string

//go:embed schema41.sql
var schema41 string

// The databases of older profilers: rocmProfileData, and rocprof with and
// without a table of dispatches.
var (
	//go:embed rpd.sql
	rpdScript string
	//go:embed rocprof.sql
	rocprofScript string
	//go:embed rocprofkern.sql
	rocprofKernScript string
)

// write makes one database file. Everything that is not its content is fixed,
// so that the same content gives the same bytes.
func write(ctx context.Context, path string, c *capture) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	db, err := sql.Open("sqlite", fmt.Sprintf("file:%s?_pragma=page_size(%d)&_pragma=journal_mode(off)&_pragma=synchronous(off)", path, c.pageSize))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	err = errors.Join(fill(ctx, db, c), db.Close())
	if err != nil {
		return err
	}
	return stamp(path)
}

// stamp fixes the field that says which release of SQLite wrote the file.
// Source: SQLite "Database File Format", section 1.3.
func stamp(path string) (err error) {
	const offset, release = 96, "\x00\x2d\xf0\x40" // 3011648
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.WriteAt([]byte(release), offset)
	return err
}

// fill creates the tables and inserts the rows in one transaction.
func fill(ctx context.Context, db *sql.DB, c *capture) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	text := schema3
	switch {
	case c.script != "":
		text = c.script
	case c.tracks:
		text = schema41
	}
	if _, err := tx.ExecContext(ctx, strings.ReplaceAll(text, "{{s}}", c.suffix())); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if c.script != "" {
		return tx.Commit()
	}
	for _, t := range c.tables() {
		if err := insert(ctx, tx, t.name+c.suffix(), t.rows); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", t.name, err), tx.Rollback())
		}
	}
	return tx.Commit()
}

// insert adds rows, each with a value for every column.
func insert(ctx context.Context, tx *sql.Tx, table string, rows iter.Seq[[]any]) error {
	var stmt *sql.Stmt
	for row := range rows {
		if stmt == nil {
			var err error
			marks := strings.TrimSuffix(strings.Repeat("?,", len(row)), ",")
			if stmt, err = tx.PrepareContext(ctx, fmt.Sprintf("INSERT INTO %q VALUES (%s)", table, marks)); err != nil {
				return err
			}
		}
		if _, err := stmt.ExecContext(ctx, row...); err != nil {
			return errors.Join(err, stmt.Close())
		}
	}
	if stmt == nil {
		return nil
	}
	return stmt.Close()
}
