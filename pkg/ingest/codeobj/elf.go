package codeobj

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sort"
	"strings"
)

// elfFile is the part of an ELF64 file that is needed here. The structures are
// those of debug/elf; its reader is not used, because it copies the name of every
// section and symbol, which a small crafted file can turn into terabytes.
type elfFile struct {
	src      *io.SectionReader
	header   elf.Header64
	sections []elf.Section64
	segments []elf.Prog64
}

// elfMachine is e_machine of a little-endian ELF64 file that begins with head, or 0.
func elfMachine(head []byte) uint16 {
	if len(head) < 20 || !hasPrefix(head, elfMagic) ||
		head[elf.EI_CLASS] != byte(elf.ELFCLASS64) || head[elf.EI_DATA] != byte(elf.ELFDATA2LSB) {
		return 0
	}
	return binary.LittleEndian.Uint16(head[18:])
}

// openELF reads the header and the tables of sections and segments.
func openELF(src *io.SectionReader) (*elfFile, error) {
	f := &elfFile{src: src}
	head, err := readTable(src, 0, uint64(binary.Size(f.header)), "the ELF header")
	if err != nil {
		return nil, err
	}
	if elfMachine(head) == 0 {
		return nil, errors.New("not a 64-bit little-endian ELF file; AMDGPU code objects are, give one of them")
	}
	if _, err := binary.Decode(head, binary.LittleEndian, &f.header); err != nil {
		return nil, err
	}
	if err := f.readSections(); err != nil {
		return nil, err
	}
	if err := f.readSegments(); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *elfFile) readSections() error {
	const entry = 64
	h := f.header
	if h.Shoff == 0 {
		return nil
	}
	if h.Shentsize != entry {
		return fmt.Errorf("the ELF header has section entries of %d bytes instead of %d: the file is damaged; build it again", h.Shentsize, entry)
	}
	count := uint64(h.Shnum)
	if count == 0 { // 65,280 sections and more: the number stands in the first entry
		var first elf.Section64
		b, err := readTable(f.src, h.Shoff, entry, "the first section header")
		if err != nil {
			return err
		}
		if _, err := binary.Decode(b, binary.LittleEndian, &first); err != nil {
			return err
		}
		count = first.Size
	}
	if count > maxTable/entry {
		return fmt.Errorf("the ELF header counts %d sections: the file is damaged; build it again", count)
	}
	b, err := readTable(f.src, h.Shoff, count*entry, "the section header table")
	if err != nil {
		return err
	}
	f.sections = make([]elf.Section64, count)
	_, err = binary.Decode(b, binary.LittleEndian, f.sections)
	return err
}

func (f *elfFile) readSegments() error {
	const entry = 56
	h := f.header
	if h.Phoff == 0 || h.Phnum == 0 {
		return nil
	}
	if h.Phentsize != entry {
		return fmt.Errorf("the ELF header has segment entries of %d bytes instead of %d: the file is damaged; build it again", h.Phentsize, entry)
	}
	b, err := readTable(f.src, h.Phoff, uint64(h.Phnum)*entry, "the program header table")
	if err != nil {
		return err
	}
	f.segments = make([]elf.Prog64, h.Phnum)
	_, err = binary.Decode(b, binary.LittleEndian, f.segments)
	return err
}

// readTable reads n bytes at off after checking them against the file and the limit.
func readTable(src *io.SectionReader, off, n uint64, what string) ([]byte, error) {
	size := uint64(src.Size())
	if n > size || off > size-n {
		return nil, fmt.Errorf("%s at byte %d (%d bytes) ends past the end of the file (%d bytes): the file is truncated; copy or build it again", what, off, n, size)
	}
	if n > maxTable {
		return nil, fmt.Errorf("%s at byte %d has %d bytes, more than the %d this program reads; strip the file", what, off, n, maxTable)
	}
	b := make([]byte, n)
	if _, err := src.ReadAt(b, int64(off)); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s at byte %d: %w", what, off, err)
	}
	return b, nil
}

// section reads a section's bytes.
func (f *elfFile) section(s elf.Section64, what string) ([]byte, error) {
	if elf.SectionFlag(s.Flags)&elf.SHF_COMPRESSED != 0 {
		return nil, fmt.Errorf("%s at byte %d is compressed; decompress it with llvm-objcopy --decompress-debug-sections", what, s.Off)
	}
	return readTable(f.src, s.Off, s.Size, what)
}

