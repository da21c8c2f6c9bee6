package gpu

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// sharedData is where the captures and tables used for wide checks live; they
// are not part of the project.
const sharedData = "../../../shared/data"

// sharedPath returns the path of a file there, or skips the test.
func sharedPath(t testing.TB, parts ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{filepath.FromSlash(sharedData)}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("shared test data is absent: %v", err)
	}
	return path
}

// record is one line of a CSV by column name.
type record map[string]string

func (r record) int(t testing.TB, column string) int {
	t.Helper()
	if r[column] == "" {
		return 0
	}
	n, err := strconv.Atoi(r[column])
	if err != nil {
		t.Fatalf("column %s: %v", column, err)
	}
	return n
}

func readCSV(t testing.TB, path string) []record {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []record
	for _, line := range lines[1:] {
		r := record{}
		for i, name := range lines[0] {
			r[name] = line[i]
		}
		out = append(out, r)
	}
	return out
}

func mustArch(t testing.TB, name string) Arch {
	t.Helper()
	a, err := ArchByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func mustOccupancy(t testing.TB, arch string, r Resources) Result {
	t.Helper()
	res, err := Occupancy(mustArch(t, arch), r, Hardware)
	if err != nil {
		t.Fatal(err)
	}
	return res
}
