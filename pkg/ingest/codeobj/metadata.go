package codeobj

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// ntAMDGPUMetadata is the type of the note that holds the metadata as MessagePack
// (LLVM AMDGPUUsage, "Note Records").
const ntAMDGPUMetadata = 32

// maxDepth bounds the nesting of the metadata; real metadata has five levels.
const maxDepth = 32

// objectMetadata is what the metadata notes of a code object say.
type objectMetadata struct {
	target  string
	kernels []Kernel
	notes   int // AMDGPU metadata notes seen
}

// readNotes walks the records of a note section and decodes the AMDGPU ones.
func (m *objectMetadata) readNotes(b []byte) error {
	for len(b) >= 12 {
		nameSize := uint64(binary.LittleEndian.Uint32(b))
		descSize := uint64(binary.LittleEndian.Uint32(b[4:]))
		kind := binary.LittleEndian.Uint32(b[8:])
		b = b[12:]
		padded := (nameSize + 3) &^ 3
		if padded+descSize > uint64(len(b)) {
			return fmt.Errorf("a record of %d bytes has %d left: the file is damaged; build it again", padded+descSize, len(b))
		}
		name, desc := b[:nameSize], b[padded:padded+descSize]
		if kind == ntAMDGPUMetadata && bytes.Equal(bytes.TrimRight(name, "\x00"), []byte("AMDGPU")) {
			m.notes++
			if err := m.decode(desc); err != nil {
				return fmt.Errorf("the AMDGPU metadata is damaged after %d kernels (%w); build the file again", len(m.kernels), err)
			}
		}
		b = b[min(uint64(len(b)), padded+(descSize+3)&^3):]
	}
	return nil
}

// decode reads one metadata document: a map at the top. Kernels read before an
// error are kept.
func (m *objectMetadata) decode(desc []byte) error {
	d := msgpack.NewDecoder(bytes.NewReader(desc))
	return eachKey(d, func(key string) error {
		switch key {
		case "amdhsa.target":
			triple, err := decodeString(d)
			m.target = targetID(triple)
			return err
		case "amdhsa.kernels":
			return eachItem(d, func() error { return m.decodeKernel(d) })
		}
		return skip(d, 1)
	})
}

func (m *objectMetadata) decodeKernel(d *msgpack.Decoder) error {
	if len(m.kernels) >= maxKernels {
		return fmt.Errorf("more than %d kernels", maxKernels)
	}
	var k Kernel
	err := eachKey(d, func(key string) error { return k.decodeField(d, key) })
	if k.Symbol == "" && k.Name != "" {
		k.Symbol = k.Name + ".kd"
	}
	if k.Symbol != "" {
		m.kernels = append(m.kernels, k)
	}
	return err
}

func (k *Kernel) decodeField(d *msgpack.Decoder, key string) (err error) {
	switch key {
	case ".name":
		k.Name, err = decodeString(d)
		return err
	case ".symbol":
		k.Symbol, err = decodeString(d)
		return err
	case ".reqd_workgroup_size":
		var dims []int64
		err := eachItem(d, func() error {
			n, ok, err := decodeNumber(d)
			if ok && len(dims) < 4 {
				dims = append(dims, n)
			}
			return err
		})
		k.Metadata.setWorkgroup(dims)
		return err
	}
	if !k.Metadata.knows(key) {
		return skip(d, 3)
	}
	n, ok, err := decodeNumber(d)
	if ok {
		k.Metadata.set(key, n)
	}
	return err
}

// number finds the field behind a numeric key, flag the one behind a boolean key.
func (m *Metadata) number(key string) **int {
	switch key {
	case ".vgpr_count":
		return &m.VGPRCount
	case ".agpr_count":
		return &m.AGPRCount
	case ".sgpr_count":
		return &m.SGPRCount
	case ".vgpr_spill_count":
		return &m.VGPRSpillCount
	case ".sgpr_spill_count":
		return &m.SGPRSpillCount
	case ".group_segment_fixed_size":
		return &m.LDSBytes
	case ".private_segment_fixed_size":
		return &m.ScratchBytes
	case ".kernarg_segment_size":
		return &m.KernargBytes
	case ".max_flat_workgroup_size":
		return &m.MaxWorkgroupSize
	case ".wavefront_size":
		return &m.WavefrontSize
	}
	return nil
}

