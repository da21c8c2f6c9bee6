package codeobj

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"io"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/vmihailenco/msgpack/v5"
)

// elfSpec describes a small ELF file for the builder below.
type elfSpec struct {
	machine    uint16
	osabi, abi byte
	flags      uint32
	kind       elf.Type
	metadata   []byte            // MessagePack document; nil for no note
	kernels    []kernelSpec      // descriptors
	extra      map[string][]byte // further sections by name
	noSections bool              // program header for the notes instead
}

type kernelSpec struct {
	name                string
	lds, scratch, karg  uint32
	rsrc1, rsrc2, rsrc3 uint32
	props               uint16
}

// Addresses of the sections in a linked file.
const (
	rodataAddr = 0x1000
	textAddr   = 0x2000
)

func (k kernelSpec) bytes(entry int64) []byte {
	b := make([]byte, 64)
	le := binary.LittleEndian
	le.PutUint32(b[0:], k.lds)
	le.PutUint32(b[4:], k.scratch)
	le.PutUint32(b[8:], k.karg)
	le.PutUint64(b[16:], uint64(entry))
	le.PutUint32(b[44:], k.rsrc3)
	le.PutUint32(b[48:], k.rsrc1)
	le.PutUint32(b[52:], k.rsrc2)
	le.PutUint16(b[56:], k.props)
	return b
}

// pack encodes a metadata document.
func pack(t testing.TB, v any) []byte {
	t.Helper()
	var buf bytes.Buffer
	e := msgpack.NewEncoder(&buf)
	e.SetSortMapKeys(true)
	e.UseCompactInts(true)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func noteRecord(name string, kind uint32, desc []byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(name)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(desc)))
	b = binary.LittleEndian.AppendUint32(b, kind)
	b = append(b, name...)
	b = append(b, make([]byte, (4-len(b)%4)%4)...)
	b = append(b, desc...)
	return append(b, make([]byte, (4-len(b)%4)%4)...)
}

// section is one section that the builder lays out.
type section struct {
	name string
	head elf.Section64
	data []byte
}

// build lays out header, section contents and section headers.
func (s elfSpec) build(t testing.TB) []byte {
	t.Helper()
	linked := s.kind != elf.ET_REL
	var rodata []byte
	strtab := []byte{0}
	symtab := make([]byte, elf.Sym64Size)
	for i, k := range s.kernels {
		sym := elf.Sym64{Name: uint32(len(strtab)), Info: byte(elf.STT_OBJECT), Shndx: 3, Value: uint64(len(rodata)), Size: 64}
		entry := int64(0)
		if linked {
			sym.Value += rodataAddr
			entry = textAddr + int64(i)*256 - int64(sym.Value)
		}
		rodata = append(rodata, k.bytes(entry)...)
		strtab = append(strtab, k.name+".kd\x00"...)
		symtab = appendLE(t, symtab, sym)
	}
	var notes []byte
	if s.metadata != nil {
		// A note of somebody else comes first: it has to be passed over.
		notes = append(noteRecord("GNU\x00", 3, []byte("abcde")), noteRecord("AMDGPU\x00", 32, s.metadata)...)
	}
	symType := elf.SHT_SYMTAB
	if linked {
		symType = elf.SHT_DYNSYM
	}
	sections := []section{
		{},
		{".note", elf.Section64{Type: uint32(elf.SHT_NOTE)}, notes},
		{".symtab", elf.Section64{Type: uint32(symType), Link: 4, Entsize: 24}, symtab},
		{".rodata", elf.Section64{Type: uint32(elf.SHT_PROGBITS), Addr: rodataAddr}, rodata},
		{".strtab", elf.Section64{Type: uint32(elf.SHT_STRTAB)}, strtab},
	}
	if !linked {
		sections[3].head.Addr = 0
	}
	for name, data := range s.extra {
		sections = append(sections, section{name, elf.Section64{Type: uint32(elf.SHT_PROGBITS)}, data})
	}
	return s.layout(t, sections)
}

