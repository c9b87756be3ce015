package endtoend

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/offline"
	"botd/docs"
	"botd/internal/failure"
)

// all returns a command and all commands below it that the help lists.
func all(command *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{command}
	for _, below := range offline.Shown(command) {
		list = append(list, all(below)...)
	}
	return list
}

func TestEveryCommandHasAManualPage(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	var stdout, stderr bytes.Buffer
	if code := execute([]string{"man", "--dir", directory}, &stdout, &stderr); code != failure.OK {
		t.Fatalf("botd man --dir: want exit code 0, have %d: %s", code, stderr.String())
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Log("no groff here: the pages are not read by it")
	}
	for _, command := range all(commands()) {
		path := filepath.Join(directory, offline.PageName(command)+".1")
		page, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("%s: %v", command.CommandPath(), err)
			continue
		}
		for _, want := range []string{".SH NAME", ".SH DESCRIPTION", ".SH EXIT STATUS", offline.Roff(command.Short)} {
			if !strings.Contains(string(page), want) {
				t.Errorf("%s: want %q", path, want)
			}
		}
		if groff == "" {
			continue
		}
		if output, err := exec.Command(groff, "-man", "-ww", "-z", "-Tutf8", path).CombinedOutput(); err != nil || len(output) > 0 {
			t.Errorf("groff -man -ww -z %s: want no output, have %v\n%s", path, err, output)
		}
	}
}

func TestAPageOfNoCommandIsAMistake(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	for _, arguments := range [][]string{{"man", "nonsense"}, {"man", "run", "more"}, {"man", "--dir", t.TempDir(), "run"},
		{"man", "--markdown", "run"}, {"man", "--markdown", "--api"}, {"man", "--into", "x"}} {
		if code := execute(arguments, &stdout, &stderr); code != failure.Usage {
			t.Errorf("botd %v: want exit code %d, have %d", arguments, failure.Usage, code)
		}
	}
}

func TestCommandLinePageMatchesCode(t *testing.T) {
	t.Parallel()
	root := commands()
	page := offline.WriteMarkdown(root)
	wantGenerated(t, "docs/cli.md", page, "go run ./cmd/botd man --markdown --into docs/cli.md")
	for _, command := range all(root) {
		if len(offline.Shown(command)) == 0 && !bytes.Contains(page, []byte("| `"+command.CommandPath())) {
			t.Errorf("docs/cli.md: want a line of %s", command.CommandPath())
		}
	}
	into := filepath.Join(t.TempDir(), "cli.md")
	var stdout, stderr bytes.Buffer
	if code := execute([]string{"man", "--markdown", "--into", into}, &stdout, &stderr); code != failure.OK {
		t.Fatalf("botd man --markdown --into: want exit code 0, have %d: %s", code, stderr.String())
	}
	if written, err := os.ReadFile(into); err != nil || !bytes.Equal(written, page) {
		t.Errorf("botd man --markdown --into: want the page, have %d bytes, %v", len(written), err)
	}
}

func TestAPIPageMatchesDocument(t *testing.T) {
	t.Parallel()
	page, err := docs.APIReference()
	if err != nil {
		t.Fatal(err)
	}
	wantGenerated(t, "docs/api.md", page, "go run ./cmd/botd man --api --into docs/api.md")
	var printed, stderr bytes.Buffer
	if code := execute([]string{"man", "--api"}, &printed, &stderr); code != failure.OK || !bytes.Equal(printed.Bytes(), page) {
		t.Errorf("botd man --api: want the page, have exit code %d and %d bytes: %s", code, printed.Len(), stderr.String())
	}
	content, err := docs.API()
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Paths      map[string]map[string]any
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(content, &document); err != nil {
		t.Fatal(err)
	}
	for path, operations := range document.Paths {
		for method := range operations {
			if line := "| `" + strings.ToUpper(method) + " " + path + "` |"; method != "parameters" && !bytes.Contains(page, []byte(line)) {
				t.Errorf("docs/api.md: want a line %s", line)
			}
		}
	}
	for name, record := range document.Components.Schemas {
		_, part, found := strings.Cut(string(page), "\n### "+name+"\n")
		part, _, _ = strings.Cut(part, "\n### ")
		for field := range record.Properties {
			if !found || !strings.Contains(part, "| `"+field+"` |") {
				t.Errorf("docs/api.md: want a line of %s.%s", name, field)
			}
		}
	}
}

// TestShellsComplete has the installed shells load the scripts, and requests the completions that a shell
// would request.
func TestShellsComplete(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		var script, stderr bytes.Buffer
		if code := execute([]string{"completion", shell}, &script, &stderr); code != failure.OK || script.Len() < 1000 {
			t.Errorf("botd completion %s: want a script, have exit code %d and %d bytes", shell, code, script.Len())
		}
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("no %s here: its script is not read by it", shell)
			continue
		}
		read := exec.Command(path, "-n")
		read.Stdin = &script
		if output, err := read.CombinedOutput(); err != nil {
			t.Errorf("%s -n: %v\n%s", shell, err, output)
		}
	}
	for _, c := range []struct {
		arguments []string
		want      []string
	}{
		{[]string{""}, []string{"run", "check", "backtest", "limits", "completion"}},
		{[]string{"backtest", ""}, []string{"run"}},
		{[]string{"halt", "--level", ""}, []string{"pause", "cancel", "flatten"}},
		{[]string{"halt", "--strategy", ""}, []string{"accumulate", "hold", "trend"}},
		{[]string{"run", "--mode", ""}, []string{"demo", "paper", "live"}},
		{[]string{"status", "-o", ""}, []string{"table", "json", "jsonl", "csv"}},
		{[]string{"candles", "--interval", ""}, []string{"1m", "1h", "1w"}},
		{[]string{"check", "-c", ""}, []string{":16"}},                     // directories
		{[]string{"indicator", "--data", ""}, []string{"csv", "gz", ":8"}}, // files by ending
	} {
		var stdout, stderr bytes.Buffer
		execute(append([]string{"__complete"}, c.arguments...), &stdout, &stderr)
		have := map[string]bool{}
		for line := range strings.Lines(stdout.String()) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			have[word] = true
		}
		for _, want := range c.want {
			if !have[want] {
				t.Errorf("completing botd %s: want %q offered, have %q", strings.Join(c.arguments, " "), want, stdout.String())
			}
		}
	}
}
