package codeobj

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Bounds of unpacking: real libraries have bundles of some hundred megabytes.
const (
	maxBundle   = 1 << 30 // bytes of one bundle
	maxUnpacked = 4 << 30 // bytes of all bundles of a file
	maxWindow   = 1 << 27 // bytes that zstd looks back
	// Code and the padding around it pack 3 to 30 times.
	ratioFrom, maxRatio = 16 << 20, 250
)

// compressedHeader is the head of a compressed bundle (LLVM
// CompressedOffloadBundle, OffloadBundle.cpp): magic, version and method, 2 bytes
// each; from version 2 on the size of the whole; the size of what is in it; a hash
// of 8 bytes. Sizes have 4 bytes, from version 3 on 8.
type compressedHeader struct {
	version, method uint16
	header          int64  // bytes of the header itself
	size            int64  // bytes of the whole; 0 in version 1, which does not say it
	unpacked        uint64 // bytes of the bundle in it
}

// Methods of compression (llvm::compression::Format).
const (
	methodZlib = 0
	methodZstd = 1
)

// readCompressed reads the head of a compressed bundle at an offset.
func readCompressed(src *io.SectionReader, start, to int64) (h compressedHeader, err error) {
	b := make([]byte, min(32, to-start))
	if _, err := src.ReadAt(b, start); err != nil && !errors.Is(err, io.EOF) {
		return h, err
	}
	b = append(b, make([]byte, 32-len(b))...)
	le := binary.LittleEndian
	h.version, h.method = le.Uint16(b[4:]), le.Uint16(b[6:])
	size := uint64(0)
	switch h.version {
	case 1:
		h.header, h.unpacked = 20, uint64(le.Uint32(b[8:]))
	case 2:
		h.header, size, h.unpacked = 24, uint64(le.Uint32(b[8:])), uint64(le.Uint32(b[12:]))
	case 3:
		h.header, size, h.unpacked = 32, le.Uint64(b[8:]), le.Uint64(b[16:])
	default:
		return h, fmt.Errorf("its version %d is not known (1 to 3 are); unpack it with the clang-offload-bundler of the ROCm that made it", h.version)
	}
	h.size = int64(min(size, uint64(to-start)))
	switch {
	case h.header > to-start || uint64(h.size) < size || h.version > 1 && h.size < h.header:
		return h, errors.New("it ends past the end of the file: the file is truncated; copy or build it again")
	case h.method != methodZlib && h.method != methodZstd:
		return h, fmt.Errorf("its compression %d is not known (zlib and zstd are); unpack it with clang-offload-bundler", h.method)
	case h.unpacked > ratioFrom && h.unpacked/maxRatio > uint64(to-start):
		return h, fmt.Errorf("%d MiB in so few bytes are no code: the file is damaged; build it again", h.unpacked>>20)
	case h.unpacked > maxBundle:
		return h, fmt.Errorf("it has %d MiB unpacked, more than the %d that this program takes; unpack it with clang-offload-bundler", h.unpacked>>20, maxBundle>>20)
	}
	return h, nil
}

// unpack gives the bundle in a compressed one. Memory follows what arrives, up to
// the size that the header says.
func (h compressedHeader) unpack(src *io.SectionReader, start, to int64) ([]byte, error) {
	end := to
	if h.size > 0 {
		end = start + h.size
	}
	packed := io.NewSectionReader(src, start+h.header, end-start-h.header)
	r, done, err := h.reader(packed)
	if err != nil {
		return nil, fmt.Errorf("it cannot be unpacked: %w", err)
	}
	defer done()
	var out bytes.Buffer
	n, err := io.Copy(&out, io.LimitReader(r, int64(h.unpacked)))
	switch {
	case err != nil:
		return nil, fmt.Errorf("it cannot be unpacked: %w", err)
	case uint64(n) < h.unpacked:
		return nil, fmt.Errorf("it ends after %d of %d bytes: the file is damaged; build it again", n, h.unpacked)
	}
	return out.Bytes(), nil
}

func (h compressedHeader) reader(packed io.Reader) (r io.Reader, done func(), err error) {
	if h.method == methodZlib {
		z, err := zlib.NewReader(packed)
		return z, func() {}, err
	}
	z, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, nil, err
	}
	return z, z.Close, nil
}
