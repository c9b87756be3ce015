package endtoend

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"botd/cmd/botd/cli/connect"
	"botd/configs"
	"botd/internal/failure"
)

// wantGenerated compares a document with the program's output for it.
func wantGenerated(t *testing.T, name string, want []byte, command string) {
	t.Helper()
	have, err := os.ReadFile(filepath.Join(above, name))
	if err != nil {
		t.Fatalf("%v\nmake it: %s", err, command)
	}
	if bytes.Equal(have, want) {
		return
	}
	wanted, had := bytes.Split(want, []byte("\n")), bytes.Split(have, []byte("\n"))
	for i := range max(len(wanted), len(had)) {
		if i >= len(wanted) || i >= len(had) || !bytes.Equal(wanted[i], had[i]) {
			line := func(lines [][]byte) []byte {
				if i < len(lines) {
					return lines[i]
				}
				return []byte("(the end)")
			}
			t.Fatalf("%s:%d does not match the code\nwant %s\nhave %s\nregenerate it: %s", name, i+1, line(wanted), line(had), command)
		}
	}
}

func TestConfigurationReferenceMatchesCode(t *testing.T) {
	t.Parallel()
	wantGenerated(t, "docs/configuration.md", configs.Reference(connect.Registry(t.Context())),
		"go run ./cmd/botd config reference --into docs/configuration.md")
	var printed, stderr bytes.Buffer
	if code := execute([]string{"config", "reference"}, &printed, &stderr); code != failure.OK ||
		!bytes.Equal(printed.Bytes(), configs.Reference(connect.Registry(t.Context()))) {
		t.Errorf("botd config reference: want it printed, have exit code %d, %d bytes: %s", code, printed.Len(), stderr.String())
	}
	into := filepath.Join(t.TempDir(), "configuration.md")
	if code := execute([]string{"config", "reference", "--into", into}, &printed, &stderr); code != failure.OK {
		t.Fatalf("botd config reference --into: want exit code 0, have %d: %s", code, stderr.String())
	}
	if written, err := os.ReadFile(into); err != nil || !bytes.Equal(written, configs.Reference(connect.Registry(t.Context()))) {
		t.Errorf("botd config reference --into: want the same written, have %d bytes, %v", len(written), err)
	}
}

// TestReferencedFlagsAndCredentialsExist searches for each flag and each credential that the reference names.
func TestReferencedFlagsAndCredentialsExist(t *testing.T) {
	t.Parallel()
	root, file := configs.Keys()
	for _, k := range append(root, file...) {
		for _, flag := range regexp.MustCompile("`--([a-z-]+)`").FindAllStringSubmatch(k.Instead, -1) {
			found := false
			for _, command := range all(commands()) {
				found = found || command.Flags().Lookup(flag[1]) != nil
			}
			if !found {
				t.Errorf("%s: no command has --%s", k.Path, flag[1])
			}
		}
	}
	for _, line := range strings.Split(string(configs.Reference(connect.Registry(t.Context()))), "\n") {
		if cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); strings.HasPrefix(line, "| `") && cells != 10 && cells != 7 {
			t.Errorf("want 9 or 6 cells, have %d: %s", cells-1, line)
		}
	}
}
