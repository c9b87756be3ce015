package endtoend

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/offline"
	"botd/configs"
)

var (
	spanned   = regexp.MustCompile("`([^`\n]+)`")
	namedPath = regexp.MustCompile(`^(?:cmd|configs|deploy|docs|exchange|internal|reconcile|risk|runtime|strategy|backtest|\.ci)/[A-Za-z0-9_./-]+$`)
	variable  = regexp.MustCompile(`\bBOTD_[A-Z0-9_]+\b`)
)

// TestDocumentsNameOnlyFilesAndVariablesThereAre checks every path of the repository and every environment
// variable in a document.
func TestDocumentsNameOnlyFilesAndVariablesThereAre(t *testing.T) {
	t.Parallel()
	read := sourceText(t, true)
	paths, variables := 0, 0
	for _, path := range documented(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, span := range spanned.FindAllStringSubmatch(string(text), -1) {
			if !namedPath.MatchString(span[1]) {
				continue
			}
			paths++
			if _, err := os.Stat(filepath.Join(above, span[1])); err != nil {
				t.Errorf("%s: there is no %s", filepath.Base(path), span[1])
			}
		}
		for _, name := range variable.FindAllString(string(text), -1) {
			variables++
			if !strings.Contains(read, name) && !strings.HasPrefix(name, "BOTD_NOTIFY_") { // the name of a channel follows
				t.Errorf("%s: nothing reads %s", filepath.Base(path), name)
			}
		}
	}
	if paths < 30 || variables < 15 {
		t.Errorf("want the paths and variables of all documents looked for, have only %d and %d", paths, variables)
	}
}

// sourceText returns the code, and the scripts that are not documents.
func sourceText(t *testing.T, tests bool) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(above, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "data" || entry.Name() == "docs"):
			return fs.SkipDir
		case !tests && strings.HasSuffix(path, "_test.go"):
			return nil
		case entry.IsDir() || !slices.Contains([]string{".go", ".sh", ".js"}, filepath.Ext(path)) && entry.Name() != "run":
			return nil
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// TestTheConfigurationsThatDocumentsShowAreRead parses every YAML block with a file name; each key must be
// known. A value may be a placeholder.
func TestTheConfigurationsThatDocumentsShowAreRead(t *testing.T) {
	t.Parallel()
	total := 0
	for _, path := range documented(t) {
		for _, b := range blocks(t, path) {
			if len(b.lines) == 0 {
				continue
			}
			files := fstest.MapFS{
				"strategies/one.yaml": {Data: []byte("name: one\nstrategy: buy_and_hold\nmarket: spot\nsymbol: BTC-USDT\ninterval: 1m\n")},
			}
			switch text := []byte(strings.Join(b.lines, "\n") + "\n"); {
			case strings.HasPrefix(b.lines[0], "# botd.yaml"), strings.HasPrefix(b.lines[0], "# configs/botd.yaml"):
				files["botd.yaml"] = &fstest.MapFile{Data: text}
			case strings.HasPrefix(b.lines[0], "# accounts"): // for botd exchange
				continue
			case b.language == "yaml" || strings.HasPrefix(b.lines[0], "# strategies/"):
				files["botd.yaml"] = &fstest.MapFile{Data: []byte("mode: demo\n")}
				files["strategies/one.yaml"] = &fstest.MapFile{Data: text}
			default:
				continue
			}
			total++
			_, problems := configs.Load(files, "", connect.Options(t.Context(), ""))
			for _, p := range problems {
				if strings.Contains(p.What, "unknown") || strings.Contains(p.What, "as YAML") {
					t.Errorf("%s: %s\n%s", lineOf(path, b.line+p.Line-1), p.What, p.Hint)
				}
			}
		}
	}
	if total < 6 {
		t.Errorf("want the YAML blocks of the documents read, have only %d", total)
	}
}

// TestTablesOfDocumentsAreWhole finds tables that GitHub would not show: one without its head, and a row with
// more or fewer cells.
func TestTablesOfDocumentsAreWhole(t *testing.T) {
	t.Parallel()
	total := 0
	for _, path := range append(documented(t), filepath.Join(above, "CHANGELOG.md")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		coded := map[int]bool{}
		for _, b := range blocks(t, path) {
			for i := range b.lines {
				coded[b.line+i] = true
			}
		}
		lines := strings.Split(string(text), "\n")
		row := func(i int) bool {
			return i >= 0 && i < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[i]), "|") && !coded[i+1]
		}
		cells := func(i int) int { return strings.Count(strings.ReplaceAll(lines[i], `\|`, ""), "|") }
		head := 0
		for i := range lines {
			switch {
			case !row(i):
			case !row(i - 1):
				head = i
				total++
				if !row(i+1) || strings.Trim(lines[i+1], "|-: ") != "" {
					t.Errorf("%s: a table without its head: %.60s", lineOf(path, i+1), lines[i])
				}
			case cells(i) != cells(head):
				t.Errorf("%s: %d cells where the head has %d: %.60s", lineOf(path, i+1), cells(i)-1, cells(head)-1, lines[i])
			}
		}
	}
	if total < 40 {
		t.Errorf("want the tables of all documents checked, have only %d", total)
	}
}

