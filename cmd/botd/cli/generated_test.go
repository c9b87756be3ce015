package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
)

// The generators of clients, by the names that BOTD_REQUIRE has.
const (
	goGenerator     = "oapi-codegen"
	pythonGenerator = "openapi-python-client"
)

// runtimeOfClients is what a client that oapi-codegen made imports.
const runtimeOfClients = "github.com/oapi-codegen/runtime@v1.8.0"

// TestAGoClientGeneratedFromTheDocumentRunsEveryOperation generates one from the published OpenAPI 3.0
// file, builds a program with it outside of this module, and calls a real exchange.
func TestAGoClientGeneratedFromTheDocumentRunsEveryOperation(t *testing.T) {
	t.Parallel()
	generator := tool(t, goGenerator, goGenerator)
	document := pathOf(t, filepath.Join(above, "docs", "openapi-3.0.json"))
	directory := t.TempDir()
	program, err := os.ReadFile("testdata/generated/main.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(directory, "main.go"), string(program))
	write(t, filepath.Join(directory, "client", "doc.go"), "package client\n")
	do(t, directory, generator, "-generate", "types,client", "-package", "client", "-o", "client/client.gen.go", document)
	do(t, directory, "go", "mod", "init", "generated")
	do(t, directory, "go", "get", runtimeOfClients)
	do(t, directory, "go", "build", "-o", "program", ".")
	base := startExchange(t, strings.Fields("exchange --account KEY:SECRET --market still"))
	wantEveryOperation(t, do(t, directory, filepath.Join(directory, "program"), base, "KEY", "SECRET"))
}

// TestAPythonClientGeneratedFromTheDocumentRunsEveryOperation does the same with openapi-python-client,
// whose own Python has what the client imports.
func TestAPythonClientGeneratedFromTheDocumentRunsEveryOperation(t *testing.T) {
	t.Parallel()
	generator := tool(t, pythonGenerator, pythonGenerator)
	document := pathOf(t, filepath.Join(above, "docs", "openapi-3.0.json"))
	directory := t.TempDir()
	generator, err := filepath.EvalSymlinks(generator) // into its environment
	if err != nil {
		t.Fatal(err)
	}
	do(t, directory, generator, "generate", "--path", document, "--meta", "none", "--output-path", "generated", "--overwrite")
	program, err := os.ReadFile("testdata/generated/main.py")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(directory, "main.py"), string(program))
	base := startExchange(t, strings.Fields("exchange --account KEY:SECRET --market still"))
	python := filepath.Join(filepath.Dir(generator), "python")
	wantEveryOperation(t, do(t, directory, python, "main.py", base, "KEY", "SECRET"))
}

// wantEveryOperation compares what a program called with the operations of the interface.
func wantEveryOperation(t *testing.T, printed string) {
	t.Helper()
	var called []string
	for line := range strings.Lines(printed) {
		called = append(called, strings.Fields(line)[0])
	}
	for _, operation := range exchange.Operations() {
		if !slices.Contains(called, operation.String()) {
			t.Errorf("%s was not called", operation)
		}
	}
	if len(called) != 35 {
		t.Errorf("want 35 operations, each once, have %d: %s", len(called), called)
	}
}

func pathOf(t *testing.T, path string) string {
	t.Helper()
	whole, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

// do runs a program there and returns what it prints.
func do(t *testing.T, directory, name string, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, arguments...)
	command.Dir = directory
	command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", "PATH="+filepath.Dir(name)+":"+os.Getenv("PATH"))
	var problems strings.Builder
	command.Stderr = &problems
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s%s", filepath.Base(name), arguments, err, output, problems.String())
	}
	return string(output)
}
