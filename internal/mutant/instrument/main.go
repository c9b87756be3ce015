// Command instrument writes the overlay with which every mutant can be switched on, and prints its path for the go command.
package main

import (
	"fmt"
	"os"

	"botd/internal/mutant"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	directory, err := os.MkdirTemp("", "botd-mutants-")
	if err != nil {
		return err
	}
	overlay, err := mutant.Instrument(root, directory)
	if err != nil {
		return err
	}
	fmt.Println(overlay)
	return nil
}
