package att

import (
	"cmp"
	"sort"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Ranges of the numbers that say where a wave ran. Real ones are far smaller;
// the bounds keep tables that are indexed by them small.
const (
	maxSE     = 1024
	maxSIMD   = 16
	maxSlot   = 256
	maxCU     = 1024
	maxWaveID = 1 << 31
	maxNames  = 1 << 10
)

// listedWave is a wave that the trace lists.
type listedWave struct {
	file               string
	se, simd, slot, id int
}

// fileList is what filenames.json holds.
type fileList struct {
	gfxMajor int
	counters []string
	waves    []listedWave
}

// readFileList reads filenames.json; without a usable one the wave files are
// listed by their names.
func readFileList(d *folder, n *notes) fileList {
	const name = "filenames.json"
	var list fileList
	b, ok := d.readOptional(name, maxListBytes, n)
	complete := ok && list.parse(b, n)
	if !complete {
		if byName := wavesByName(d.names); len(byName) > len(list.waves) {
			list.waves = byName
			n.add(trace.Info, name, "not usable: the wave files are listed by their names")
		}
	}
	list.sortWaves(n)
	return list
}

// parse reads the bytes of filenames.json and reports whether it read all.
func (l *fileList) parse(b []byte, n *notes) bool {
	c := newCursor(b)
	bad := 0
	ok := c.Object(func(key []byte) bool {
		switch string(key) {
		case "gfxip":
			major := 0
			ok := c.smallInt(&major, 1<<16)
			l.gfxMajor = cmp.Or(major, l.gfxMajor)
			return ok
		case "gfxv": // all that older releases say: "vega" is gfx9, "navi" several
			var gfxv string
			ok := c.stringOr(&gfxv)
			if gfxv == "vega" && l.gfxMajor == 0 {
				l.gfxMajor = 9
			}
			return ok
		case "counter_names":
			return c.stringList(&l.counters)
		case "wave_filenames":
			l.waves = nil
			return l.parseWaves(&c, &bad)
		default:
			return c.Skip()
		}
	}) && c.End()
	if !ok {
		n.add(trace.Damage, "filenames.json", "%s: %s", c.Place(), trace.Many(len(l.waves), "wave before it is listed", "waves before it are listed"))
	}
	if bad > 0 {
		n.add(trace.Damage, "filenames.json", "%s", trace.LeftOut(bad, "entry of the wave list", "entries of the wave list"))
	}
	return ok
}

// smallInt reads an integer of [0, limit) into v; any other value is skipped
// and leaves 0.
func (c *cursor) smallInt(v *int, limit int64) bool {
	*v = 0
	m := c.Mark()
	if x, ok := c.Int(); ok {
		if x >= 0 && x < limit {
			*v = int(x)
		}
		return true
	}
	c.Reset(m)
	return c.Skip()
}

// stringList reads a list of strings; other elements become "".
func (c *cursor) stringList(list *[]string) bool {
	*list = nil
	if c.Peek() != '[' {
		return c.Skip()
	}
	return c.Array(func() bool {
		if len(*list) >= maxNames {
			return c.Fail("the list of names is too long")
		}
		if c.Peek() != '"' {
			*list = append(*list, "")
			return c.Skip()
		}
		s, ok := c.Str()
		*list = append(*list, string(s))
		return ok
	})
}

// parseWaves reads {se: {simd: {slot: {n: [file, begin, end]}}}}. Entries of
// another shape are counted in bad.
func (l *fileList) parseWaves(c *cursor, bad *int) bool {
	limits := [...]int64{maxSE, maxSIMD, maxSlot, maxWaveID}
	var at [len(limits)]int
	var level func(k int) bool
	level = func(k int) bool {
		if c.Peek() != '{' {
			if !c.Null() {
				*bad++
				return c.Skip()
			}
			return true
		}
		return c.Object(func(key []byte) bool {
			v, err := strconv.ParseInt(string(key), 10, 64)
			if err != nil || v < 0 || v >= limits[k] {
				*bad++
				return c.Skip()
			}
			at[k] = int(v)
			if k+1 < len(limits) {
				return level(k + 1)
			}
			file, ok := c.firstString()
			if file != "" {
				l.waves = append(l.waves, listedWave{file, at[0], at[1], at[2], at[3]})
			} else {
				*bad++
			}
			return ok
		})
	}
	return level(0)
}

// firstString reads a list and returns its first element if that is a string.
func (c *cursor) firstString() (s string, ok bool) {
	if c.Peek() != '[' {
		return "", c.Skip()
	}
	first := true
	ok = c.Array(func() bool {
		if first && c.Peek() == '"' {
			b, ok := c.Str()
			s, first = string(b), false
			return ok
		}
		first = false
		return c.Skip()
	})
	return s, ok
}

// sortWaves orders the waves by file name and drops entries that name a file
// again.
func (l *fileList) sortWaves(n *notes) {
	sort.SliceStable(l.waves, func(i, j int) bool { return l.waves[i].file < l.waves[j].file })
	kept := l.waves[:0]
	for _, w := range l.waves {
		if len(kept) == 0 || kept[len(kept)-1].file != w.file {
			kept = append(kept, w)
		}
	}
	if again := len(l.waves) - len(kept); again > 0 {
		n.add(trace.Warning, "filenames.json", "%s", trace.Many(again,
			"entry of the wave list names", "entries of the wave list name")+" a file that is listed before: each file is read once")
	}
	l.waves = kept
}

// wavesByName lists the files whose names are those of waves.
func wavesByName(names []string) []listedWave {
	var waves []listedWave
	for _, name := range names {
		if w, ok := parseWaveName(name); ok {
			waves = append(waves, w)
		}
	}
	return waves
}

// parseWaveName reads "se0_sm1_sl2_wv3.json".
func parseWaveName(name string) (w listedWave, ok bool) {
	rest, ok := strings.CutSuffix(name, ".json")
	if !ok {
		return w, false
	}
	parts := strings.Split(rest, "_")
	fields := [...]struct {
		prefix string
		limit  int64
		to     *int
	}{{"se", maxSE, &w.se}, {"sm", maxSIMD, &w.simd}, {"sl", maxSlot, &w.slot}, {"wv", maxWaveID, &w.id}}
	if len(parts) != len(fields) {
		return w, false
	}
	for i, f := range fields {
		digits, ok := strings.CutPrefix(parts[i], f.prefix)
		v, err := strconv.ParseUint(digits, 10, 32)
		if !ok || err != nil || int64(v) >= f.limit {
			return w, false
		}
		*f.to = int(v)
	}
	w.file = name
	return w, true
}

// noteUnlisted warns about wave files that the list leaves out.
func (l *fileList) noteUnlisted(d *folder, n *notes) {
	listed := make(map[string]bool, len(l.waves))
	for _, w := range l.waves {
		listed[w.file] = true
	}
	unlisted := 0
	for _, name := range d.names {
		if _, ok := parseWaveName(name); ok && !listed[name] {
			unlisted++
		}
	}
	if unlisted > 0 {
		n.add(trace.Warning, "filenames.json", "%s", trace.Many(unlisted,
			"wave file is not in its list and is not read", "wave files are not in its list and are not read"))
	}
}

// perfCounterSE returns the shader engine of "se3_perfcounter.json".
func perfCounterSE(name string) (se int, ok bool) {
	rest, ok := strings.CutSuffix(name, "_perfcounter.json")
	if !ok {
		return 0, false
	}
	digits, ok := strings.CutPrefix(rest, "se")
	if !ok {
		return 0, false
	}
	return smallDecimal(digits, maxSE)
}

// smallDecimal reads digits as a number of [0, limit).
func smallDecimal(digits string, limit uint64) (int, bool) {
	v, err := strconv.ParseUint(digits, 10, 32)
	return int(v), err == nil && v < limit
}
