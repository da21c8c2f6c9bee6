package rocpd

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"
	"modernc.org/sqlite/vfs"
)

// SniffBytes of a file are enough for Sniff.
const SniffBytes = 16

// Sniff reports whether a file begins as an SQLite database does.
func Sniff(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }

// File is where a database lies.
type File struct {
	FS   fs.FS
	Name string
	// Shown is the path as the user can find it again.
	Shown string
	// Opened is the file when it is open already; whoever opens the database
	// takes it over.
	Opened fs.File
	// Keep leaves the database open between reads.
	Keep bool
}

// opened is an open database file and its log.
type opened struct {
	*image
	closers []io.Closer
}

func (o *opened) Close() error {
	var errs []error
	for _, c := range o.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// open opens the database with its write-ahead log.
func (f File) open() (*opened, error) {
	o := &opened{}
	if err := o.all(f); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

func (o *opened) all(f File) error {
	db, size, err := o.main(f)
	if err != nil {
		return err
	}
	wal, walSize, err := o.file(f.FS, f.Name+"-wal")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("its write-ahead log cannot be read: %w", err)
	}
	if o.image, err = newImage(db, size, wal, walSize); err != nil {
		return err
	}
	journal, _, err := o.file(f.FS, f.Name+"-journal")
	if err == nil && hotJournal(journal) {
		return errors.New("writing it was cut short, its -journal was not rolled back: open a copy of both with sqlite3 once, then give the copy")
	}
	return nil
}

// main opens the database itself.
func (o *opened) main(f File) (io.ReaderAt, int64, error) {
	if f.Opened != nil {
		return o.take(f.Opened, f.Name)
	}
	return o.file(f.FS, f.Name)
}

// file opens one file for reading at any offset.
func (o *opened) file(fsys fs.FS, name string) (io.ReaderAt, int64, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, 0, err
	}
	return o.take(f, name)
}

// take reads an open file, and closes it in the end.
func (o *opened) take(f fs.File, name string) (io.ReaderAt, int64, error) {
	o.closers = append(o.closers, f)
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	r, ok := f.(io.ReaderAt)
	if !ok {
		return nil, 0, fmt.Errorf("%s cannot be read at any offset", name)
	}
	return r, info.Size(), nil
}

// hotJournal reports whether a rollback journal holds something. Source:
// SQLite "Database File Format", section 3.
func hotJournal(r io.ReaderAt) bool {
	var h [8]byte
	n, err := r.ReadAt(h[:], 0)
	return (err == nil || errors.Is(err, io.EOF)) && string(h[:n]) == "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
}

// session is a database that answers SQL.
type session struct {
	*opened
	db  *sqlx.DB
	vfs *vfs.FS
}

// settings of every connection: temporary results stay in memory, since
// nothing may be written, and views of the file run no functions with side
// effects.
const settings = "&mode=ro&_pragma=temp_store(2)&_pragma=trusted_schema(0)"

// sql opens the database for SQL.
func (f File) sql() (s *session, err error) {
	s = &session{}
	if s.opened, err = f.open(); err != nil {
		return nil, err
	}
	name, v, err := vfs.New(s.image)
	if err != nil {
		return nil, errors.Join(err, s.opened.Close())
	}
	s.vfs = v
	c, err := sqlite.NewConnector("file:" + imageName + "?vfs=" + name + settings)
	if err != nil {
		return nil, errors.Join(err, v.Close(), s.opened.Close())
	}
	s.db = sqlx.NewDb(sql.OpenDB(c), "sqlite")
	s.db.SetMaxOpenConns(2)
	return s, nil
}

// Close closes the database and its files.
func (s *session) Close() error {
	return errors.Join(s.db.Close(), s.vfs.Close(), s.opened.Close())
}
