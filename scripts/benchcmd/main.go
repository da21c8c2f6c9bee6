// Command benchcmd times whole commands: rocanalyze hotspots against a public
// Python script (HOTSPOT_ANALYZER names it), against a Python parse of the wave
// files, and against merely reading every byte. Runs alternate, and the median
// of the pairwise ratios is printed, so that a machine that drifts or is busy
// does not decide.
//
//	go run ./scripts/benchcmd DISPATCH_DIR...
//
// A rocpd database is read with rocanalyze kernels, against the sqlite3 shell
// that prints four columns of its dispatches; scripts/genrocpd -big makes one:
//
//	go run ./scripts/benchcmd /tmp/big.db
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const rounds = 7

// parseWaves is the least that a Python tool has to do with the wave files.
const parseWaves = `import json,glob,sys
print(sum(len(json.load(open(f))["wave"]["instructions"] or []) for f in glob.glob(sys.argv[1]+"/se*_sm*.json")))`

// readBytes touches every byte of the wave files, on one core.
const readBytes = `cat "$1"/se*_sm*.json >/dev/null`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "benchcmd:", err)
		os.Exit(1)
	}
}

func run(dirs []string) error {
	if len(dirs) == 0 {
		found, err := filepath.Glob("fixtures/att/*/ui_output_*")
		if err != nil {
			return err
		}
		dirs = found
	}
	tmp, err := os.MkdirTemp("", "benchcmd")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	bin := filepath.Join(tmp, "rocanalyze")
	build := exec.Command("go", "build", "-o", bin, "./cmd/rocanalyze")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	fmt.Printf("%-40s %10s  %s\n", "capture", "median", "times as fast as (median of the pairs)")
	for _, path := range dirs {
		err := error(nil)
		if strings.HasSuffix(path, ".db") {
			err = compareDatabase(bin, path)
		} else {
			err = compare(bin, path, tmp)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// compare prints one line per capture.
func compare(bin, dir, tmp string) error {
	codeOnly := filepath.Join(tmp, "code", "ui_output_agent_1_dispatch_1")
	if err := copyCode(dir, codeOnly); err != nil {
		return err
	}
	ours := func(path string) []string { return []string{bin, "hotspots", "-q", path} }
	others := []struct {
		name string
		ours []string
		args []string
	}{
		{"python parse of the waves", ours(dir), []string{"python3", "-c", parseWaves, dir}},
		{"reading the bytes", ours(dir), []string{"sh", "-c", readBytes, "sh", dir}},
	}
	if script := os.Getenv("HOTSPOT_ANALYZER"); script != "" {
		others = append(others, struct {
			name string
			ours []string
			args []string
		}{"the Python script, code.json alone", ours(codeOnly), []string{"python3", script, codeOnly}})
	}
	for i, o := range others {
		if _, err := exec.LookPath(o.args[0]); err != nil {
			fmt.Printf("%-40s no %s here\n", filepath.Base(filepath.Dir(dir)), o.args[0])
			continue
		}
		median, ratio, err := pairs(o.ours, o.args)
		if err != nil {
			return err
		}
		label := ""
		if i == 0 {
			label = filepath.Base(filepath.Dir(dir))
		}
		fmt.Printf("%-40s %10s  %6.2f  %s\n", label, median.Round(100*time.Microsecond), ratio, o.name)
	}
	return nil
}

// pairs runs a and b in turn; it returns a's median time and the median of
// b/a.
func pairs(a, b []string) (time.Duration, float64, error) {
	var times []time.Duration
	var ratios []float64
	for i := range rounds + 1 {
		x, err := timed(a)
		if err != nil {
			return 0, 0, err
		}
		y, err := timed(b)
		if err != nil {
			return 0, 0, err
		}
		if i == 0 {
			continue // warms the caches
		}
		times = append(times, x)
		ratios = append(ratios, y.Seconds()/x.Seconds())
	}
	slices.Sort(times)
	slices.Sort(ratios)
	return times[rounds/2], ratios[rounds/2], nil
}

func timed(args []string) (time.Duration, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	start := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	return time.Since(start), nil
}

func copyCode(dir, to string) error {
	data, err := os.ReadFile(filepath.Join(dir, "code.json"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "code.json"), data, 0o644)
}
