package report

import (
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const realData = "../../../shared/data/pmc"

// Names of real kernels keep their base name at 60 cells: the identifier in front of the first template or parameter list.
func TestShortenRealNames(t *testing.T) {
	if _, err := os.Stat(realData); err != nil {
		t.Skipf("no real captures here: %v", err)
	}
	names := map[string]bool{}
	err := filepath.WalkDir(realData, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".csv" {
			return err
		}
		return addKernelNames(names, path)
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < 10 {
		t.Fatalf("only %d kernel names under %s", len(names), realData)
	}
	for name := range names {
		got := ShortenName(name, 60)
		if displayWidth(got) > 60 {
			t.Errorf("%q takes %d cells", got, displayWidth(got))
		}
		if base := baseName(name); len(base) <= 55 && !strings.Contains(got, base) {
			t.Errorf("%q is no longer recognisable as %q", got, name)
		}
	}
}

// baseName finds the identifier by other means than the package does; names it cannot judge give "".
func baseName(name string) string {
	if strings.Contains(name, "(anonymous namespace)") || strings.Contains(name, "operator") {
		return ""
	}
	if i := strings.IndexAny(name, "<("); i >= 0 {
		name = name[:i]
	}
	name = strings.TrimPrefix(name, "void ")
	parts := strings.Split(name, "::")
	return parts[len(parts)-1]
}

// addKernelNames reads the Kernel_Name column of a file, if it has one; damaged files give what they hold.
func addKernelNames(names map[string]bool, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	r.LazyQuotes = true
	column := -1
	for {
		record, err := r.Read()
		if err != nil {
			var damaged *csv.ParseError
			if errors.Is(err, io.EOF) || errors.As(err, &damaged) {
				return f.Close()
			}
			return errors.Join(err, f.Close())
		}
		if column < 0 {
			if column = slices.Index(record, "Kernel_Name"); column < 0 {
				return f.Close()
			}
			continue
		}
		if column < len(record) {
			names[record[column]] = true
		}
	}
}