func (m *Metadata) flag(key string) **bool {
	switch key {
	case ".uses_dynamic_stack":
		return &m.UsesDynamicStack
	case ".workgroup_processor_mode":
		return &m.WorkgroupProcessor
	}
	return nil
}

func (m *Metadata) knows(key string) bool { return m.number(key) != nil || m.flag(key) != nil }

// set stores the value of a key; one out of range stays unknown.
func (m *Metadata) set(key string, n int64) {
	if p := m.flag(key); p != nil {
		*p = new(n != 0)
	} else if p := m.number(key); p != nil {
		*p = fitInt(n, true)
	}
}

func (m *Metadata) setWorkgroup(dims []int64) {
	if len(dims) != 3 {
		return
	}
	var size [3]int
	for i, n := range dims {
		p := fitInt(n, true)
		if p == nil {
			return
		}
		size[i] = *p
	}
	m.ReqdWorkgroupSize = &size
}

// fitInt gives the count n, or nil when it is unknown or cannot be a count.
func fitInt(n int64, ok bool) *int {
	if !ok || n < 0 || n > math.MaxInt32 {
		return nil
	}
	return new(int(n))
}

// eachKey calls f for every key of the map that comes next; f consumes the value.
func eachKey(d *msgpack.Decoder, f func(key string) error) error {
	n, err := d.DecodeMapLen()
	if err != nil {
		return err
	}
	for range max(n, 0) {
		key, err := decodeString(d)
		if err != nil {
			return err
		}
		if err := f(key); err != nil {
			return err
		}
	}
	return nil
}

// eachItem calls f for every item of the array that comes next; f consumes it.
func eachItem(d *msgpack.Decoder, f func() error) error {
	n, err := d.DecodeArrayLen()
	if err != nil {
		return err
	}
	for range max(n, 0) {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// decodeString reads a string; something else in its place is an error.
func decodeString(d *msgpack.Decoder) (string, error) {
	c, err := d.PeekCode()
	if err != nil {
		return "", err
	}
	if !msgpcode.IsString(c) {
		return "", fmt.Errorf("code 0x%02x where a string belongs", c)
	}
	return d.DecodeString()
}

// decodeNumber reads an integer or a boolean (0 or 1); ok is false for anything else.
func decodeNumber(d *msgpack.Decoder) (n int64, ok bool, err error) {
	c, err := d.PeekCode()
	if err != nil {
		return 0, false, err
	}
	switch {
	case c == msgpcode.True || c == msgpcode.False:
		b, err := d.DecodeBool()
		if b {
			n = 1
		}
		return n, true, err
	case c == msgpcode.Uint64:
		u, err := d.DecodeUint64()
		return int64(min(u, math.MaxInt64)), true, err
	case msgpcode.IsFixedNum(c) || c >= msgpcode.Uint8 && c <= msgpcode.Int64:
		n, err := d.DecodeInt64()
		return n, true, err
	}
	return 0, false, skip(d, 3)
}

// skip passes over one value that lies at the given depth. It does not use the
// decoder's own Skip for containers, which recurses as deep as the input says.
func skip(d *msgpack.Decoder, depth int) error {
	if depth > maxDepth {
		return errors.New("nested too deeply")
	}
	c, err := d.PeekCode()
	if err != nil {
		return err
	}
	n := 0
	switch {
	case msgpcode.IsFixedMap(c) || c == msgpcode.Map16 || c == msgpcode.Map32:
		n, err = d.DecodeMapLen()
		n *= 2
	case msgpcode.IsFixedArray(c) || c == msgpcode.Array16 || c == msgpcode.Array32:
		n, err = d.DecodeArrayLen()
	default:
		return d.Skip()
	}
	if err != nil {
		return err
	}
	for range n {
		if err := skip(d, depth+1); err != nil {
			return err
		}
	}
	return nil
}
