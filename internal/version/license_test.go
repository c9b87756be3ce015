package version

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/licenses.txt again")

// licenses are those of modules that botd may be linked with, each with a sentence of its text, the more
// specific ones first.
var licenses = []struct{ name, sentence string }{
	{"Apache-2.0", "Apache License"},
	{"MPL-2.0", "Mozilla Public License"},
	{"BSD", "Redistribution and use in source and binary forms"},
	{"MIT", "Permission is hereby granted, free of charge"},
	{"ISC", "Permission to use, copy, modify, and"},
}

// TestEveryModuleHasAKnownLicense reads the license of each module that is linked into botd, and compares it
// with the list. A person must review a new module, or a changed license.
func TestEveryModuleHasAKnownLicense(t *testing.T) {
	t.Parallel()
	output, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}", "botd/cmd/botd").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	modules := strings.Split(strings.TrimSpace(string(output)), "\n")
	slices.Sort(modules)
	var lines []string
	for _, module := range slices.Compact(modules) {
		path, directory, found := strings.Cut(module, " ")
		if !found {
			continue
		}
		name := licenseOf(t, directory)
		if name == "" {
			t.Errorf("%s: no license that is known; botd is linked with permissive ones alone", path)
		}
		lines = append(lines, path+" "+name)
	}
	have := strings.Join(lines, "\n") + "\n"
	const listed = "testdata/licenses.txt"
	if *update {
		if err := os.WriteFile(listed, []byte(have), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(listed)
	if err != nil || string(want) != have {
		t.Errorf("%s, %v: want\n%s\nhave\n%s\nread the license of what differs, then go test ./internal/version -run License -update", listed, err, want, have)
	}
}

// licenseOf returns the license of a module by its text; empty if no file of it has one.
func licenseOf(t *testing.T, directory string) string {
	t.Helper()
	for _, pattern := range []string{"LICENSE*", "LICENCE*", "COPYING*", "License*"} {
		files, err := filepath.Glob(filepath.Join(directory, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				continue // a directory
			}
			plain := strings.Join(strings.Fields(string(text)), " ")
			for _, each := range licenses {
				if strings.Contains(plain, each.sentence) && !strings.Contains(plain, "GNU GENERAL") && !strings.Contains(plain, "GNU AFFERO") {
					return each.name
				}
			}
		}
	}
	return ""
}
