// Package resultsjson reads a results.json, which rocprofv3 --output-format
// json writes: the dispatches of runs, and counters. Source: rocprofiler-sdk
// output/generateJSON.cpp.
package resultsjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/jsonscan"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// topKey is the only key of the file's outermost object.
const topKey = "rocprofiler-sdk-tool"

// SniffBytes of a file are enough for Sniff.
const SniffBytes = 4096

// Sniff reports whether a file begins as a results.json does.
func Sniff(head []byte) bool {
	s := strings.TrimSpace(string(head))
	rest, ok := strings.CutPrefix(s, "{")
	return ok && strings.HasPrefix(strings.TrimSpace(rest), `"`+topKey+`"`)
}

// Bounds of a file: its bytes, which are held in memory, its processes, and
// what one of them describes.
const (
	maxBytes = 2 << 30
	maxTools = 1 << 16
	maxNames = 1 << 22
	// maxAhead bounds the memory that is taken for a file before it is read.
	maxAhead = 256 << 20
)

// tool is what one process recorded. The lists of records are those of the
// text, as there may be millions of them.
type tool struct {
	pid      *int64
	agents   []agent
	kernels  []kernel
	counters map[counterKey]string

	// instructions and sources are those that samples name by number.
	instructions, sources []string

	dispatches, counted, copies, stochastic, hostTrap span
}

// span is a list: it begins at a byte of the document and ends with text, which
// is empty when there is no such list.
type span struct {
	text []byte
	at   int
}

type handle struct {
	Handle int64 `json:"handle"`
}

type counterKey struct{ agent, id int64 }

type counter struct {
	Agent handle `json:"agent_id"`
	ID    handle `json:"id"`
	Name  string `json:"name"`
}

type agent struct {
	ID              handle `json:"id"`
	Type            int    `json:"type"`
	NodeID          int64  `json:"node_id"`
	Name            string `json:"name"`
	Product         string `json:"product_name"`
	DeviceID        *int64 `json:"device_id"`
	CUs             *int64 `json:"cu_count"`
	SIMDsPerCU      *int64 `json:"simd_per_cu"`
	CUsPerEngine    *int64 `json:"cu_per_engine"`
	XCCs            *int64 `json:"num_xcc"`
	MaxWavesPerSIMD *int64 `json:"max_waves_per_simd"`
	LDSKiB          *int64 `json:"lds_size_in_kb"`
	WaveSize        *int64 `json:"wave_front_size"`
	MaxClockMHz     *int64 `json:"max_engine_clk_fcompute"`
}

// gpuType is the "type" of a GPU. Source: rocprofiler_agent_type_t.
const gpuType = 2

func (a *agent) gpu(file string) trace.Agent {
	return trace.Agent{
		Origin: trace.Origin{File: file}, NodeID: a.NodeID, Gfx: a.Name, Product: a.Product, DeviceID: known(a.DeviceID),
		CUs: known(a.CUs), SIMDsPerCU: known(a.SIMDsPerCU), CUsPerEngine: known(a.CUsPerEngine), XCCs: known(a.XCCs),
		MaxWavesPerSIMD: known(a.MaxWavesPerSIMD), LDSKiB: known(a.LDSKiB), WaveSize: known(a.WaveSize), MaxClockMHz: known(a.MaxClockMHz),
	}
}

// known drops what the profiler could not find out, which it writes as 0.
func known(v *int64) *int64 {
	if v == nil || *v <= 0 {
		return nil
	}
	return v
}

type kernel struct {
	ID        int64  `json:"kernel_id"`
	Object    int64  `json:"code_object_id"`
	Symbol    string `json:"kernel_name"`
	Formatted string `json:"formatted_kernel_name"`
	Demangled string `json:"demangled_kernel_name"`
	VGPRs     *int64 `json:"arch_vgpr_count"`
	Accum     *int64 `json:"accum_vgpr_count"`
	SGPRs     *int64 `json:"sgpr_count"`
	LDS       *int64 `json:"group_segment_size"`
}

// name is the name to show.
func (k *kernel) name() string {
	for _, n := range []string{k.Formatted, k.Demangled, k.Symbol} {
		if n = trace.BareName(n); n != "" {
			return n
		}
	}
	return ""
}

type extent struct{ X, Y, Z int64 }

// dispatch is a kernel dispatch, counted or not.
type dispatch struct {
	Start  int64   `json:"start_timestamp"`
	End    int64   `json:"end_timestamp"`
	Stream *handle `json:"stream_id"`
	Info   struct {
		Agent     handle `json:"agent_id"`
		Queue     handle `json:"queue_id"`
		Kernel    int64  `json:"kernel_id"`
		ID        int64  `json:"dispatch_id"`
		Scratch   int64  `json:"private_segment_size"`
		LDS       int64  `json:"group_segment_size"`
		Workgroup extent `json:"workgroup_size"`
		Grid      extent `json:"grid_size"`
	} `json:"dispatch_info"`
}

// counted is one dispatch with its counters.
type counted struct {
	Dispatch dispatch `json:"dispatch_data"`
	Records  []struct {
		Counter handle  `json:"counter_id"`
		Value   float64 `json:"value"`
	} `json:"records"`
	LDS *int64 `json:"lds_block_size_v"`
}

