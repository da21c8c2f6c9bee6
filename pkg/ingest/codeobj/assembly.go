package codeobj

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxLine is how much of one line of a listing is kept; longer lines are data.
const maxLine = 64 << 10

// marks are the first words of lines that only AMDGPU listings have: directives of
// LLVM's AMDGPU assembler (AMDGPUUsage, "Assembler Directives"), those of code
// object V2, and the last instruction of every program.
var marks = map[string]bool{
	".amdgcn_target": true, ".amdhsa_kernel": true, ".amdhsa_code_object_version": true, ".amdgpu_metadata": true,
	".amd_kernel_code_t": true, ".amdgpu_hsa_kernel": true, ".hsa_code_object_version": true, "s_endpgm": true,
}

// isMark reports whether a line is one of an AMDGPU listing; llvm-objdump begins
// with the format.
func isMark(line []byte) bool {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '.' && line[0] != 's' && !bytes.HasSuffix(line, []byte("file format elf64-amdgpu")) {
		return false
	}
	end := bytes.IndexAny(line, " \t")
	if end < 0 {
		end = len(line)
	}
	return marks[string(line[:end])] || bytes.HasSuffix(line, []byte("file format elf64-amdgpu"))
}

// maxScan is how far FindAssembly looks into a file.
const maxScan = 64 << 20

// SniffAssembly says whether the beginning of a text file has a mark of an AMDGPU
// listing. Comments or the code of the host may stand before the first one:
// FindAssembly looks further.
func SniffAssembly(head []byte) bool {
	found, err := FindAssembly(bytes.NewReader(head))
	return found && err == nil
}

// FindAssembly says whether a text file is an AMDGPU listing by the first 64 MiB.
// It reads no further than the first mark, or the first byte that no text has.
func FindAssembly(r io.Reader) (bool, error) {
	br := bufio.NewReaderSize(io.LimitReader(r, maxScan), maxLine)
	for {
		line, err := br.ReadSlice('\n')
		switch {
		case bytes.IndexByte(line, 0) >= 0:
			return false, nil
		case isMark(line):
			return true, nil
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return false, err
		}
	}
}

// ReadAssembly reads the kernels of a listing: the .amdhsa_kernel directives, the
// .amdgpu_metadata document and LLVM's "Kernel info" comments; macros are expanded.
// A file that holds the listings of several targets, as hipcc -S writes it, gives
// an object for each; the code of the host is left out. name is used in paths and
// errors only. target is what a listing is for that does not say it (its author
// gave it by -mcpu); it may be empty, and is no Object.Target.
//
// An error does not void the objects beside it: they hold what could be read.
func ReadAssembly(r io.Reader, name, target string) ([]Object, error) {
	f := &listingFile{name: name, given: target}
	f.begin()
	err := f.read(r)
	f.end(&err)
	switch {
	case err != nil || len(f.objects) > 0:
	case f.l.code:
		err = errors.New("AMDGPU instructions without an .amdhsa_kernel, as in a disassembly: nothing tells what a kernel allocates; give the code object (.hsaco, .co), or the .s of clang -S --cuda-device-only")
	default:
		err = errors.New("no .amdgcn_target and no .amdhsa_kernel: not an AMDGPU listing; give the .s of clang -S --cuda-device-only")
	}
	if len(f.objects) > 1 {
		for i := range f.objects {
			f.objects[i].Path += "#" + f.objects[i].Target
		}
	}
	if err != nil {
		return f.objects, fmt.Errorf("%s: %w", name, err)
	}
	return f.objects, nil
}

// listingFile is a file with one listing, or with several one behind the other.
type listingFile struct {
	name, given string
	l           *listing
	host        bool // the part at hand is code of the host
	comment     bool // a comment over several lines is open
	objects     []Object
}

