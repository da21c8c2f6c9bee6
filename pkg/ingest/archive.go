package ingest

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
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

// archiveKind is what the first bytes of a file say.
type archiveKind int

const (
	notArchive archiveKind = iota
	zipArchive
	gzipArchive
	tarArchive
)

// sniffBytes is how much of a file kindOf needs: a tar header.
const sniffBytes = 512

// kindOf recognises an archive by its first bytes; the name decides only for
// tar files of the oldest form, which have no mark.
func kindOf(head []byte, name string) archiveKind {
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return zipArchive
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return gzipArchive
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

// wanted reports whether a member can be of use: raw traces and code objects
// are large and are not read.
func wanted(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".json" || ext == ".csv" || strings.HasPrefix(path.Base(name), "source_")
}

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
	if !wanted(safe) {
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

// readTar reads a tar stream into memory in one pass, as a zip archive that is
// not compressed: package zip finds files and lists directories quickly. A
// stream that breaks off gives the members before the break, and a note.
func readTar(r io.Reader, lim limits) (fs.FS, []trace.Note, error) {
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	kept := &members{names: map[string]bool{}}
	broken, err := repack(r, w, lim, kept)
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, nil, err
	}
	z, err := zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
	return z, memberNotes(kept.skipped, broken), err
}

// repack copies the members of a tar stream. broken is what ended the stream
// early, err what makes the archive unreadable.
func repack(r io.Reader, w *zip.Writer, lim limits, kept *members) (broken, err error) {
	in := &countingReader{r: r}
	tr := tar.NewReader(in)
	var total int64
	for n := 1; ; n++ {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return err, nil
		}
		if n > lim.members {
			return nil, fmt.Errorf("%w: more than %d members", errBomb, lim.members)
		}
		if in.n > lim.total {
			return nil, fmt.Errorf("%w: more than %d MiB unpacked", errBomb, lim.total>>20)
		}
		if h.Typeflag == tar.TypeDir || h.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		name, ok := kept.take(h.Name, h.Typeflag == tar.TypeReg)
		if !ok {
			continue
		}
		data, err := readMember(tr, min(lim.file, lim.total-total))
		if errors.Is(err, errBomb) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err != nil {
			return err, nil
		}
		total += int64(len(data))
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err == nil {
			_, err = f.Write(data)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
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
		return nil, fmt.Errorf("%w: more than %d MiB unpacked", errBomb, limit>>20)
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

// readGzip reads a compressed tar stream.
func readGzip(r io.Reader, lim limits) (fs.FS, []trace.Note, error) {
	gz, err := gzip.NewReader(bufio.NewReaderSize(r, 1<<16))
	if err != nil {
		return nil, nil, err
	}
	in := bufio.NewReaderSize(gz, 1<<16)
	head, err := in.Peek(sniffBytes)
	if err != nil && len(head) == 0 {
		return nil, nil, fmt.Errorf("the compressed file cannot be read: %w", err)
	}
	if kindOf(head, "") != tarArchive {
		return nil, nil, errors.New("the compressed file is not a tar archive")
	}
	return readTar(in, lim)
}

// readZip reads a zip archive: the file is held in memory, members are
// unpacked when they are opened.
func readZip(data []byte, lim limits) (fs.FS, []trace.Note, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
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
		// The reader of a member fails beyond the size that is declared here.
		if f.UncompressedSize64 > uint64(lim.total) || total+f.UncompressedSize64 > uint64(lim.total) {
			return nil, nil, fmt.Errorf("%w: more than %d MiB unpacked", errBomb, lim.total>>20)
		}
		total += f.UncompressedSize64
		files = append(files, f)
	}
	z.File = files
	return z, memberNotes(kept.skipped, nil), nil
}
