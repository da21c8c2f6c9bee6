package rocpd

import (
	"encoding/binary"
	"errors"
	"io"
)

// Sizes of a write-ahead log. Source: SQLite "Database File Format", section
// 4.1.
const (
	logHeaderSize   = 32
	frameHeaderSize = 24
	logMagic        = 0x377f0682 // the lowest bit says that checksums are big-endian
)

// readLog finds the pages of a write-ahead log that were committed.
func (m *image) readLog(log io.ReaderAt, size int64) error {
	var h [logHeaderSize]byte
	if _, err := log.ReadAt(h[:], 0); err != nil {
		return nil // shorter than its header: it was never written to
	}
	word := func(b []byte, i int) uint32 { return binary.BigEndian.Uint32(b[4*i:]) }
	first := word(h[:], 0)
	if first&^1 != logMagic {
		return nil // begun and not written, or wiped: SQLite ignores it too
	}
	var order binary.ByteOrder = binary.LittleEndian
	if first&1 == 1 {
		order = binary.BigEndian
	}
	sum := checksum{order: order}
	if sum.add(h[:24]); sum.s0 != word(h[:], 6) || sum.s1 != word(h[:], 7) {
		return nil
	}
	if int(word(h[:], 2)) != m.pageSize {
		return errors.New("damaged: its write-ahead log has another page size")
	}
	frame := make([]byte, frameHeaderSize+m.pageSize)
	open := map[uint32]int64{} // frames since the last commit
	m.log, m.logFile = map[uint32]int64{}, log
	for at := int64(logHeaderSize); at+int64(len(frame)) <= size; at += int64(len(frame)) {
		if _, err := log.ReadAt(frame, at); err != nil {
			return err
		}
		if string(frame[8:16]) != string(h[16:24]) {
			break // left over from before the log was begun anew
		}
		sum.add(frame[:8])
		if sum.add(frame[frameHeaderSize:]); sum.s0 != word(frame, 4) || sum.s1 != word(frame, 5) {
			break
		}
		open[word(frame, 0)] = at + frameHeaderSize
		if pages := word(frame, 1); pages > 0 {
			for page, at := range open {
				m.log[page] = at
			}
			clear(open)
			m.pages, m.missing = int64(pages), 0
		}
	}
	m.logDropped = int64(len(open))
	return nil
}

// checksum is the running checksum of a log.
type checksum struct {
	order  binary.ByteOrder
	s0, s1 uint32
}

// add takes in a multiple of 8 bytes.
func (c *checksum) add(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		c.s0 += c.order.Uint32(b) + c.s1
		c.s1 += c.order.Uint32(b[4:]) + c.s0
	}
}