// TestEveryCredentialIsDocumented finds the names of systemd's credentials in the configuration's code.
func TestEveryCredentialIsDocumented(t *testing.T) {
	t.Parallel()
	sources, err := filepath.Glob(filepath.Join(above, "configs", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	page, total := string(offline.WriteMarkdown(commands())), 0
	for _, path := range sources {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`"(BOTD_[A-Z_]+)"`).FindAllStringSubmatch(string(text), -1) {
			total++
			if !strings.Contains(page, found[1]) {
				t.Errorf("docs/cli.md: want the credential %s named (environment, man_markdown.go)", found[1])
			}
		}
	}
	if total < 4 {
		t.Errorf("want the credentials found, have %d", total)
	}
}

// TestHintsNameOnlyKeysThereAre reads "block: {key: ..." in every text of the code: a key in a hint must
// exist.
func TestHintsNameOnlyKeysThereAre(t *testing.T) {
	t.Parallel()
	root, file := configs.Keys()
	known, blocks := map[string]bool{}, map[string]bool{}
	for _, k := range append(root, file...) {
		known[k.Path] = true
		blocks[k.Path] = blocks[k.Path] || k.Kind == configs.KindBlock
	}
	total := 0
	for _, found := range regexp.MustCompile(`\b([a-z_]+): \{([a-z_]+):`).FindAllStringSubmatch(sourceText(t, false), -1) {
		if !blocks[found[1]] || known[found[1]+".NAME"] || known[found[1]+".ASSET"] {
			continue
		}
		total++
		if !known[found[1]+"."+found[2]] && found[1] != "params" {
			t.Errorf("a text of the code has %s...}, and %s has no key %s", found[0], found[1], found[2])
		}
	}
	if total < 10 {
		t.Errorf("want the keys in the texts of the code found, have only %d", total)
	}
}

var (
	tested = regexp.MustCompile("(?:^|[ `])go test ([^`#]*)")
	chosen = regexp.MustCompile(`-(run|bench|fuzz)[ =]'?([^' ]+)'?`)
	room   = regexp.MustCompile(`(?:^| )\./([a-z/]*?)(?:/?\.\.\.)?(?: |$)`)
	called = regexp.MustCompile(`(?m)^func (?:Test|Benchmark|Fuzz)\w+`)
)

// TestDocumentsNameOnlyTestsThereAre checks what each go test command of a document would run: its packages,
// and a test for each name in its pattern.
func TestDocumentsNameOnlyTestsThereAre(t *testing.T) {
	t.Parallel()
	names := called.FindAllString(sourceText(t, true), -1)
	total := 0
	for _, path := range documented(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			for _, found := range tested.FindAllStringSubmatch(line, -1) {
				total++
				for _, pick := range chosen.FindAllStringSubmatch(found[1], -1) {
					pattern, err := regexp.Compile(pick[2])
					some := pick[2] == "^$" || pick[2] == "." // none, and all
					for _, name := range names {
						some = some || err == nil && pattern.MatchString(strings.TrimPrefix(name, "func "))
					}
					if !some {
						t.Errorf("%s: go test %s: no test is named %s", lineOf(path, i+1), strings.TrimSpace(found[1]), pick[2])
					}
				}
				for _, at := range room.FindAllStringSubmatch(found[1], -1) {
					if _, err := os.Stat(filepath.Join(above, at[1])); err != nil {
						t.Errorf("%s: go test %s: there is no ./%s", lineOf(path, i+1), strings.TrimSpace(found[1]), at[1])
					}
				}
			}
		}
	}
	if total < 10 {
		t.Errorf("want every go test of the documents checked, have only %d", total)
	}
}

// TestMessagesNameOnlyFlagsThereAre reads every "botd VERB --flag" in the texts of the code: messages, hints,
// alerts, the dashboard.
func TestMessagesNameOnlyFlagsThereAre(t *testing.T) {
	t.Parallel()
	root := commands()
	for _, command := range all(root) {
		command.InitDefaultHelpFlag()
	}
	total := 0
	line := regexp.MustCompile(`\bbotd ([a-z][a-z-]+(?: [a-z][a-z-]+)?(?: [A-Z]+)*(?: (?:--[a-z-]+|-[a-z])(?:[ =][A-Za-z0-9|/.-]+)?)+)`)
	for _, found := range line.FindAllStringSubmatch(sourceText(t, false), -1) {
		total++
		text, _, _ := strings.Cut(found[1], " --help")
		if wrong := wrongIn(root, text); wrong != "" {
			t.Errorf("a text of the code has botd %s: %s", found[1], wrong)
		}
	}
	if total < 60 {
		t.Errorf("want the commands in the texts of the code found, have only %d", total)
	}
}