// begin starts the listing of another target.
func (f *listingFile) begin() {
	f.l = &listing{object: Object{Path: f.name}, given: f.given, byName: make(map[string]int), symbols: newSymbolTable()}
	f.l.useTarget()
	f.l.pre = preprocessor{emit: f.l.line, eval: f.l.symbols.at, defined: f.l.symbols.defined}
}

// end takes over what the listing held; err becomes its first error.
func (f *listingFile) end(err *error) {
	l := f.l
	if *err == nil && l.open != nil {
		*err = fmt.Errorf("the listing ends inside .amdhsa_kernel %s: the file is truncated; write it again", l.open.kernel.Name)
	}
	if l.yaml != nil {
		l.endMetadata()
		*err = cmp.Or(*err, errors.New("the listing ends inside .amdgpu_metadata: the file is truncated; write it again"))
	}
	l.finish()
	if l.object.Target != "" || len(l.object.Kernels) > 0 {
		f.objects = append(f.objects, l.object)
	}
}

// next ends a listing and begins the one behind it.
func (f *listingFile) next() (err error) {
	if f.end(&err); err == nil && len(f.objects) >= maxObjects {
		err = fmt.Errorf("more than %d listings; split the file", maxObjects)
	}
	f.begin()
	return err
}

// listing is the state of reading a listing line by line.
type listing struct {
	object  Object
	given   string // the target that the caller knows
	symbols symbolTable
	kernels []*asmKernel
	byName  map[string]int // kernel name to index in kernels
	open    *asmKernel     // between .amdhsa_kernel and its end
	last    *asmKernel     // the kernel that comments belong to
	info    map[string]string
	yaml    *yamlReader // between .amdgpu_metadata and its end
	meta    []Kernel
	label   string // the last one
	v2      bool   // between .amd_kernel_code_t and its end
	pre     preprocessor
	// unnamed says that the number of a register that an operand names is not
	// known, code that there are AMDGPU instructions.
	unnamed, code bool
}

// asmKernel is a kernel with its directives and comments as they are written.
type asmKernel struct {
	kernel     Kernel
	directives map[string]string
	comments   map[string]string
}

func (f *listingFile) read(r io.Reader) error {
	br := bufio.NewReaderSize(r, maxLine)
	for number := 1; ; number++ {
		b, err := br.ReadSlice('\n')
		line := string(b)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = br.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("line %d: %w", number, err)
		}
		if lineErr := f.line(strings.TrimRight(line, "\r\n")); lineErr != nil {
			return fmt.Errorf("line %d: %w", number, lineErr)
		}
		if err != nil {
			return nil
		}
	}
}

// bundleMark stands in the comments before and behind each part of a bundle of
// texts (Clang Offload Bundler documentation, "Bundled Text File Layout").
const bundleMark = "__CLANG_OFFLOAD_BUNDLE__"

func (f *listingFile) line(line string) error {
	if _, id, ok := strings.Cut(line, bundleMark+"__START__ "); ok {
		f.host = strings.HasPrefix(id, "host")
		if f.l.object.Target != "" || len(f.l.kernels) > 0 {
			return f.next()
		}
		return nil
	}
	if strings.Contains(line, bundleMark+"__END__") {
		f.host = false
		return nil
	}
	if f.host {
		return nil
	}
	if f.l.yaml == nil {
		line = f.uncommented(line)
	}
	text := strings.TrimSpace(line)
	if word, rest := splitWord(text); word == ".amdgcn_target" && f.l.yaml == nil {
		id := targetID(strings.Trim(stripComment(rest), `"`))
		if f.l.object.Target != "" && f.l.object.Target != id {
			if err := f.next(); err != nil {
				return err
			}
		}
	}
	return f.l.pre.line(line, text)
}

// uncommented takes out comments between /* and */.
func (f *listingFile) uncommented(line string) string {
	if !f.comment && !strings.Contains(line, "/*") {
		return line
	}
	var b strings.Builder
	for {
		mark := "/*"
		if f.comment {
			mark = "*/"
		}
		before, after, ok := strings.Cut(line, mark)
		if !f.comment {
			b.WriteString(before)
		}
		if !ok {
			return b.String()
		}
		f.comment = !f.comment
		line = after
	}
}

