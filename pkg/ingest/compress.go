package ingest

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// compression is a way in which one stream of bytes is packed.
type compression struct {
	// name is what people call it, magic how it begins, suffixes those of file
	// names.
	name, magic string
	suffixes    []string
	// unpack gives the stream; nil where this program cannot.
	unpack func(r io.Reader) (io.Reader, error)
	// command unpacks a file.
	command string
}

// maxWindow bounds the memory of one zstd stream: what `zstd --ultra --long=27`
// writes is read.
const maxWindow = 1 << 27

// compressions are those that are known, by the first bytes. Sources: RFC 1952
// (gzip), RFC 8878 (zstd), the .xz file format 1.2, the bzip2 and LZ4 frame
// formats.
func compressions() []compression {
	return []compression{
		{"gzip", "\x1f\x8b", []string{".gz", ".tgz"}, func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }, "gunzip"},
		{"zstd", "\x28\xb5\x2f\xfd", []string{".zst", ".zstd", ".tzst"}, func(r io.Reader) (io.Reader, error) {
			return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		}, "unzstd"},
		{"xz", "\xfd7zXZ\x00", []string{".xz", ".txz"}, openXZ, "unxz"},
		{"bzip2", "BZh", []string{".bz2", ".tbz", ".tbz2"}, func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }, "bunzip2"},
		{"lz4", "\x04\x22\x4d\x18", []string{".lz4"}, nil, "unlz4"},
		{"compress", "\x1f\x9d", []string{".Z"}, nil, "uncompress"},
		{"lzip", "LZIP", []string{".lz"}, nil, "lzip -d"},
		{"7-Zip", "7z\xbc\xaf\x27\x1c", []string{".7z"}, nil, "7z x"},
		{"RAR", "Rar!\x1a\x07", []string{".rar"}, nil, "unrar x"},
	}
}

// openXZ looks how much memory the first block asks for, which the decoder takes
// at once: up to 4 GiB, where xz -9 needs 64 MiB. All blocks of a file that xz
// wrote ask for the same.
func openXZ(r io.Reader) (io.Reader, error) {
	const header, block = 12, 1024 // of the stream, and the most of a block's
	end := &lastBytes{r: r}
	in := bufio.NewReaderSize(end, 1<<16)
	head, _ := in.Peek(header + block) // a short file is the decoder's to refuse
	if size, ok := xzDictionary(head[min(header, len(head)):]); ok && size > maxWindow {
		return nil, fmt.Errorf("%w: its dictionary has %d MiB", errBomb, size>>20)
	}
	out, err := xz.NewReader(in)
	return &wholeXZ{out, end}, err
}

// wholeXZ fails where a file ends without the footer of a stream: the decoder
// takes one that was cut between two blocks for whole.
type wholeXZ struct {
	out io.Reader
	end *lastBytes
}

func (w *wholeXZ) Read(p []byte) (int, error) {
	n, err := w.out.Read(p)
	if errors.Is(err, io.EOF) && !bytes.HasSuffix(bytes.TrimRight(w.end.last, "\x00"), []byte("YZ")) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// lastBytes remembers the end of what was read. Padding between streams is a
// few zeros; more of it is not kept.
type lastBytes struct {
	r    io.Reader
	last []byte
}

func (l *lastBytes) Read(p []byte) (int, error) {
	const keep = 512
	n, err := l.r.Read(p)
	l.last = append(l.last, p[max(0, n-keep):n]...)
	l.last = append(l.last[:0], l.last[max(0, len(l.last)-keep):]...)
	return n, err
}

// xzDictionary reads the size of the LZMA2 dictionary from a block header.
// Source: the .xz file format 1.2, sections 3.1 and 5.3.1.
func xzDictionary(b []byte) (size int64, ok bool) {
	const lzma2 = 0x21
	if len(b) < 2 || b[0] == 0 {
		return 0, false
	}
	at := 2
	for sizes := int(b[1]>>6&1) + int(b[1]>>7&1); sizes > 0 && at < len(b); at++ {
		if b[at]&0x80 == 0 {
			sizes--
		}
	}
	if at+2 >= len(b) || b[at] != lzma2 || b[at+1] != 1 || b[at+2] > 40 {
		return 0, false
	}
	bits := int64(b[at+2])
	return (2 | bits&1) << (bits/2 + 11), true
}

// compressedAs is how a file is packed, nil for one that is not.
func compressedAs(head []byte) *compression {
	all := compressions()
	for i := range all {
		if bytes.HasPrefix(head, []byte(all[i].magic)) {
			return &all[i]
		}
	}
	return nil
}

// unpackedName is the name of a packed file without what says so.
func unpackedName(name string) string {
	for _, c := range compressions() {
		for _, s := range c.suffixes {
			if bare, ok := strings.CutSuffix(name, s); ok && bare != "" {
				return bare
			}
		}
	}
	return name
}

// isArchiveName reports whether a file has the name of an archive.
func isArchiveName(name string) bool {
	name = strings.ToLower(name)
	for _, s := range []string{".tgz", ".txz", ".tzst", ".tbz", ".tbz2", ".7z", ".rar"} {
		if strings.HasSuffix(name, s) {
			return true
		}
	}
	bare := unpackedName(name)
	return strings.HasSuffix(bare, ".tar") || strings.HasSuffix(bare, ".zip")
}

// unpacking reads a packed stream, and fails where little becomes too much.
type unpacking struct {
	out io.Reader
	in  *countingReader
	n   uint64
}

// Bounds of what little may become: captures of text pack 5 to 50 times.
const (
	ratioFrom = 256 << 20
	maxRatio  = 250
)

// bombRatio reports whether so much of so little cannot be a capture.
func bombRatio(unpacked, packed uint64) bool {
	return unpacked > ratioFrom && unpacked/maxRatio > packed
}

// reader gives what a packed stream holds.
func (c *compression) reader(r io.Reader) (*bufio.Reader, error) {
	in := &countingReader{r: bufio.NewReaderSize(r, 1<<16)}
	out, err := c.unpack(in)
	if err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(&unpacking{out: out, in: in}, 1<<16), nil
}

// Read reads what was unpacked.
func (u *unpacking) Read(p []byte) (int, error) {
	n, err := u.out.Read(p)
	u.n += uint64(n)
	if bombRatio(u.n, uint64(u.in.n)) {
		return 0, fmt.Errorf("%w: %d KiB become more than %d MiB", errBomb, u.in.n>>10, u.n>>20)
	}
	return n, err
}
