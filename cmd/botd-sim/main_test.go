package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"botd/internal/chaos"
)

func TestMain(m *testing.M) { testscript.Main(tidied{m}, map[string]func(){"botd-sim": main}) }

// tidied runs the tests and removes the binary.
type tidied struct{ *testing.M }

// Run runs them.
func (t tidied) Run() int {
	defer os.RemoveAll(builds)
	return t.M.Run()
}

// builds is the directory in which botd is built, once for all tests.
var builds = filepath.Join(os.TempDir(), fmt.Sprintf("botd-sim-%d", os.Getpid()))

var built = sync.OnceValues(func() (binary string, err error) {
	if err = os.MkdirAll(builds, 0o700); err != nil {
		return "", err
	}
	return chaos.Build(context.Background(), builds)
})

// build returns the path of the binary.
func build(t *testing.T) string {
	t.Helper()
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

func TestScripts(t *testing.T) {
	t.Parallel()
	source, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireUniqueNames: true, Setup: func(env *testscript.Env) error {
		env.Setenv("SOURCE", source) // where chaos builds botd
		env.Setenv("HOME", os.Getenv("HOME"))
		for _, pair := range os.Environ() { // without CGO_ENABLED=0 it would compile all of botd once more
			if name, value, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "GO") || strings.HasPrefix(name, "CGO_") {
				env.Setenv(name, value)
			}
		}
		return nil
	}})
}

// TestDocumentsNameOnlyCommandsThereAre reads every botd-sim command in a document, CI or an example of the
// help, with its flags.
func TestDocumentsNameOnlyCommandsThereAre(t *testing.T) {
	t.Parallel()
	root := newRoot()
	texts := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", ".ci/run"} {
		paths, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts[filepath.Base(path)] = string(text)
		}
	}
	for _, command := range root.Commands() {
		texts["help of "+command.Name()] = command.Example
	}
	total := 0
	for name, text := range texts {
		for _, found := range regexp.MustCompile("\\bbotd-sim ([a-z][^`\n#)|>]*)").FindAllStringSubmatch(text, -1) {
			total++
			if wrong := wrongIn(root, strings.Fields(found[1])); wrong != "" {
				t.Errorf("%s: botd-sim %s: %s", name, found[1], wrong)
			}
		}
	}
	if total < 15 {
		t.Errorf("want the commands of all documents read, have only %d", total)
	}
	for text, want := range map[string]bool{"simulate --seeds 3": false, "chaos": false, "simulat": true, "simulate --seds 3": true} {
		if wrong := wrongIn(root, strings.Fields(text)); (wrong != "") != want {
			t.Errorf("botd-sim %s: want it wrong %t, have %q", text, want, wrong)
		}
	}
}

// wrongIn returns the part of a command line that does not exist; empty for nothing.
func wrongIn(root *cobra.Command, words []string) string {
	command, _, err := root.Find(words[:1])
	if err != nil || command == root {
		return fmt.Sprintf("there is no command %s", words[0])
	}
	for _, word := range words[1:] {
		name, _, _ := strings.Cut(word, "=")
		long, dashed := strings.CutPrefix(name, "--")
		if dashed && command.Flag(strings.Trim(long, `,.;"'`)) == nil {
			return fmt.Sprintf("%s has no %s", command.CommandPath(), name)
		}
	}
	return ""
}