// read reads all but the records, which stay in the text.
func read(r io.Reader) ([]tool, error) {
	var buf bytes.Buffer
	if f, ok := r.(fs.File); ok {
		if info, err := f.Stat(); err == nil {
			buf.Grow(int(min(max(info.Size(), 0), maxAhead)) + bytes.MinRead)
		}
	}
	if _, err := buf.ReadFrom(io.LimitReader(r, maxBytes+1)); err != nil {
		return nil, err
	}
	text := buf.Bytes()
	if len(text) > maxBytes {
		return nil, fmt.Errorf("larger than %d GiB: write rocpd instead (--output-format rocpd)", maxBytes>>30)
	}
	c := &scanner{jsonscan.Cursor{Text: text}}
	var tools []tool
	ok := c.Object(func(key []byte) bool {
		if string(key) != topKey {
			return c.Skip()
		}
		return c.list(func() bool {
			if len(tools) == maxTools {
				return c.Fail(fmt.Sprintf("more than %d processes", maxTools))
			}
			t := tool{counters: map[counterKey]string{}}
			ok := c.Object(func(key []byte) bool { return c.member(&t, string(key)) })
			tools = append(tools, t)
			return ok
		})
	})
	if !ok {
		return nil, c.problem()
	}
	return tools, nil
}

// scanner reads the parts of a results.json.
type scanner struct{ jsonscan.Cursor }

// problem is why the last method failed.
func (c *scanner) problem() error {
	if c.At == len(c.Text) {
		return errors.New("cut short: it ends inside of a JSON value")
	}
	return errors.New(c.Place())
}

// member reads one member of a process.
func (c *scanner) member(t *tool, key string) bool {
	switch key {
	case "metadata":
		var m struct {
			PID *int64 `json:"pid"`
		}
		ok := c.Decode(&m)
		t.pid = m.PID
		return ok
	case "agents":
		return decodeList(c, func(a *agent) {
			if len(t.agents) < maxNames {
				t.agents = append(t.agents, *a)
			}
		})
	case "counters":
		return decodeList(c, func(n *counter) {
			if len(t.counters) < maxNames {
				t.counters[counterKey{n.Agent.Handle, n.ID.Handle}] = n.Name
			}
		})
	case "kernel_symbols":
		return decodeList(c, func(k *kernel) {
			if len(t.kernels) < maxNames {
				t.kernels = append(t.kernels, *k)
			}
		})
	case "buffer_records":
		return c.spans(map[string]*span{
			"kernel_dispatch": &t.dispatches, "memory_copy": &t.copies,
			"pc_sample_stochastic": &t.stochastic, "pc_sample_host_trap": &t.hostTrap,
		})
	case "strings":
		return c.Null() || c.Object(func(key []byte) bool {
			switch string(key) {
			case "pc_sample_instructions":
				return c.texts(&t.instructions)
			case "pc_sample_comments":
				return c.texts(&t.sources)
			}
			return c.Skip()
		})
	case "callback_records":
		return c.spans(map[string]*span{"counter_collection": &t.counted})
	}
	return c.Skip()
}

// texts reads a list of texts.
func (c *scanner) texts(to *[]string) bool {
	return decodeList(c, func(s *string) {
		if len(*to) < maxNames {
			*to = append(*to, *s)
		}
	})
}

// spans finds the lists of an object.
func (c *scanner) spans(lists map[string]*span) bool {
	return c.Null() || c.Object(func(key []byte) bool {
		to, ok := lists[string(key)]
		if !ok {
			return c.Skip()
		}
		if c.Peek() != '[' {
			return c.Null() || c.Fail("a list was expected")
		}
		start := c.At
		ok = c.Skip()
		*to = span{c.Text[:c.At], start}
		return ok
	})
}

// list reads a list, or a null in place of one.
func (c *scanner) list(value func() bool) bool { return c.Null() || c.Array(value) }

// decodeList reads a list of values of one kind.
func decodeList[T any](c *scanner, each func(*T)) bool {
	return c.list(func() bool {
		var v T
		ok := c.Decode(&v)
		if ok {
			each(&v)
		}
		return ok
	})
}

// empty reports whether a list has no element.
func (s span) empty() bool {
	empty := true
	s.each(func(*scanner) bool {
		empty = false
		return false
	})
	return empty
}

// each reads the elements of a list until value returns false; the cursor is
// where that happened.
func (s span) each(value func(*scanner) bool) (c *scanner, ok bool) {
	c = &scanner{jsonscan.Cursor{Text: s.text, At: s.at}}
	return c, len(s.text) == 0 || c.Array(func() bool { return value(c) })
}

// eachOf reads the records of a list until take returns an error. It is an
// error when a record is something else.
func eachOf[T any](s span, take func(*T) error) error {
	var err error
	c, ok := s.each(func(c *scanner) bool {
		var v T
		if !c.Decode(&v) {
			return false
		}
		err = take(&v)
		return err == nil
	})
	if err == nil && !ok {
		err = c.problem()
	}
	return err
}
