// Command workspaces draws the pictures of docs/workspaces.md and writes its table, from the tables of the engine of
// Workspaces.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

//go:generate go run . ../../../docs

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: workspaces DOCS")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "workspaces:", err)
		os.Exit(1)
	}
}

func run(docs string) error {
	page := filepath.Join(docs, "workspaces.md")
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	if text, err = fill(text, operations()); err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	for name, content := range map[string][]byte{page: text, filepath.Join(docs, statesName): states(), filepath.Join(docs, lifeName): life()} {
		if err := os.WriteFile(name, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
