// Command genfixtures writes the folder fixtures: small captures of invented
// kernels in the formats that ROCm's profilers leave behind. A small simulator
// runs the kernels, so that all files of a capture agree with each other. The
// output depends on nothing but this folder: the same bytes on every machine.
//
// Run it at the root of the project:
//
//	go run ./scripts/genfixtures
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

func main() {
	if err := regenerate("fixtures"); err != nil {
		fmt.Fprintln(os.Stderr, "genfixtures:", err)
		os.Exit(1)
	}
}

// regenerate writes all fixtures below dir and removes every other file there.
func regenerate(dir string) error {
	files, err := generate()
	if err != nil {
		return err
	}
	if _, err := os.Stat("go.mod"); err != nil {
		return errors.New("run it at the root of the project")
	}
	if err := removeStale(dir, files); err != nil {
		return err
	}
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// removeStale removes the files of the generator's folders that it no longer
// writes, and the folders that this leaves empty.
func removeStale(dir string, files tree) error {
	var folders []string
	for _, top := range ownFolders {
		root := filepath.Join(dir, top)
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				folders = append(folders, path)
				return nil
			}
			name, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			if _, ok := files[filepath.ToSlash(name)]; ok {
				return nil
			}
			return os.Remove(path)
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for i := len(folders) - 1; i >= 0; i-- { // children before their parents
		entries, err := os.ReadDir(folders[i])
		if err != nil {
			return err
		}
		if len(entries) > 0 {
			continue
		}
		if err := os.Remove(folders[i]); err != nil {
			return err
		}
	}
	return nil
}
