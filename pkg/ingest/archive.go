package ingest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// limits bounds what an archive may hold, so that a small file cannot fill the
// memory.
type limits struct {
	file    int64 // bytes of the zip file itself, and of one tar member
	total   int64 // bytes of all members
	members int
}

// archiveLimits are generous for real captures: the largest ones have some
// thousand files and some hundred megabytes.
func archiveLimits() limits {
	return limits{file: 1 << 30, total: 2 << 30, members: 1 << 20}
}

// errBomb marks an archive that goes beyond its limits.
var errBomb = errors.New("archive too large")

func tooLarge(limit int64) error {
	return fmt.Errorf("%w: more than %d MiB unpacked", errBomb, limit>>20)
}

// archiveKind is what the first bytes of a file say.
type archiveKind int

const (
	notArchive archiveKind = iota
	zipArchive
	tarArchive
	packed // a compressed stream, of a tar archive or of one file
)

// sniffBytes is how much of a file kindOf needs: a tar header.
const sniffBytes = 512

// kindOf recognises an archive by its first bytes; the name decides only for
// tar files of the oldest form, which have no mark.
func kindOf(head []byte, name string) archiveKind {
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return zipArchive
	case compressedAs(head) != nil:
		return packed
	case len(head) >= 262 && string(head[257:262]) == "ustar":
		return tarArchive
	case strings.HasSuffix(strings.ToLower(name), ".tar") && len(head) >= sniffBytes:
		return tarArchive
	default:
		return notArchive
	}
}

// safeName returns a member's name in the form of package fs; ok is false for
// an absolute name and for one that leads upwards.
func safeName(name string) (string, bool) {
	if name == "" || name[0] == '/' || strings.ContainsAny(name, "\\\x00") {
		return "", false
	}
	for _, element := range strings.Split(name, "/") {
		if element == ".." {
			return "", false
		}
	}
	name = path.Clean(name)
	return name, fs.ValidPath(name)
}

// wanted reports whether a member can be of use, by its name: raw traces are
// large and are not read.
func wanted(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	if ext == ".json" || ext == ".csv" || strings.HasPrefix(path.Base(name), "source_") {
		return true
	}
	name = unpackedName(name)
	for _, log := range databaseLogs {
		name = strings.TrimSuffix(name, log) // rows may be in it alone
	}
	return slices.ContainsFunc(formats(), func(f format) bool { return f.named(name) })
}

// databaseLogs end the names of files that SQLite keeps beside a database and
// that hold a part of it. Source: SQLite, "Temporary Files Used By SQLite".
var databaseLogs = [...]string{"-wal", "-journal"}

// listed reports whether it is enough to know that a member is there.
func listed(name string) bool { return strings.HasSuffix(name, rawSuffix) || isArchiveName(name) }

// rawSuffix ends the names of thread traces that were not decoded.
const rawSuffix = ".att"

// members chooses what to read of an archive, by name.
type members struct {
	names   map[string]bool // true for a file, false for a directory above one
	skipped int
}

// take returns the name under which to read a member; ok is false when it is
// not read. A name that another member has, or needs as a directory, is left
// out: package zip would not list the directory that holds both.
func (m *members) take(name string, regular bool) (safe string, ok bool) {
	safe, ok = safeName(name)
	if !ok || !regular {
		m.skipped++
		return "", false
	}
	if !wanted(safe) && !listed(safe) {
		return "", false
	}
	_, taken := m.names[safe]
	for dir := path.Dir(safe); dir != "."; dir = path.Dir(dir) {
		taken = taken || m.names[dir]
	}
	if taken {
		m.skipped++
		return "", false
	}
	m.names[safe] = true
	for dir := path.Dir(safe); dir != "."; dir = path.Dir(dir) {
		m.names[dir] = false
	}
	return safe, true
}

// members is the file system of an archive: that of package zip, which finds
// files and lists directories quickly, with files that can be read at any
// offset, as databases and code objects are.
type memberFS struct {
	*zip.Reader
	at     io.ReaderAt // the zip file
	byName map[string]*zip.File
}

func newMemberFS(z *zip.Reader, at io.ReaderAt) *memberFS {
	m := &memberFS{Reader: z, at: at, byName: map[string]*zip.File{}}
	for _, f := range z.File {
		if name, ok := safeName(f.Name); ok && m.byName[name] == nil {
			m.byName[name] = f
		}
	}
	return m
}

// Open opens a member.
func (m *memberFS) Open(name string) (fs.File, error) {
	f, err := m.Reader.Open(name)
	z := m.byName[name]
	if err != nil || z == nil {
		return f, err
	}
	return &member{File: f, of: m, z: z}, nil
}

// member is an open member of an archive.
type member struct {
	fs.File
	of    *memberFS
	z     *zip.File
	whole io.ReaderAt // nil until it was asked for
	spool *spool
}

// ReadAt reads at an offset: from its place where it is stored as it is, else
// what was unpacked for that.
func (m *member) ReadAt(p []byte, off int64) (int, error) {
	if m.whole == nil {
		if err := m.open(); err != nil {
			return 0, err
		}
	}
	return m.whole.ReadAt(p, off)
}

