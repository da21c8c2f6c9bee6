package counters

import (
	"math"
	"reflect"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// check holds what every source promises about what it hands on.
func check(t *testing.T, ds []trace.CounterDispatch) {
	t.Helper()
	for _, d := range ds {
		if d.Kernel == "" || d.Grid < 0 || d.Workgroup < 0 || d.ID < -1 || len(d.Values) == 0 && d.Pass != "" {
			t.Errorf("dispatch %+v", d)
		}
		if ns, ok := d.DurationNs(); ok && !(ns > 0) {
			t.Errorf("a duration of %g", ns)
		}
		for _, v := range d.Values {
			if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) || v.Instance < trace.AllInstances || v.Instance > maxInstance {
				t.Errorf("value %+v", v)
			}
		}
	}
}

func FuzzTable(f *testing.F) {
	for _, seed := range []string{
		header62 + "1,1,1,1,2,2,64,16,\"k(a, b)\",64,0,0,8,16,\"SQ_WAVES\",1\n",
		header70 + "1,1,\"Agent 2\",1,7,7,512,7,\"k\",512,0,0,8,0,32,\"A\",0.00000000e+00,13386742234691895,13386742234700548\n",
		"Dispatch_ID,Kernel_Name,XCC_Index,TCC_HIT[0],SQ_WAVES,Start_Timestamp,End_Timestamp\n0,\"k (.kd)\",1,2,3,8.1E+14,1248227793203453.2\n",
		"Dispatch_ID,Kernel_Name\n",
		"Kernel_Name,Counter_Name,Counter_Value\n\"a\"\"b\nc\",X[1],1\r\n,,\n\"",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		Sniff(data)
		one, r1, err1 := fold(t, table(string(data)), 1)
		two, r2, err2 := fold(t, table(string(data)), 2)
		check(t, one)
		if (err1 == nil) != (err2 == nil) || !reflect.DeepEqual(one, two) || !reflect.DeepEqual(r1, r2) {
			t.Error("two workers read something else than one")
		}
	})
}
