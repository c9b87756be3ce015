package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"botd/internal/chaos"
	"botd/internal/failure"
)

// directoryOf returns an existing directory for configuration, journal and logs, and reports whether the user named it.
func directoryOf(named, pattern string) (directory string, given bool, err error) {
	if named == "" {
		directory, err = os.MkdirTemp("", pattern)
		return directory, false, failure.Wrap(failure.IO, err)
	}
	if directory, err = filepath.Abs(named); err != nil {
		return "", true, failure.Wrap(failure.IO, err)
	}
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return "", true, failure.New(failure.IO, "choose another directory with --dir", "%w", err)
	}
	return directory, true, nil
}

// daemonIn returns the botd under test: the named binary, the one next to botd-sim, or one built in the directory.
func daemonIn(command *cobra.Command, named, directory string) (binary string, err error) {
	if named != "" {
		return filepath.Abs(named)
	}
	self, err := os.Executable()
	if err != nil {
		return "", failure.Wrap(failure.IO, err)
	}
	sibling := filepath.Join(filepath.Dir(self), "botd")
	if info, err := os.Stat(sibling); err == nil && info.Mode().IsRegular() {
		return sibling, nil
	}
	if binary, err = chaos.Build(command.Context(), directory); err != nil {
		return "", failure.New(failure.NoInput, "run it in a clone of the repository, or name a binary: --botd PATH", "%w", err)
	}
	return binary, nil
}
