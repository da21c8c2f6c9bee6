package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// compareDatabase prints one line: rocanalyze kernels against the sqlite3 shell
// that prints four columns of the dispatches.
func compareDatabase(bin, db string) error {
	shell, err := exec.LookPath("sqlite3")
	if err != nil {
		fmt.Printf("%-40s no sqlite3 here\n", filepath.Base(db))
		return nil
	}
	const find = `SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_kernel_dispatch%' LIMIT 1`
	name, err := exec.Command(shell, db, find).Output()
	if err != nil {
		return fmt.Errorf("%s: %w", db, err)
	}
	scan := fmt.Sprintf(`SELECT kernel_id, agent_id, start, "end" FROM "%s"`, strings.TrimSpace(string(name)))
	median, ratio, err := pairs([]string{bin, "kernels", "-q", db}, []string{shell, db, scan})
	if err != nil {
		return err
	}
	fmt.Printf("%-40s %10s  %6.2f  %s\n", filepath.Base(db), median.Round(100*time.Microsecond), ratio, "the sqlite3 shell, which prints the dispatches")
	return nil
}