func (m *member) open() error {
	if m.z.Method == zip.Store {
		at, err := m.z.DataOffset()
		m.whole = io.NewSectionReader(m.of.at, at, int64(m.z.UncompressedSize64))
		return err
	}
	r, err := m.z.Open()
	if err != nil {
		return err
	}
	m.spool, err = fill(r, archiveLimits().total)
	m.whole = m.spool
	return errors.Join(err, r.Close())
}

// Close closes it.
func (m *member) Close() error {
	err := m.File.Close()
	if m.spool != nil {
		err = errors.Join(err, m.spool.Close())
	}
	return err
}

// readTar unpacks a tar stream in one pass, as a zip archive that is not
// compressed. A stream that breaks off gives the members before the break, and
// a note. The spool is to be closed when the files are no longer needed.
func readTar(r io.Reader, lim limits) (*memberFS, *spool, []trace.Note, error) {
	s := &spool{}
	w := zip.NewWriter(s)
	kept := &members{names: map[string]bool{}}
	cut, broken, err := repack(r, w, lim, kept)
	if err == nil && broken == nil {
		_, broken = io.Copy(io.Discard, r) // what follows the archive holds the checksum of a packed one
	}
	err = errors.Join(err, w.Close())
	var z *zip.Reader
	if err == nil {
		z, err = zip.NewReader(s, s.size)
	}
	if err != nil {
		return nil, nil, nil, errors.Join(err, s.Close())
	}
	if cut != "" {
		z.File = slices.DeleteFunc(z.File, func(f *zip.File) bool { return f.Name == cut })
	}
	return newMemberFS(z, s), s, memberNotes(kept.skipped, broken), nil
}

// repack copies the members of a tar stream. broken is what ended the stream
// early, cut the member in which it did, err what makes the archive unreadable.
func repack(r io.Reader, w *zip.Writer, lim limits, kept *members) (cut string, broken, err error) {
	in := &countingReader{r: r}
	tr := tar.NewReader(in)
	var total int64
	for n := 1; ; n++ {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return "", nil, nil
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return "", err, nil
		}
		if n > lim.members {
			return "", nil, fmt.Errorf("%w: more than %d members", errBomb, lim.members)
		}
		if in.n > lim.total {
			return "", nil, tooLarge(lim.total)
		}
		if h.Typeflag == tar.TypeDir || h.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		name, ok := kept.take(h.Name, h.Typeflag == tar.TypeReg)
		if !ok {
			continue
		}
		limit := min(lim.file, lim.total-total)
		if h.Size > limit && !listed(name) {
			return "", nil, fmt.Errorf("%s: %w", name, tooLarge(limit))
		}
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			return "", nil, fmt.Errorf("%s: %w", name, err)
		}
		if listed(name) {
			continue
		}
		n, err := io.Copy(f, io.LimitReader(tr, limit))
		total += n
		if err != nil {
			return name, err, nil
		}
	}
}

// countingReader counts what was read, skipped members included.
type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// readMember reads one member; memory follows the bytes that arrive.
func readMember(r io.Reader, limit int64) ([]byte, error) {
	var buf bytes.Buffer
	if _, err := io.Copy(&buf, io.LimitReader(r, limit+1)); err != nil {
		return nil, err
	}
	if int64(buf.Len()) > limit {
		return nil, tooLarge(limit)
	}
	return buf.Bytes(), nil
}

// memberNotes says what of an archive was not read.
func memberNotes(skipped int, broken error) []trace.Note {
	var notes []trace.Note
	if broken != nil {
		notes = append(notes, trace.Note{Level: trace.Damage, Text: fmt.Sprintf("the archive breaks off (%s): what follows is lost", broken)})
	}
	if skipped > 0 {
		notes = append(notes, trace.Note{Level: trace.Warning, Text: trace.Many(skipped, "member is", "members are") + " left out: links, absolute names, names with \"..\", or names that come twice"})
	}
	return notes
}

// readZip reads a zip archive: members are unpacked when they are opened.
func readZip(r io.ReaderAt, size int64, lim limits) (*memberFS, []trace.Note, error) {
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, nil, err
	}
	if len(z.File) > lim.members {
		return nil, nil, fmt.Errorf("%w: more than %d members", errBomb, lim.members)
	}
	files := z.File[:0]
	kept := &members{names: map[string]bool{}}
	var total uint64
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		if _, ok := kept.take(f.Name, f.Mode().IsRegular()); !ok {
			continue
		}
		if bombRatio(f.UncompressedSize64, f.CompressedSize64) {
			return nil, nil, fmt.Errorf("%s: %w: %d MiB of %d KiB", f.Name, errBomb, f.UncompressedSize64>>20, f.CompressedSize64>>10)
		}
		if listed(f.Name) {
			files = append(files, f)
			continue
		}
		// The reader of a member fails beyond the size that is declared here.
		if f.UncompressedSize64 > uint64(lim.total) || total+f.UncompressedSize64 > uint64(lim.total) {
			return nil, nil, tooLarge(lim.total)
		}
		total += f.UncompressedSize64
		files = append(files, f)
	}
	z.File = files
	return newMemberFS(z, r), memberNotes(kept.skipped, nil), nil
}
