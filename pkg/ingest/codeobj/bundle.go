package codeobj

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// bundleAlign is the alignment at which a further bundle is looked for; in
// .hip_fatbin they lie on pages.
const bundleAlign = 8

// bundleEntry is one entry of an offload bundle: where the code of a target lies.
type bundleEntry struct {
	id        string // kind, triple and target ID, such as "hipv4-amdgcn-amd-amdhsa--gfx942"
	off, size uint64 // bytes; off counts from the bundle's first byte
}

// readBundles reads the bundles that lie between two offsets of a file, one behind
// the other with padding between them, compressed or not. Layout: Clang Offload
// Bundler documentation, "Bundled Binary File Layout".
func readBundles(src *io.SectionReader, from, to int64, name string) ([]Object, error) {
	b := bundles{name: name}
	for at := from; at < to && b.fatal == nil; {
		start, compressed, err := nextBundle(src, at, to)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			b.errs = append(b.errs, err)
			break
		}
		if compressed {
			at = b.unpack(src, start, to)
			continue
		}
		at = b.read(src, start, to, "")
	}
	if b.fatal != nil {
		return b.objs, b.fatal
	}
	if len(b.objs) == 0 && len(b.errs) == 0 {
		return nil, errors.New("no AMD GPU code in the offload bundles; build with --offload-arch")
	}
	return b.objs, joined(b.errs)
}

// bundles is what was found in the bundles of a file.
type bundles struct {
	name     string
	objs     []Object
	errs     []error
	fatal    error // ends the reading
	unpacked uint64
}

func (b *bundles) fail(start int64, err error) {
	b.errs = append(b.errs, fmt.Errorf("the offload bundle at byte %d: %w", start, err))
}

// read reads one bundle and gives the offset behind it. uri is where its code
// objects lie, empty for a bundle that lies in the file as it is.
func (b *bundles) read(src *io.SectionReader, start, to int64, uri string) (end int64) {
	entries, end, err := readEntries(src, start, to)
	if err != nil {
		b.fail(start, err)
	}
	for _, e := range entries {
		if len(b.objs) >= maxObjects {
			b.fatal = fmt.Errorf("more than %d code objects; split the file with clang-offload-bundler --unbundle", maxObjects)
			return end
		}
		at := uri
		if at == "" {
			at = fmt.Sprintf("%s#offset=%d&size=%d", b.name, start+int64(e.off), e.size)
		}
		part, err := readEntry(src, start, to, e, at)
		b.objs = append(b.objs, part...)
		if err != nil {
			b.errs = append(b.errs, fmt.Errorf("%s in the offload bundle at byte %d: %w", e.id, start, err))
		}
	}
	return end
}

// unpack reads a compressed bundle and gives the offset behind it. Its code
// objects have the place of the whole.
func (b *bundles) unpack(src *io.SectionReader, start, to int64) (end int64) {
	h, err := readCompressed(src, start, to)
	size := max(bundleAlign, h.size)
	if err != nil {
		b.fail(start, fmt.Errorf("it is compressed (CCOB): %w", err))
		return from8(start, start+size)
	}
	if b.unpacked += h.unpacked; b.unpacked > maxUnpacked {
		b.fatal = fmt.Errorf("the offload bundles have more than %d GiB unpacked; split the file with clang-offload-bundler --unbundle", maxUnpacked>>30)
		return to
	}
	data, err := h.unpack(src, start, to)
	if err == nil && !hasPrefix(data, bundleMagic) {
		err = errors.New("what is in it is no offload bundle: the file is damaged; build it again")
	}
	if err != nil {
		b.fail(start, fmt.Errorf("it is compressed (CCOB): %w", err))
		return from8(start, start+size)
	}
	inner := io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data)))
	b.read(inner, 0, inner.Size(), fmt.Sprintf("%s#offset=%d&size=%d", b.name, start, size))
	return from8(start, start+size)
}