// readObject reads a code object: target, metadata, kernel descriptors. What was
// read before an error is returned with it.
func readObject(f *elfFile, path string) (Object, error) {
	o := Object{Path: path, Target: targetFromFlags(f.header)}
	if v := f.header.Ident[elf.EI_ABIVERSION]; f.header.Ident[elf.EI_OSABI] == osabiHSA && v == abiVersionV2 {
		o.note("code object version 2: its metadata and descriptors have another form and are not read; build with -mcode-object-version=5")
		return o, nil
	}
	var errs []error
	meta, err := f.metadata()
	if err != nil {
		errs = append(errs, err)
	}
	o.setTarget(meta.target, f.header.Flags)
	if meta.notes == 0 && err == nil {
		o.note("no AMDGPU metadata note: register use, spills and workgroup size are unknown")
	}
	descriptors, err := f.descriptors()
	if err != nil {
		errs = append(errs, err)
	}
	o.addKernels(f, meta.kernels, descriptors)
	return o, joined(errs)
}

// setTarget settles between e_flags, already in o.Target, and the metadata.
func (o *Object) setTarget(metadata string, flags uint32) {
	switch {
	case o.Target == "" && metadata == "":
		o.note("unknown processor: e_flags 0x%x; registers are not decoded", flags)
	case o.Target == "":
		o.Target = metadata
	case metadata != "" && metadata != o.Target:
		o.note("the metadata is for %s, e_flags for %s: e_flags is used", metadata, o.Target)
	}
}

// addKernels joins metadata and descriptors by the descriptor's symbol.
func (o *Object) addKernels(f *elfFile, kernels []Kernel, descriptors map[string]elf.Sym64) {
	g, known := generationOf(o.Target)
	used := make(map[string]bool, len(kernels))
	for _, k := range kernels {
		used[k.Symbol] = true
	}
	var extra []string
	for symbol := range descriptors {
		if !used[symbol] {
			extra = append(extra, symbol)
		}
	}
	sort.Strings(extra)
	for _, symbol := range extra {
		kernels = append(kernels, Kernel{Name: strings.TrimSuffix(symbol, ".kd"), Symbol: symbol})
	}
	for i := range kernels {
		k := &kernels[i]
		d, err := f.descriptor(descriptors, k.Symbol, g, known)
		if err != nil {
			o.note("kernel %s: %v", k.Name, err)
		}
		k.Descriptor = d
		k.countVGPRs(g, known)
	}
	o.Kernels = kernels
}

// metadata reads the AMDGPU notes from the note sections, or from the note segments
// of a file without sections.
func (f *elfFile) metadata() (objectMetadata, error) {
	var all objectMetadata
	var total uint64
	for _, r := range f.noteRanges() {
		if total += r[1]; total > uint64(f.src.Size()) {
			return all, errors.New("the note sections overlap or end past the end of the file: the file is truncated or damaged; build it again")
		}
		b, err := readTable(f.src, r[0], r[1], "the note section")
		if err != nil {
			return all, err
		}
		if err := all.readNotes(b); err != nil {
			return all, fmt.Errorf("the note section at byte %d: %w", r[0], err)
		}
	}
	return all, nil
}

func (f *elfFile) noteRanges() [][2]uint64 {
	var ranges [][2]uint64
	for _, s := range f.sections {
		if elf.SectionType(s.Type) == elf.SHT_NOTE {
			ranges = append(ranges, [2]uint64{s.Off, s.Size})
		}
	}
	if ranges != nil {
		return ranges
	}
	for _, p := range f.segments {
		if elf.ProgType(p.Type) == elf.PT_NOTE {
			ranges = append(ranges, [2]uint64{p.Off, p.Filesz})
		}
	}
	return ranges
}

// descriptors finds the symbols of the kernel descriptors: defined objects of 64
// bytes whose names end in ".kd". A file has at most one table of each kind.
func (f *elfFile) descriptors() (map[string]elf.Sym64, error) {
	found := make(map[string]elf.Sym64)
	seen := make(map[elf.SectionType]bool)
	for _, s := range f.sections {
		t := elf.SectionType(s.Type)
		if t != elf.SHT_SYMTAB && t != elf.SHT_DYNSYM || seen[t] {
			continue
		}
		seen[t] = true
		if err := f.symbols(s, found); err != nil {
			return found, err
		}
	}
	return found, nil
}

