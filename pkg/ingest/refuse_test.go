package ingest

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// maxRefusal is the length of a refusal without the path.
const maxRefusal = 160

// TestRefusalsFitALine: whatever is asked for, no refusal is longer, and none
// offers what is not read.
func TestRefusalsFitALine(t *testing.T) {
	every := newOpener(context.Background(), Options{}).only
	var offered trace.Part
	for _, f := range offers {
		offered |= f.part
	}
	if offered != every {
		t.Errorf("offers for %b of %b", offered, every)
	}
	for only := trace.Part(0); only <= every; only++ {
		o := newOpener(context.Background(), Options{Only: only})
		all := []string{"not recognised: " + o.advice(), o.lacks() + " below : " + o.advice()}
		for _, s := range strangers {
			help := s.help
			if help == "" || s.part&o.only == 0 {
				help = o.advice()
			}
			all = append(all, s.what+": "+help)
		}
		for _, text := range all {
			if len(text) > maxRefusal {
				t.Errorf("%b: %d bytes: %s", only, len(text), text)
			}
		}
		for _, f := range offers {
			if !o.wants(f.part) && (strings.Contains(o.advice(), f.give) || strings.Contains(o.advice(), f.short)) {
				t.Errorf("%b: %q is not read", only, o.advice())
			}
		}
	}
}

// perfetto is a trace of packets, each with a timestamp and some data.
func perfetto(packets int) string {
	var out []byte
	for i := range packets {
		packet := binary.AppendUvarint([]byte{0x40}, uint64(1000*i))
		packet = append(append(packet, 0x5a, 200), 1)
		packet = append(packet, make([]byte, 200)...)
		out = append(binary.AppendUvarint(append(out, 0x0a), uint64(len(packet))), packet...)
	}
	return string(out)
}

// TestStrangers names files by their content.
func TestStrangers(t *testing.T) {
	o := newOpener(context.Background(), Options{})
	for text, want := range map[string]string{
		perfetto(1): "Perfetto", perfetto(500): "Perfetto",
		"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}": "pickle", "NVR\x00\x01": "Nsight Compute", "AMD_RDF \x01": "Radeon GPU Profiler",
		`{"jobs": [{"pmc": ["SQ_WAVES"]}]}`: "input file", "# counters\npmc : SQ_WAVES\n": "input file", "att: TARGET_CU=1\nSE_MASK=0x1\n": "input file",
		`{"traceEvents": [], "distributedInfo": {}}`: "torch.profiler",
		"\nfirst line\nsecond\n":                     "not recognised", "\n\x05a,b,c\n": "not recognised", "jobs\n": "not recognised", "\x80\x04": "not recognised",
	} {
		c := candidate{name: "file", head: []byte(text)}
		if got, _, _ := o.strange(&c, false); !strings.Contains(got, want) {
			t.Errorf("%.20q: %q, want %q", text, got, want)
		}
	}
}

// FuzzStrange: whatever a file begins with, there are words for it.
func FuzzStrange(f *testing.F) {
	for _, s := range []string{perfetto(2), "\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x80\x04}", `{"traceEvents":[`, "pmc:", ""} {
		f.Add([]byte(s))
	}
	o := newOpener(context.Background(), Options{})
	f.Fuzz(func(t *testing.T, b []byte) {
		c := candidate{name: "file", head: b[:min(len(b), headBytes)]}
		if what, _, _ := o.strange(&c, false); what == "" || strings.Contains(what, "\n") {
			t.Fatalf("%q", what)
		}
	})
}

// A file of every format that another command reads is named.
func TestKindsOfAllFormats(t *testing.T) {
	for _, f := range formats() {
		if kinds[f.name] == "" {
			t.Errorf("nothing is said of a %s where it is not read", f.name)
		}
	}
}
