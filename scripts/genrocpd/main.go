// Command genrocpd writes the folder fixtures/rocpd: small rocpd databases of
// the kernels whose thread traces are in fixtures/att. The output depends on
// nothing but this folder. Run it at the root of the project:
//
//	go run ./scripts/genrocpd
//
// With -big it writes one large database instead, to measure with: 2,000,000
// dispatches of 200 kernels on 2 GPUs, and 80,000 counter rows.
//
//	go run ./scripts/genrocpd -big /tmp/big.db
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	big := flag.String("big", "", "write one large database to this `file` instead")
	rows := flag.Int("rows", 2_000_000, "dispatches of the large database")
	flag.Parse()
	if err := run(context.Background(), *big, *rows); err != nil {
		fmt.Fprintln(os.Stderr, "genrocpd:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, big string, rows int) error {
	if big != "" {
		return write(ctx, big, bigCapture(rows))
	}
	if _, err := os.Stat("go.mod"); err != nil {
		return errors.New("run it at the root of the project")
	}
	return regenerate(ctx, filepath.Join("fixtures", "rocpd"))
}

// regenerate writes all fixtures below dir anew.
func regenerate(ctx context.Context, dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for _, f := range fixtures() {
		path := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := write(ctx, path, f.capture); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return os.WriteFile(filepath.Join(dir, "README.md"), []byte(readme()), 0o644)
}