func (f *elfFile) symbols(s elf.Section64, found map[string]elf.Sym64) error {
	// maxName bounds the search for the end of a name, maxNames what is kept of them.
	const maxName, maxNames = 64 << 10, 64 << 20
	symtab, err := f.section(s, "the symbol table")
	if err != nil {
		return err
	}
	if uint64(s.Link) >= uint64(len(f.sections)) {
		return fmt.Errorf("the symbol table at byte %d names string section %d of %d: the file is damaged; build it again", s.Off, s.Link, len(f.sections))
	}
	strtab, err := f.section(f.sections[s.Link], "the string table")
	if err != nil {
		return err
	}
	searched := 0
	for ; len(symtab) >= elf.Sym64Size; symtab = symtab[elf.Sym64Size:] {
		var sym elf.Sym64
		if _, err := binary.Decode(symtab[:elf.Sym64Size], binary.LittleEndian, &sym); err != nil {
			return err
		}
		if elf.ST_TYPE(sym.Info) != elf.STT_OBJECT || sym.Size != descriptorSize ||
			sym.Shndx == uint16(elf.SHN_UNDEF) || uint64(sym.Name) >= uint64(len(strtab)) {
			continue
		}
		name := strtab[sym.Name:min(len(strtab), int(sym.Name)+maxName)]
		end := bytes.IndexByte(name, 0)
		if end < 0 {
			end = len(name)
		}
		if searched += end; searched > maxNames || len(found) >= maxKernels {
			return fmt.Errorf("the symbol table at byte %d holds too many kernel names; split the file", s.Off)
		}
		if _, dup := found[string(name[:end])]; !dup && bytes.HasSuffix(name[:end], []byte(".kd")) {
			found[string(name[:end])] = sym
		}
	}
	return nil
}

// descriptor reads the kernel descriptor of a symbol.
func (f *elfFile) descriptor(symbols map[string]elf.Sym64, symbol string, g generation, known bool) (*Descriptor, error) {
	sym, ok := symbols[symbol]
	if !ok {
		return nil, fmt.Errorf("no descriptor symbol %q: its allocation is unknown", symbol)
	}
	if int(sym.Shndx) >= len(f.sections) {
		return nil, fmt.Errorf("the descriptor lies in section %d of %d", sym.Shndx, len(f.sections))
	}
	s := f.sections[sym.Shndx]
	off := sym.Value // relocatable: the symbol's value is an offset into its section
	relocatable := elf.Type(f.header.Type) == elf.ET_REL
	if !relocatable {
		off -= s.Addr // linked: an address; one below the section wraps and fails below
	}
	if elf.SectionType(s.Type) == elf.SHT_NOBITS || s.Size < descriptorSize || off > s.Size-descriptorSize || off > math.MaxUint64-s.Off {
		return nil, errors.New("the descriptor lies outside its section")
	}
	b, err := readTable(f.src, s.Off+off, descriptorSize, "the kernel descriptor")
	if err != nil {
		return nil, err
	}
	d := decodeDescriptor(b, g, known)
	if !relocatable { // otherwise a relocation fills KERNEL_CODE_ENTRY_BYTE_OFFSET in
		d.Entry = new(sym.Value + binary.LittleEndian.Uint64(b[16:]))
	}
	return d, nil
}

// readHost looks for offload bundles in a host program, library or object file.
func readHost(f *elfFile, src *io.SectionReader, name string) ([]Object, error) {
	names, err := f.sectionNames()
	if err != nil {
		return nil, err
	}
	var objs []Object
	var errs []error
	found := false
	for _, s := range f.sections {
		if elf.SectionType(s.Type) == elf.SHT_NOBITS || !isFatbin(names, s.Name) {
			continue
		}
		found = true
		size := uint64(src.Size())
		if s.Size > size || s.Off > size-s.Size {
			errs = append(errs, fmt.Errorf("the .hip_fatbin section at byte %d ends past the end of the file: the file is truncated; copy or build it again", s.Off))
			continue
		}
		part, err := readBundles(src, int64(s.Off), int64(s.Off+s.Size), name)
		objs = append(objs, part...)
		if err != nil {
			errs = append(errs, err)
		}
	}
	if !found {
		return nil, fmt.Errorf("an ELF file for %v without a .hip_fatbin section: no AMD GPU code in it; give the .hsaco, or the binary that hipcc linked", elf.Machine(f.header.Machine))
	}
	return objs, joined(errs)
}

// sectionNames reads the section name string table.
func (f *elfFile) sectionNames() ([]byte, error) {
	index := uint64(f.header.Shstrndx)
	if elf.SectionIndex(f.header.Shstrndx) == elf.SHN_XINDEX && len(f.sections) > 0 {
		index = uint64(f.sections[0].Link)
	}
	if index >= uint64(len(f.sections)) {
		return nil, nil
	}
	return f.section(f.sections[index], "the section name table")
}

// isFatbin says whether the name at offset at is .hip_fatbin, or one of the
// per-unit sections .hip_fatbin.ID that clang makes for relocatable device code.
func isFatbin(names []byte, at uint32) bool {
	if uint64(at) >= uint64(len(names)) {
		return false
	}
	rest, ok := bytes.CutPrefix(names[at:], []byte(".hip_fatbin"))
	return ok && len(rest) > 0 && (rest[0] == 0 || rest[0] == '.')
}