func (l *listing) line(line string) error {
	text := strings.TrimSpace(line)
	if l.yaml != nil {
		if text == ".end_amdgpu_metadata" {
			l.endMetadata()
			return nil
		}
		return l.yaml.line(line)
	}
	if strings.HasPrefix(text, ";") {
		l.comment(text)
		return nil
	}
	l.info = nil
	text = stripComment(text)
	if name, expr, ok := assignment(text); ok && !l.v2 {
		l.symbols.define(name, expr)
		return nil
	}
	if !strings.HasPrefix(text, ".") {
		return l.instruction(text)
	}
	directive, rest := splitWord(text)
	switch directive {
	case ".amdgcn_target":
		l.object.Target = targetID(strings.Trim(rest, `"`))
		l.useTarget()
	case ".hsa_code_object_isa":
		l.isa(rest)
	case ".amdhsa_kernel":
		return l.begin(strings.Trim(rest, `"`))
	case ".end_amdhsa_kernel":
		l.open = nil
	case ".amd_kernel_code_t":
		return l.beginV2()
	case ".end_amd_kernel_code_t":
		l.v2, l.open = false, nil
	case ".set", ".equ", ".equiv":
		if name, expr, ok := strings.Cut(rest, ","); ok {
			l.symbols.define(strings.TrimSpace(name), strings.TrimSpace(expr))
		}
	case ".amdgpu_metadata":
		l.yaml = &yamlReader{limit: maxKernels - len(l.meta)}
	default:
		if l.open != nil && strings.HasPrefix(directive, ".amdhsa_") {
			l.directive(directive, rest)
		}
	}
	return nil
}

// assignment splits "name = expression".
func assignment(text string) (name, expr string, ok bool) {
	name, expr, ok = strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	if !ok || name == "" || strings.HasPrefix(expr, "=") || strings.ContainsFunc(name, func(r rune) bool { return r >= 0x80 || !isSymbolByte(byte(r)) }) {
		return "", "", false
	}
	return name, strings.TrimSpace(expr), true
}

// directive keeps one of a kernel, with the value that it has at this place.
func (l *listing) directive(name, text string) {
	if (strings.Contains(text, nextFreeVGPR) || strings.Contains(text, nextFreeSGPR)) && (l.unnamed || l.pre.unsure) {
		l.object.note("kernel %s: %s follows from operands behind macros or symbols that are not followed here; assemble the listing (llvm-mc -triple amdgcn-amd-amdhsa -mcpu=gfxNNN -filetype=obj) and give the object", l.open.kernel.Name, name)
		text = ""
	} else if v := l.symbols.at(text); v.ok {
		text = strconv.FormatInt(v.n, 10)
	}
	l.open.directives[strings.Clone(name)] = strings.Clone(text)
}

// instruction reads a line of code, or of the values in an .amd_kernel_code_t.
func (l *listing) instruction(text string) error {
	if l.v2 {
		l.valueV2(text)
		return nil
	}
	if label, rest, ok := strings.Cut(text, ":"); ok && !strings.ContainsAny(label, " \t[") {
		l.label = strings.Clone(label)
		text = strings.TrimSpace(rest)
	}
	l.code = l.code || strings.HasPrefix(text, "s_")
	l.uses(text)
	return nil
}

// endMetadata takes over what the metadata document held.
func (l *listing) endMetadata() {
	l.yaml.endDims()
	l.meta = append(l.meta, l.yaml.kernels...)
	if l.object.Target == "" {
		l.object.Target = l.yaml.target
		l.useTarget()
	}
	l.yaml = nil
}

// splitWord splits the first word from the rest of a line.
func splitWord(s string) (word, rest string) {
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return s[:i], strings.TrimSpace(s[i:])
	}
	return s, ""
}

