package loops

import (
	"github.com/rocanalyze/rocanalyze/pkg/isa"
)

// Tile holds the main matrix loop against a GEMM tile. Formulas: FlyDSL GEMM
// optimization guide, sections 1 and 9.2.
type Tile struct {
	M     int `json:"tile_m"`
	N     int `json:"tile_n"`
	K     int `json:"tile_k"`
	Bits  int `json:"element_bits"`
	Waves int `json:"waves"`
	// LoopID is the matrix loop with the largest cost. TilesPerIteration is
	// its matrix FLOPs over 2*M*N*K / Waves: what one iteration covers.
	LoopID            int     `json:"loop_id"`
	TilesPerIteration float64 `json:"tiles_per_iteration"`
	// Counts compare one tile with what was executed for it.
	Counts []TileCount `json:"counts"`
}

// TileCount is one row of the comparison, per wave and tile.
type TileCount struct {
	What     string  `json:"what"`
	Expected float64 `json:"expected"`
	Measured float64 `json:"measured"`
	Formula  string  `json:"formula"`
}

// tile compares the costliest innermost matrix loop with the tile that the
// user named; nil without one.
func (b *builder) tile(loops []Loop) *Tile {
	t := &Tile{
		M: int(b.p.Param("tile_m")), N: int(b.p.Param("tile_n")), K: int(b.p.Param("tile_k")),
		Bits: int(b.p.Param("tile_bits")), Waves: int(b.p.Param("tile_waves")),
	}
	if t.M <= 0 || t.N <= 0 || t.K <= 0 || t.Bits <= 0 || t.Waves <= 0 {
		return nil
	}
	for i := range loops {
		if isMatrixLoop(&loops[i]) && loops[i].PerIteration.MatrixFLOPs > 0 {
			t.compare(&loops[i])
			return t
		}
	}
	return nil
}

func (t *Tile) compare(l *Loop) {
	t.LoopID = l.ID
	flops := 2 * float64(t.M) * float64(t.N) * float64(t.K) / float64(t.Waves)
	t.TilesPerIteration = l.PerIteration.MatrixFLOPs / flops
	bytesK := float64(t.K) * float64(t.Bits) / 8
	unroll, repeatM, accN := bytesK/64, float64(t.M)/16, float64(t.N)/float64(t.Waves)/16
	loadsA := float64(t.M) * bytesK / float64(t.Waves*64*4)
	per := func(classes ...isa.Class) float64 {
		var n float64
		for _, c := range classes {
			for _, m := range l.Mix {
				if m.Kind == c.String() {
					n += m.PerIteration
				}
			}
		}
		return n / t.TilesPerIteration
	}
	add := func(what string, expected, measured float64, formula string) {
		t.Counts = append(t.Counts, TileCount{what, expected, measured, formula})
	}
	add("matrix FLOPs", flops, l.PerIteration.MatrixFLOPs/t.TilesPerIteration, "2 x M x N x K / waves")
	add("MFMA", unroll*repeatM*accN*2, per(isa.MFMA), "k_unroll x m_repeat x num_acc_n x 2, for 16x16 instructions of 32 bytes of K")
	add("LDS reads", unroll*repeatM*2, per(isa.LDSRead, isa.LDSTranspose), "k_unroll x m_repeat x 2, of 8 bytes a lane")
	add("memory loads", unroll*2*accN+loadsA, per(isa.VMEMLoad, isa.VMEMToLDS), "B: k_unroll x 2 x num_acc_n, of 8 bytes a lane; A: M x K bytes / (waves x 64 lanes x 4 bytes)")
	add("LDS writes", loadsA, per(isa.LDSWrite), "as many as loads of A; none where A goes to LDS directly")
	add("barriers", 1, per(isa.Barrier, isa.BarrierWait), "one per tile")
	if x := l.PerIteration.Bytes; x != nil {
		a, bb := float64(t.M)*bytesK, float64(t.N)*bytesK
		add("bytes loaded", (a+bb)/float64(t.Waves), (x.MemoryLoad+x.MemoryToLDS)/t.TilesPerIteration, "(M + N) x K bytes / waves")
		add("LDS bytes read", a, x.LDSRead/t.TilesPerIteration, "M x K bytes: each wave reads all of A")
	}
}
