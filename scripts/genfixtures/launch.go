package main

// launch is one dispatch of a kernel, and where the traced part of it ran.
type launch struct {
	// seed makes the jitter of this launch its own.
	seed     uint64
	dispatch int
	// gpu is the agent that it ran on.
	gpu gpu
	// workgroup is in work-items, in x; groups counts the workgroups of the
	// whole grid in x and y.
	workgroup int
	groups    [2]int
	// working is how many of an engine's workgroups have work, -1 for all.
	working int
	// resident is how many waves of this kernel a SIMD holds at once.
	resident int
	// serve is how long the memory behind a CU is busy with one load and one
	// store: its share of the bandwidth.
	serveLoad, serveStore int64
	engines               []engine
	// tracedSIMD is the only SIMD whose instructions are recorded; -1 for all.
	tracedSIMD int
	// shaderMHz is the clock that the engines really ran at.
	shaderMHz int
	// startTicks is the realtime clock (100 MHz) when the trace began.
	startTicks int64
}

// engine is a traced shader engine.
type engine struct {
	se int
	// target is the CU (WGP on RDNA) whose instructions are recorded; cus are
	// all that take part, the target among them.
	target int
	cus    []int
	// groups counts the workgroups that the target runs.
	groups int
	// short counts the last of cus that run one workgroup less.
	short int
}

// gpu is an agent of the machine.
type gpu struct {
	node, handle int
	name         string
	product      string
	// target is Gfx_Target_Version: 90500 for gfx950.
	target, deviceID int
	cus, xccs        int
	engines, arrays  int
	ldsKB            int
	waveSize         int
	maxWaves         int
	clockMHz         int
}

// The shader clock of the traced engines when the trace begins, and when the
// first workgroup starts. Engine n runs engineSkew*n behind engine 0.
const (
	clockAtTrace  = 6400
	clockAtLaunch = 61200
	engineSkew    = 752
	// ticksPerSecond is realtime.json's frequency.
	ticksPerSecond = 100_000_000
)

// wavesPerGroup is how many waves make a workgroup.
func (l *launch) wavesPerGroup(a arch) int { return (l.workgroup + a.waveSize - 1) / a.waveSize }

func mi350x() gpu {
	return gpu{
		node: 2, handle: 10001, name: "gfx950", product: "AMD Instinct MI350X", target: 90500, deviceID: 30112,
		cus: 256, xccs: 8, engines: 32, arrays: 32, ldsKB: 160, waveSize: 64, maxWaves: 8, clockMHz: 2200,
	}
}

func mi300x() gpu {
	return gpu{
		node: 2, handle: 10001, name: "gfx942", product: "AMD Instinct MI300X", target: 90402, deviceID: 29857,
		cus: 304, xccs: 8, engines: 32, arrays: 32, ldsKB: 64, waveSize: 64, maxWaves: 8, clockMHz: 2100,
	}
}

func rx9070xt() gpu {
	return gpu{
		node: 1, handle: 10001, name: "gfx1201", product: "AMD Radeon RX 9070 XT", target: 120001, deviceID: 30032,
		cus: 64, xccs: 1, engines: 4, arrays: 8, ldsKB: 64, waveSize: 32, maxWaves: 16, clockMHz: 2970,
	}
}

// cuRange lists n CUs from first on.
func cuRange(first, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = first + i
	}
	return out
}