// stripComment cuts a comment from the end of a directive: "; ...", "// ..." or
// "/* ...". Directives read here hold no string with such characters.
func stripComment(s string) string {
	for _, mark := range []string{";", "//", "/*"} {
		if i := strings.Index(s, mark); i >= 0 {
			s = s[:i]
		}
	}
	return strings.TrimSpace(s)
}

// useTarget takes the register encoding of the target, or of the one that the
// caller knows.
func (l *listing) useTarget() {
	l.symbols.g, _ = generationOf(cmp.Or(l.object.Target, l.given))
}

func (l *listing) begin(name string) error {
	if len(l.kernels) >= maxKernels {
		return fmt.Errorf("more than %d kernels; split the listing", maxKernels)
	}
	if l.open != nil {
		return fmt.Errorf(".amdhsa_kernel %s inside .amdhsa_kernel %s: the listing is damaged; write it again", name, l.open.kernel.Name)
	}
	k := &asmKernel{directives: make(map[string]string)}
	k.kernel.Name = strings.Clone(name)
	k.kernel.Symbol = name + ".kd"
	l.byName[k.kernel.Name] = len(l.kernels)
	l.kernels = append(l.kernels, k)
	l.open, l.last = k, k
	return nil
}

// comment reads a line of the block that begins with "; Kernel info:". It belongs to
// the kernel whose directives came last; "; Function info:" begins another block.
func (l *listing) comment(text string) {
	text = strings.TrimSpace(strings.TrimLeft(text, ";"))
	switch {
	case text == "Kernel info:":
		l.info = nil
		if l.last != nil && l.last.comments == nil {
			l.last.comments = make(map[string]string)
			l.info = l.last.comments
		}
		return
	case text == "Function info:":
		l.info = nil
	}
	if l.info == nil || len(l.info) > 64 {
		return
	}
	at := strings.IndexAny(text, ":=")
	if at < 0 {
		return
	}
	v := strings.TrimSpace(text[at+1:])
	v, _, _ = strings.Cut(v, " bytes") // "4096 bytes/workgroup (compile time only)"
	l.info[strings.Clone(strings.TrimSpace(text[:at]))] = strings.Clone(v)
}

// finish evaluates what was collected, once all symbols are known.
func (l *listing) finish() {
	g, known := generationOf(cmp.Or(l.object.Target, l.given))
	l.symbols.g = g
	l.mergeMetadata()
	for _, a := range l.kernels {
		k := &a.kernel
		k.Comments = l.comments(a.comments)
		if a.directives != nil {
			k.Descriptor = l.descriptor(a, g, known)
		}
		k.countVGPRs(g, known)
		l.object.Kernels = append(l.object.Kernels, *k)
	}
}

// mergeMetadata gives the metadata to the kernels by symbol; a kernel that has
// metadata only, such as in a damaged listing, is kept.
func (l *listing) mergeMetadata() {
	for _, m := range l.meta {
		i, ok := l.byName[strings.TrimSuffix(m.Symbol, ".kd")]
		if !ok {
			l.object.note("kernel %s: metadata without .amdhsa_kernel", m.Name)
			l.kernels = append(l.kernels, &asmKernel{kernel: m})
			continue
		}
		k := &l.kernels[i].kernel
		k.Metadata = m.Metadata
		if m.Name != "" {
			k.Name = m.Name
		}
	}
}

func (l *listing) comments(info map[string]string) *Comments {
	if info == nil {
		return nil
	}
	count := func(keys ...string) *int {
		for _, key := range keys {
			if text, ok := info[key]; ok {
				v := l.symbols.eval(text)
				return fitInt(v.n, v.ok)
			}
		}
		return nil
	}
	return &Comments{
		NumVGPRs:      count("NumVgprs"),
		NumAGPRs:      count("NumAgprs"),
		TotalNumVGPRs: count("TotalNumVgprs"),
		TotalNumSGPRs: count("TotalNumSgprs", "NumSgprs"), // the latter before LLVM 18
		ScratchBytes:  count("ScratchSize"),
		LDSBytes:      count("LDSByteSize"),
		Occupancy:     count("Occupancy"),
		CodeBytes:     count("codeLenInByte"),
	}
}