func (s elfSpec) layout(t testing.TB, sections []section) []byte {
	t.Helper()
	names := []byte{0}
	out := make([]byte, 64+56)
	for i := range sections {
		c := &sections[i]
		c.head.Name = uint32(len(names))
		names = append(names, c.name+"\x00"...)
		out = append(out, make([]byte, (8-len(out)%8)%8)...)
		c.head.Off, c.head.Size = uint64(len(out)), uint64(len(c.data))
		out = append(out, c.data...)
	}
	sections[0].head = elf.Section64{}
	namesHead := elf.Section64{Name: uint32(len(names)), Type: uint32(elf.SHT_STRTAB), Off: uint64(len(out))}
	names = append(names, ".shstrtab\x00"...)
	namesHead.Size = uint64(len(names))
	out = append(out, names...)
	h := elf.Header64{
		Type: uint16(s.kind), Machine: s.machine, Version: 1, Flags: s.flags, Ehsize: 64,
		Shoff: uint64(len(out)), Shentsize: 64, Shnum: uint16(len(sections) + 1), Shstrndx: uint16(len(sections)),
	}
	copy(h.Ident[:], elfMagic)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = 2, 1, 1
	h.Ident[elf.EI_OSABI], h.Ident[elf.EI_ABIVERSION] = s.osabi, s.abi
	if s.noSections {
		note := sections[1].head
		p := elf.Prog64{Type: uint32(elf.PT_NOTE), Off: note.Off, Filesz: note.Size}
		copy(out[64:], appendLE(t, nil, p))
		h.Phoff, h.Phentsize, h.Phnum = 64, 56, 1
		h.Shoff, h.Shnum, h.Shstrndx = 0, 0, 0
	} else {
		for i := range sections {
			out = appendLE(t, out, sections[i].head)
		}
		out = appendLE(t, out, namesHead)
	}
	copy(out, appendLE(t, nil, h))
	return out
}

func appendLE(t testing.TB, b []byte, v any) []byte {
	t.Helper()
	b, err := binary.Append(b, binary.LittleEndian, v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// bundleOf builds an offload bundle; code objects are laid on 4 KiB.
func bundleOf(entries ...[2]string) []byte {
	table := []byte(bundleMagic)
	table = binary.LittleEndian.AppendUint64(table, uint64(len(entries)))
	size := len(table)
	for _, e := range entries {
		size += 24 + len(e[0])
	}
	var code []byte
	for _, e := range entries {
		off := (size + len(code) + 4095) &^ 4095
		if e[1] == "" {
			off = size + len(code)
		}
		table = binary.LittleEndian.AppendUint64(table, uint64(off))
		table = binary.LittleEndian.AppendUint64(table, uint64(len(e[1])))
		table = binary.LittleEndian.AppendUint64(table, uint64(len(e[0])))
		table = append(table, e[0]...)
		code = append(code, make([]byte, off-size-len(code))...)
		code = append(code, e[1]...)
	}
	return append(table, code...)
}

// compress packs a bundle as clang-offload-bundler does.
func compress(t testing.TB, version, method uint16, bundle []byte) []byte {
	t.Helper()
	var data bytes.Buffer
	var w io.WriteCloser = zlib.NewWriter(&data)
	if method == methodZstd {
		z, err := zstd.NewWriter(&data)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	}
	if _, err := w.Write(bundle); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	b := le.AppendUint16(le.AppendUint16([]byte(compressedMagic), version), method)
	switch version {
	case 1:
		b = le.AppendUint32(b, uint32(len(bundle)))
	case 2:
		b = le.AppendUint32(le.AppendUint32(b, uint32(24+data.Len())), uint32(len(bundle)))
	case 3:
		b = le.AppendUint64(le.AppendUint64(b, uint64(32+data.Len())), uint64(len(bundle)))
	}
	return append(append(b, "the hash"...), data.Bytes()...)
}

// kernelMeta is the metadata of one kernel.
func kernelMeta(name string, fields map[string]any) map[string]any {
	m := map[string]any{
		".name": name, ".symbol": name + ".kd",
		".args": []any{map[string]any{".name": "out", ".size": 8, ".vgpr_count": 999}},
	}
	for k, v := range fields {
		m[k] = v
	}
	return m
}

func document(target string, kernels ...any) map[string]any {
	return map[string]any{
		"amdhsa.version": []any{1, 2},
		"amdhsa.target":  "amdgcn-amd-amdhsa--" + target,
		"amdhsa.kernels": kernels,
		"amdhsa.printf":  []any{"1:1:4:%d"},
	}
}

// gfx942Object is a small valid code object with one kernel, k.
func gfx942Object(t testing.TB) []byte {
	return elfSpec{
		machine: emAMDGPU, osabi: osabiHSA, abi: 4, flags: 0x54c, kind: elf.ET_DYN,
		metadata: pack(t, document("gfx942", kernelMeta("k", map[string]any{".vgpr_count": 36, ".agpr_count": 0}))),
		kernels:  []kernelSpec{{name: "k", rsrc1: 21 | 12<<6, rsrc3: 8}},
	}.build(t)
}