// nextBundle finds the next bundle at or behind an offset; io.EOF when there is none.
func nextBundle(src *io.SectionReader, at, to int64) (start int64, compressed bool, err error) {
	r := bufio.NewReaderSize(io.NewSectionReader(src, at, to-at), 64<<10)
	for start = at; ; start += bundleAlign {
		b, err := r.Peek(len(bundleMagic))
		switch {
		case hasPrefix(b, bundleMagic):
			return start, false, nil
		case hasPrefix(b, compressedMagic):
			return start, true, nil
		case err != nil && len(b) < bundleAlign:
			return 0, false, err
		}
		if _, err := r.Discard(bundleAlign); err != nil {
			return 0, false, err
		}
	}
}

// readEntries reads the table of a bundle and the offset where the bundle ends.
func readEntries(src *io.SectionReader, start, to int64) (entries []bundleEntry, end int64, err error) {
	const maxEntries, maxID = 4096, 4096
	at := start + int64(len(bundleMagic))
	next := func(n uint64) ([]byte, error) {
		if n > uint64(to-at) {
			return nil, errors.New("its table ends past the end of the file: the file is truncated; copy or build it again")
		}
		b, err := readTable(src, uint64(at), n, "the bundle's table")
		at += int64(n)
		return b, err
	}
	b, err := next(8)
	if err != nil {
		return nil, to, err
	}
	count := binary.LittleEndian.Uint64(b)
	if count > maxEntries {
		return nil, from8(start, at), fmt.Errorf("it counts %d entries: the file is damaged; build it again", count)
	}
	end = at
	var total uint64
	for range count {
		b, err := next(24)
		if err != nil {
			return entries, to, err
		}
		e := bundleEntry{off: binary.LittleEndian.Uint64(b), size: binary.LittleEndian.Uint64(b[8:])}
		n := binary.LittleEndian.Uint64(b[16:])
		if n > maxID {
			return entries, from8(start, at), fmt.Errorf("a target's name has %d bytes: the file is damaged; build it again", n)
		}
		id, err := next(n)
		if err != nil {
			return entries, to, err
		}
		e.id = string(id)
		entries = append(entries, e)
		if !e.fits(to - start) {
			continue // reported when the entry is read
		}
		end = max(end, start+int64(e.off+e.size))
		if total += e.size; total > uint64(to-start) {
			return nil, from8(start, at), errors.New("its entries overlap: the file is damaged; build it again")
		}
	}
	return entries, from8(start, max(end, at)), nil
}

// from8 rounds end up so that it lies a multiple of bundleAlign behind start.
func from8(start, end int64) int64 { return start + alignTo(end-start, bundleAlign) }

// fits says whether the entry lies within room bytes of the bundle's start.
func (e bundleEntry) fits(room int64) bool {
	return e.size <= uint64(room) && e.off <= uint64(room)-e.size
}

// readEntry reads the code object of one entry; entries for the host have none.
func readEntry(src *io.SectionReader, start, to int64, e bundleEntry, path string) ([]Object, error) {
	if e.size == 0 || strings.HasPrefix(e.id, "host") {
		return nil, nil
	}
	if !strings.Contains(e.id, "gfx") {
		return nil, errors.New("not AMD GPU machine code; build with --offload-arch=gfxNNN")
	}
	if !e.fits(to - start) {
		return nil, fmt.Errorf("its code at byte %d (%d bytes) ends past the end of the file: the file is truncated; copy or build it again", e.off, e.size)
	}
	at := start + int64(e.off)
	sub := io.NewSectionReader(src, at, int64(e.size))
	head := make([]byte, min(len(elfMagic), int(sub.Size())))
	if _, err := sub.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if hasPrefix(head, bitcodeMagic) {
		return nil, errors.New("LLVM bitcode, not machine code; link the program first")
	}
	f, err := openELF(sub)
	if err != nil {
		return nil, err
	}
	if f.header.Machine != emAMDGPU {
		return nil, fmt.Errorf("the code is for machine %d, not for AMD GPUs (%d): the file is damaged; build it again", f.header.Machine, emAMDGPU)
	}
	o, err := readObject(f, path)
	return []Object{o}, err
}