// descriptor computes what the assembler would encode. Directives that are left out
// have the defaults of LLVM AMDGPUUsage, "AMDHSA Kernel Assembler Directives"; those
// whose default depends on compiler flags stay unknown.
func (l *listing) descriptor(a *asmKernel, g generation, known bool) *Descriptor {
	number := func(key string) *int {
		text, ok := a.directives[key]
		if !ok {
			return nil
		}
		v := l.symbols.eval(text)
		p := fitInt(v.n, v.ok)
		if p == nil && text != "" {
			l.object.note("kernel %s: %s %.80s has no value in this listing", a.kernel.Name, key, text)
		}
		return p
	}
	orZero := func(key string) *int {
		if _, ok := a.directives[key]; !ok {
			return new(0)
		}
		return number(key)
	}
	d := &Descriptor{
		LDSBytes:     orZero(".amdhsa_group_segment_fixed_size"),
		ScratchBytes: orZero(".amdhsa_private_segment_fixed_size"),
		KernargBytes: orZero(".amdhsa_kernarg_size"),
		DynamicStack: isSet(orZero(".amdhsa_uses_dynamic_stack")),
	}
	if !known {
		return d
	}
	d.Wave32 = waveSize(g, number(".amdhsa_wavefront_size32"), a.kernel.Metadata.WavefrontSize)
	if n := number(".amdhsa_next_free_vgpr"); n != nil && d.Wave32 != nil {
		granule := g.vgprGranule(*d.Wave32)
		d.setVGPRs(g, (max(*n, 1)+granule-1)/granule)
	}
	l.directiveSGPRs(d, g, number)
	if g.unified {
		d.AccumOffset = number(".amdhsa_accum_offset")
		d.TGSplit = isSet(number(".amdhsa_tg_split"))
	}
	if g.wgp {
		d.WGPMode = isSet(number(".amdhsa_workgroup_processor_mode"))
	}
	if g.namedBarriers {
		if n := orZero(".amdhsa_named_barrier_count"); n != nil {
			d.NamedBarriers = new(*n * barriersPerBlock)
		}
	}
	return d
}

// directiveSGPRs adds the special registers to .amdhsa_next_free_sgpr; VCC and flat
// scratch are reserved by default, the XNACK mask unless the target turns XNACK off.
func (l *listing) directiveSGPRs(d *Descriptor, g generation, number func(string) *int) {
	if !g.gfx9 {
		d.SGPRs = new(sgprsGFX10)
		return
	}
	reserved := func(key string, byDefault bool) bool {
		if n := number(key); n != nil {
			return *n != 0
		}
		return byDefault
	}
	extra := g.extraSGPRs(
		reserved(".amdhsa_reserve_vcc", true),
		reserved(".amdhsa_reserve_flat_scratch", true),
		reserved(".amdhsa_reserve_xnack_mask", !strings.Contains(cmp.Or(l.object.Target, l.given), ":xnack-")))
	if n := number(".amdhsa_next_free_sgpr"); n != nil {
		d.setSGPRs(g, (max(*n+extra, 1)+7)/8)
	}
}

// waveSize finds out whether a kernel has waves of 32 lanes: from its directive, or,
// as the default depends on compiler flags, from the metadata.
func waveSize(g generation, directive, metadata *int) *bool {
	switch {
	case g.gfx9:
		return new(false)
	case directive != nil:
		return new(*directive != 0)
	case metadata != nil:
		return new(*metadata == 32)
	}
	return nil
}

func isSet(n *int) *bool {
	if n == nil {
		return nil
	}
	return new(*n != 0)
}

