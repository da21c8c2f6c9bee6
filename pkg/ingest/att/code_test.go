package att

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

const header10 = `"header":"ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle"`

// inst is an instruction with hits, latency, stall and idle.
func inst(line int, text, source string, object, vaddr, hits, latency, stall, idle int64) trace.Instruction {
	return trace.Instruction{
		Line: line, Text: text, Source: source, CodeObject: object, Vaddr: vaddr,
		Counts: trace.Counts{Hits: hits, LatencyCycles: latency, StallCycles: stall, IdleCycles: idle},
	}
}

func TestReadCode(t *testing.T) {
	nop := inst(1, "s_nop 0", "a:1", 2, 64, 3, 40, 30, 10)
	k := trace.Kernel{Symbol: "k", Demangled: "k()", CodeObject: 2, Vaddr: 64, Last: 1}
	label := `["; k",0,0,"k()",2,64,0,0,0,0]`
	row := `["s_nop 0",0,1,"a:1",2,64,3,40,30,10]`
	for _, c := range []struct {
		name, json string
		want       codeDocument
		notes      []string // parts of the texts, in order
	}{
		{
			name: "header after code", json: `{"code":[` + label + `,` + row + `],` + header10 + `,"version":"3.0.0"}`,
			want: codeDocument{version: "3.0.0", code: []trace.Instruction{nop}, kernels: []trace.Kernel{k}},
		},
		{
			name: "header before code, unknown keys", json: ` { "x" : [ { "y" : [ 1 , "]" ] } , [ ] , { } ] , ` + header10 + ` , "code" : [ ` + label + ` , ` + row + ` ] } `,
			want: codeDocument{code: []trace.Instruction{nop}, kernels: []trace.Kernel{k}},
		},
		{
			name: "no header", json: `{"code":[` + label + `,` + row + `]}`,
			want: codeDocument{code: []trace.Instruction{nop}, kernels: []trace.Kernel{k}},
		},
		{
			name: "array header, other order, more columns, case",
			json: `{"header":["New"," idle","STALL","Latency","Hit","Vaddr","Codeobj","Source","LineNumber","ISA"],"code":[[{"a":[1]},10,30,40,3,64,2,"a:1",1,"s_nop 0"]]}`,
			want: codeDocument{code: []trace.Instruction{nop}, kernels: []trace.Kernel{{CodeObject: 2, Vaddr: 64, Last: 1}}},
		},
		{
			name: "cells past the header", json: `{"code":[["s_nop 0",0,1,"a:1",2,64,3,40,30,10,7,"x",[1]],` + row + `],` + header10 + `}`,
			want: codeDocument{
				code: []trace.Instruction{nop, nop}, kernels: []trace.Kernel{{CodeObject: 2, Vaddr: 64, Last: 2}},
			},
			notes: []string{"1 row shares"},
		},
		{
			name: "floats, null source, escapes",
			json: `{"code":[["s_nop \"\u0041\ud83d\ude00\ud800\"",0,1e0,null,2.0,64,3,4.0e1,30,10]]}`,
			want: codeDocument{
				code:    []trace.Instruction{inst(1, "s_nop \"A\U0001F600\uFFFD\"", "", 2, 64, 3, 40, 30, 10)},
				kernels: []trace.Kernel{{CodeObject: 2, Vaddr: 64, Last: 1}},
			},
		},
		{
			name: "bad UTF-8", json: "{\"code\":[[\"s_nop \xff\xfe\",0,1,\"a:1\",2,64,3,40,30,10]]}",
			want: codeDocument{
				code:    []trace.Instruction{inst(1, "s_nop \uFFFD\uFFFD", "a:1", 2, 64, 3, 40, 30, 10)},
				kernels: []trace.Kernel{{CodeObject: 2, Vaddr: 64, Last: 1}},
			},
			notes: []string{"not UTF-8"},
		},
		{
			name: "damaged rows",
			json: `{"code":[["short",0,1],["x",0,1,"",0,0,0.5,0,0,0],["x",0,1,"",0,0,9223372036854775808,0,0,0],["x",0,1,"",0,0,-1,0,0,0],["x",0,-1,"",0,0,1,0,0,0],[7,0,1,"",0,0,1,0,0,0],7,null,{},` + row + `]}`,
			want: codeDocument{code: []trace.Instruction{nop}, kernels: []trace.Kernel{{CodeObject: 2, Vaddr: 64, Last: 1}}},
			notes: []string{
				"9 of 10 rows cannot be understood and are left out (first: row 1: 3 cells instead of 10)",
			},
		},
		{
			name: "largest values", json: `{"code":[["x",0,2147483647,"",9223372036854775807,-9223372036854775808,1099511627776,0,0,0]]}`,
			want: codeDocument{
				code:    []trace.Instruction{inst(2147483647, "x", "", 1<<63-1, -1<<63, 1<<40, 0, 0, 0)},
				kernels: []trace.Kernel{{CodeObject: 1<<63 - 1, Vaddr: -1 << 63, Last: 1}},
			},
		},
		{
			name: "truncated", json: `{"code":[` + label + `,` + row + `,["s_nop 1",0,2,"a`,
			want:  codeDocument{code: []trace.Instruction{nop}, kernels: []trace.Kernel{k}},
			notes: []string{"the string does not end: what follows is lost, 2 rows before it are used"},
		},
		{
			name: "broken text in the middle", json: `{"code":[` + row + `,[1 2],` + row + `],` + header10 + `}`,
			want:  codeDocument{code: []trace.Instruction{nop}, kernels: []trace.Kernel{{CodeObject: 2, Vaddr: 64, Last: 1}}},
			notes: []string{"1 row before it is used"},
		},
		{
			name: "truncated after the rows", json: `{"code":[` + row + `],"header":"ISA`,
			want:  codeDocument{code: []trace.Instruction{nop}, kernels: []trace.Kernel{{CodeObject: 2, Vaddr: 64, Last: 1}}},
			notes: []string{"1 row before it is used"},
		},
		{
			name: "more than a trace can hold", json: `{"code":[["x",0,1,"",1,0,1,1099511627777,0,0]]}`,
			want: codeDocument{state: trace.CodeUnreadable}, notes: []string{"latency 1099511627777 is more than any trace can hold"},
		},
		{name: "null", json: `{"code":null,` + header10 + `}`, want: codeDocument{state: trace.CodeNull}},
		{name: "empty", json: `{"code":[],` + header10 + `}`, want: codeDocument{state: trace.CodeEmpty}},
		{name: "labels only", json: `{"code":[` + label + `]}`, want: codeDocument{state: trace.CodeEmpty}},
		{name: "no code", json: `{}`, want: codeDocument{state: trace.CodeUnreadable}, notes: []string{`no "code"`}},
		{name: "empty file", json: ``, want: codeDocument{state: trace.CodeUnreadable}, notes: []string{"byte 0"}},
		{name: "not an object", json: `[1]`, want: codeDocument{state: trace.CodeUnreadable}, notes: []string{"an object was expected"}},
		{name: "code is an object", json: `{"code":{}}`, want: codeDocument{state: trace.CodeUnreadable}, notes: []string{"not a list"}},
		{name: "header without stall", json: `{"code":[` + row + `],"header":"ISA, LineNumber, Hit, Latency"}`, want: codeDocument{state: trace.CodeUnreadable}, notes: []string{`no column "stall"`}},
		{
			name: "two kernels, empty label, gap and repeat of line numbers",
			json: `{"code":[` + label + `,` + row + `,["; none",0,2,"",2,80,0,0,0,0],["; k2",0,3,"",2,96,0,0,0,0],["s_nop 1",0,9,"",2,96,1,4,0,0],["s_nop 2",0,9,"",2,100,1,4,0,0]]}`,
			want: codeDocument{
				code:    []trace.Instruction{nop, inst(9, "s_nop 1", "", 2, 96, 1, 4, 0, 0), inst(9, "s_nop 2", "", 2, 100, 1, 4, 0, 0)},
				kernels: []trace.Kernel{k, {Symbol: "k2", CodeObject: 2, Vaddr: 96, First: 1, Last: 3}},
			},
			notes: []string{"1 row shares its line number"},
		},
		{
			name: "row of another code object", json: `{"code":[` + label + `,` + row + `,["s_nop 1",0,2,"",0,70000,1,4,0,0]]}`,
			want: codeDocument{
				code:    []trace.Instruction{nop, inst(2, "s_nop 1", "", 0, 70000, 1, 4, 0, 0)},
				kernels: []trace.Kernel{k, {Vaddr: 70000, First: 1, Last: 2}},
			},
		},
		{
			name: "names from the kernel list",
			json: `{"code":[` + row + `,["s_nop 1",0,2,"",2,68,1,4,0,0],["s_nop 2",0,3,"",2,72,1,4,0,0]],"kernels":[{"address":64,"codeobj":2,"name":"a","demangled":"a()"},{"address":72,"codeobj":2,"name":"b","x":[]},7]}`,
			want: codeDocument{
				code:    []trace.Instruction{nop, inst(2, "s_nop 1", "", 2, 68, 1, 4, 0, 0), inst(3, "s_nop 2", "", 2, 72, 1, 4, 0, 0)},
				kernels: []trace.Kernel{{Symbol: "a", Demangled: "a()", CodeObject: 2, Vaddr: 64, Last: 2}, {Symbol: "b", CodeObject: 2, Vaddr: 72, First: 2, Last: 3}},
			},
		},
		{
			name: "samples by header, older names",
			json: `{"code":[["s_nop 0",0,1,"a:1",2,64,0,0,0,0,2,5,147,[0,6,0,141]]],"header":"ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle, ServiceType, Issued, Stalled, NotIssuedReasons"}`,
			want: codeDocument{
				flavour: trace.Samples,
				code: []trace.Instruction{{
					Line: 1, Text: "s_nop 0", Source: "a:1", CodeObject: 2, Vaddr: 64,
					PC: &trace.PCSamples{Issued: 5, Stalled: 147, Reasons: []int64{0, 6, 0, 141}},
				}},
				kernels: []trace.Kernel{{CodeObject: 2, Vaddr: 64, Last: 1}},
			},
		},
		{
			name: "cycles in a document with columns for samples",
			json: `{"code":[["s_nop 0",0,1,"a:1",2,64,3,40,30,10,0,0,null]],"header":["ISA","_","LineNumber","Source","Codeobj","Vaddr","Hit","Latency","Stall","Idle","PC_Issued","PC_Stalled","Stall_Reasons"]}`,
			want: codeDocument{
				code: []trace.Instruction{{
					Line: 1, Text: "s_nop 0", Source: "a:1", CodeObject: 2, Vaddr: 64, Counts: nop.Counts, PC: &trace.PCSamples{},
				}},
				kernels: []trace.Kernel{{CodeObject: 2, Vaddr: 64, Last: 1}},
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var n notes
			got := readCode([]byte(c.json), &n)
			if c.want.state == trace.CodeUnreadable || c.want.state == trace.CodeEmpty {
				c.want.code, c.want.kernels = nil, nil
			}
			if len(got.code) == 0 {
				got.code = nil
			}
			if len(got.kernels) == 0 {
				got.kernels = nil
			}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(codeDocument{})); diff != "" {
				t.Error(diff)
			}
			checkNotes(t, n, c.notes)
		})
	}
}

// checkNotes compares notes with parts of their texts.
func checkNotes(t *testing.T, got notes, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("notes %q, want %q", got, want)
	}
	for i, n := range got {
		if !strings.Contains(n.Where()+": "+n.Text, want[i]) {
			t.Errorf("note %q, want %q", n, want[i])
		}
	}
}
