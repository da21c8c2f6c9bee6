package rocpd

import (
	"encoding/binary"
	"errors"
)

// Parts of an LZ4 frame. Source: LZ4 "Frame Format Description" 1.6.4 and
// "Block Format Description".
const (
	lz4Magic       = 0x184d2204
	lz4ContentSize = 1 << 3 // flags of the frame descriptor
	lz4BlockSum    = 1 << 4
	lz4DictID      = 1 << 0
	lz4Stored      = 1 << 31 // flag of a block's size
)

var errLZ4 = errors.New("not a whole LZ4 frame")

// inflate unpacks an LZ4 frame of up to limit bytes; anything else is returned
// as it is. Checksums are not looked at.
func inflate(b []byte, limit int) ([]byte, error) {
	if len(b) < 7 || binary.LittleEndian.Uint32(b) != lz4Magic {
		return b, nil
	}
	flags, at := b[4], 7
	if flags&lz4ContentSize != 0 {
		at += 8
	}
	if flags&lz4DictID != 0 {
		return nil, errLZ4
	}
	var out []byte
	for {
		if at+4 > len(b) {
			return nil, errLZ4
		}
		size := binary.LittleEndian.Uint32(b[at:])
		at += 4
		if size == 0 {
			return out, nil
		}
		n := int(size &^ lz4Stored)
		if n > len(b)-at {
			return nil, errLZ4
		}
		var err error
		if size&lz4Stored != 0 {
			out = append(out, b[at:at+n]...)
		} else if out, err = inflateBlock(out, b[at:at+n], limit); err != nil {
			return nil, err
		}
		if len(out) > limit {
			return nil, errLZ4
		}
		if at += n; flags&lz4BlockSum != 0 {
			at += 4
		}
	}
}

// inflateBlock appends what a block holds to out.
func inflateBlock(out, b []byte, limit int) ([]byte, error) {
	for len(b) > 0 {
		token := b[0]
		literals, rest, ok := lz4Length(int(token>>4), b[1:])
		if !ok || literals > len(rest) || literals > limit-len(out) {
			return nil, errLZ4
		}
		out, b = append(out, rest[:literals]...), rest[literals:]
		if len(b) == 0 {
			return out, nil // the last sequence has no match
		}
		if len(b) < 2 {
			return nil, errLZ4
		}
		offset := int(binary.LittleEndian.Uint16(b))
		match, rest, ok := lz4Length(int(token&15), b[2:])
		const minMatch = 4
		if match += minMatch; !ok || offset == 0 || offset > len(out) || match > limit-len(out) {
			return nil, errLZ4
		}
		for range match { // matches may overlap what they write
			out = append(out, out[len(out)-offset])
		}
		b = rest
	}
	return out, nil
}

// lz4Length reads a length that begins with four bits.
func lz4Length(n int, b []byte) (length int, rest []byte, ok bool) {
	if n < 15 {
		return n, b, true
	}
	for i, c := range b {
		if n += int(c); c < 255 {
			return n, b[i+1:], true
		}
	}
	return 0, nil, false
}