// yamlReader takes the kernels out of the metadata document of a listing. It knows
// block style as LLVM and Tensile write it: kernels are the items of amdhsa.kernels,
// their keys stand one per line at one indentation, and only known keys are read.
type yamlReader struct {
	kernels []Kernel
	target  string
	limit   int
	inList  bool
	item    int  // indentation of the dashes of amdhsa.kernels; -1 before the first
	keys    int  // indentation of the keys of the current kernel
	dims    bool // .reqd_workgroup_size is being read
	size    []int64
}

func (y *yamlReader) line(line string) error {
	text := strings.TrimLeft(line, " ")
	indent := len(line) - len(text)
	text = strings.TrimSpace(text)
	switch {
	case text == "" || strings.HasPrefix(text, "#"):
		return nil
	case strings.HasPrefix(text, "amdhsa.") || indent == 0 && !strings.HasPrefix(text, "-"):
		y.endDims()
		y.inList, y.item = strings.HasPrefix(text, "amdhsa.kernels:"), -1
		if triple, ok := strings.CutPrefix(text, "amdhsa.target:"); ok {
			y.target = strings.Clone(targetID(unquote(strings.TrimSpace(triple))))
		}
		return nil
	case !y.inList:
		return nil
	}
	if rest, ok := strings.CutPrefix(text, "- "); ok {
		if y.item < 0 {
			y.item = indent
		}
		if indent != y.item {
			if y.dims {
				y.addDim(rest)
			}
			return nil
		}
		if len(y.kernels) >= y.limit {
			return fmt.Errorf("more than %d kernels; split the listing", maxKernels)
		}
		y.endDims()
		y.kernels = append(y.kernels, Kernel{})
		y.keys = indent + len(text) - len(strings.TrimLeft(rest, " "))
		text, indent = strings.TrimLeft(rest, " "), y.keys
	}
	if len(y.kernels) > 0 && indent == y.keys {
		y.endDims()
		y.field(text)
	}
	return nil
}

// field reads one "key: value" of the current kernel.
func (y *yamlReader) field(text string) {
	key, val, ok := strings.Cut(text, ":")
	if !ok {
		return
	}
	val = unquote(strings.TrimSpace(val))
	k := &y.kernels[len(y.kernels)-1]
	switch key {
	case ".name":
		k.Name = strings.Clone(val)
		if k.Symbol == "" {
			k.Symbol = val + ".kd"
		}
	case ".symbol":
		k.Symbol = strings.Clone(val)
	case ".reqd_workgroup_size":
		y.dims, y.size = true, nil
		if list, ok := strings.CutPrefix(val, "["); ok {
			for item := range strings.SplitSeq(strings.TrimSuffix(list, "]"), ",") {
				y.addDim(item)
			}
		}
	default:
		if n, ok := yamlNumber(val); ok {
			k.Metadata.set(key, n)
		}
	}
}

func (y *yamlReader) addDim(text string) {
	if n, ok := yamlNumber(strings.TrimSpace(text)); ok && len(y.size) < 4 {
		y.size = append(y.size, n)
	}
}

func (y *yamlReader) endDims() {
	if y.dims && len(y.kernels) > 0 {
		y.kernels[len(y.kernels)-1].Metadata.setWorkgroup(y.size)
	}
	y.dims = false
}

func yamlNumber(s string) (int64, bool) {
	switch s {
	case "true":
		return 1, true
	case "false":
		return 0, true
	}
	n, err := strconv.ParseInt(s, 0, 64)
	return n, err == nil
}

// unquote takes the quotes off a YAML scalar; a quote inside '...' is doubled.
func unquote(s string) string {
	if len(s) < 2 || s[0] != s[len(s)-1] {
		return s
	}
	switch s[0] {
	case '\'':
		return strings.ReplaceAll(s[1:len(s)-1], "''", "'")
	case '"':
		return s[1 : len(s)-1]
	}
	return s
}
