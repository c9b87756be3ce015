package endtoend

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"botd/configs"
	"botd/reconcile/record"
)

// above is the root of the repository, seen from here.
const above = "../../.."

// documented returns the paths of README.md and of all Markdown files in docs/.
func documented(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(above, "docs", "*.md"))
	if err != nil || len(paths) < 10 {
		t.Fatalf("want the documents in docs, have %d of them: %v", len(paths), err)
	}
	return append(paths, filepath.Join(above, "README.md"))
}

// block is the text between two fences, or an indented block, of a document.
type block struct {
	language string
	line     int // number of its first line, from 1
	lines    []string
}

// blocks returns all blocks of a document.
func blocks(t *testing.T, path string) (all []block) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var open *block
	var indent string
	empty := true // whether the previous line was empty
	for i, line := range strings.Split(string(text), "\n") {
		trimmed := strings.TrimSpace(line)
		fence := strings.HasPrefix(trimmed, "```")
		switch {
		case open != nil && open.language != "indented" && fence:
			all, open = append(all, *open), nil
		case open != nil && open.language != "indented":
			open.lines = append(open.lines, strings.TrimPrefix(line, indent))
		case fence:
			if open != nil {
				all = append(all, *open)
			}
			indent = line[:strings.Index(line, "`")]
			open = &block{language: strings.TrimPrefix(trimmed, "```"), line: i + 2}
		case strings.HasPrefix(line, "    ") && (open != nil || empty):
			if open == nil {
				open = &block{language: "indented", line: i + 1}
			}
			open.lines = append(open.lines, strings.TrimPrefix(line, "    "))
		case open != nil && trimmed != "":
			all, open = append(all, *open), nil
		}
		empty = trimmed == ""
	}
	if open != nil {
		all = append(all, *open)
	}
	return all
}

// example is a command of a document and the output shown for it.
type example struct {
	place   string // README.md:12
	command []string
	output  []string
}

// comment matches text that a shell ignores.
var comment = regexp.MustCompile(`(^|\s+)#.*$`)

// examples returns the commands after a "$ " in a document's console blocks, and ^C.
func examples(t *testing.T, path string) (all []example) {
	t.Helper()
	for _, b := range blocks(t, path) {
		if b.language != "console" {
			continue
		}
		for i, line := range b.lines {
			if text, ok := strings.CutPrefix(line, "$ "); ok || line == "^C" {
				all = append(all, example{place: lineOf(path, b.line+i), command: strings.Fields(comment.ReplaceAllString(text, ""))})
			} else if len(all) > 0 {
				last := &all[len(all)-1]
				last.output = append(last.output, strings.TrimRight(line, " "))
			}
		}
	}
	return all
}

// These match a command in a document: a line of a block, or text between backticks.
var (
	typed       = regexp.MustCompile(`^(?:\$ )?(?:sudo )?(?:go run (?:-tags \w+ )?\./cmd/botd|(?:\./)?botd) (.*)$`)
	spelled     = regexp.MustCompile("`(?:\\./)?botd ([^`]*)`")
	shellSyntax = regexp.MustCompile(`[;&>]| \| | -- |\s#| {3}`) // where a command ends
	bracket     = strings.NewReplacer("[", "", "]", "", "...", "")
)

// commandsNamed returns a document's commands, with their lines.
func commandsNamed(t *testing.T, path string) (lines []int, texts []string) {
	t.Helper()
	add := func(line int, text string) {
		lines, texts = append(lines, line), append(texts, shellSyntax.Split(text, 2)[0])
	}
	inside := map[int]bool{}
	for _, b := range blocks(t, path) {
		for i, line := range b.lines {
			inside[b.line+i] = true
			output := b.language == "console" && !strings.HasPrefix(line, "$ ")
			if found := typed.FindStringSubmatch(strings.TrimSpace(line)); found != nil && !output {
				add(b.line+i, found[1])
			}
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// A span may continue on the next line.
	joined := strings.ReplaceAll(string(text), "\n", " ")
	for _, at := range spelled.FindAllStringSubmatchIndex(joined, -1) {
		if line := strings.Count(string(text[:at[0]]), "\n") + 1; !inside[line] {
			add(line, joined[at[2]:at[3]])
		}
	}
	return lines, texts
}

// wrongIn returns the part of a documented command that does not exist.
func wrongIn(root *cobra.Command, text string) string {
	command, placeholder := root, regexp.MustCompile(`^[A-Z]`)
	value := false // whether the previous flag takes a value
	for _, word := range strings.Fields(bracket.Replace(text)) {
		if value {
			value = false
			continue
		}
		name, _, given := strings.Cut(strings.Trim(word, ",.()\"'"), "=")
		switch {
		case strings.HasPrefix(name, "--"):
			for _, one := range strings.Split(name, "|") {
				f := command.Flag(strings.TrimPrefix(one, "--"))
				if f == nil {
					return fmt.Sprintf("%s has no %s", command.CommandPath(), one)
				}
				value = !given && f.NoOptDefVal == ""
			}
		case strings.HasPrefix(name, "-") && len(name) == 2:
			f := command.Flags().ShorthandLookup(name[1:])
			if f == nil {
				return fmt.Sprintf("%s has no %s", command.CommandPath(), name)
			}
			value = f.NoOptDefVal == ""
		case !command.HasAvailableSubCommands() || placeholder.MatchString(name):
		default:
			above := command
			for _, one := range strings.Split(name, "|") {
				if below, _, err := above.Find([]string{one}); err == nil && below != above {
					command = below
				} else if above != root && above.Runnable() && above.Args != nil && above.Args(above, []string{one}) == nil {
					return "" // an argument
				} else {
					return fmt.Sprintf("%s has no command %q", above.CommandPath(), one)
				}
			}
		}
	}
	return ""
}

// TestDocumentsNameOnlyCommandsThereAre reads every command in a document, with its flags.
func TestDocumentsNameOnlyCommandsThereAre(t *testing.T) {
	t.Parallel()
	root, total := commands(), 0
	root.InitDefaultHelpCmd()
	for _, command := range all(root) {
		command.InitDefaultHelpFlag()
	}
	for _, path := range append(documented(t), filepath.Join(above, "CHANGELOG.md")) {
		lines, texts := commandsNamed(t, path)
		for i, text := range texts {
			total++
			if wrong := wrongIn(root, text); wrong != "" {
				t.Errorf("%s: botd %s: %s", lineOf(path, lines[i]), text, wrong)
			}
		}
	}
	if total < 150 {
		t.Errorf("want the commands of all documents read, have only %d of them", total)
	}
	for text, want := range map[string]string{
		"status -o json": "", "halt --level pause|cancel --reason TEXT": "", "ops rules|unit": "", "journal verify -c DIR": "",
		"nonsense": "botd has no command", "status --nonsense": "botd status has no --nonsense",
		"ops rules|nonsense": "botd ops has no command", "status -Z": "botd status has no -Z",
	} {
		if have := wrongIn(root, text); !strings.HasPrefix(have, want) || (have == "") != (want == "") {
			t.Errorf("botd %s: want %q, have %q", text, want, have)
		}
	}
}

var (
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading  = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	unlinked = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors returns the names of a document's headings, as GitHub generates them.
func anchors(text string) map[string]bool {
	names := map[string]bool{}
	for _, found := range heading.FindAllStringSubmatch(text, -1) {
		names[strings.ReplaceAll(unlinked.ReplaceAllString(strings.ToLower(found[1]), ""), " ", "-")] = true
	}
	return names
}

// TestDocumentsHaveNoDeadLinks follows every link from one file to another, and to a heading in it. Internet
// addresses are not requested.
func TestDocumentsHaveNoDeadLinks(t *testing.T) {
	t.Parallel()
	total := 0
	for _, path := range append(documented(t), filepath.Join(above, "CHANGELOG.md")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range link.FindAllStringSubmatch(string(text), -1) {
			name, anchor, _ := strings.Cut(found[1], "#")
			if strings.Contains(name, "://") {
				continue
			}
			total++
			target := path
			if name != "" {
				target = filepath.Join(filepath.Dir(path), name)
			}
			there, err := os.ReadFile(target)
			if info, missing := os.Stat(target); missing == nil && info.IsDir() {
				err = nil
			}
			if err != nil {
				t.Errorf("%s: the link %s leads nowhere: %v", filepath.Base(path), found[1], err)
			} else if anchor != "" && !anchors(string(there))[anchor] {
				t.Errorf("%s: the link %s: there is no such heading", filepath.Base(path), found[1])
			}
		}
	}
	if total < 60 {
		t.Errorf("want the links of all documents followed, have only %d of them", total)
	}
}

// TestEveryDocumentIsFoundFromTheReadme finds pages without a link.
func TestEveryDocumentIsFoundFromTheReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(above, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range documented(t) {
		if name := filepath.Base(path); name != "README.md" && !strings.Contains(string(text), "(docs/"+name+")") {
			t.Errorf("README.md: want a link to docs/%s", name)
		}
	}
}

// TestConceptsMatchCode compares the words of docs/concepts.md with the code's.
func TestConceptsMatchCode(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(above, "docs", "concepts.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, k := range wordsOf("mode") {
		if !strings.Contains(page, "\n| `"+k+"` |") {
			t.Errorf("docs/concepts.md: want a line of mode %s", k)
		}
	}
	for _, level := range record.HaltLevels() {
		if !strings.Contains(page, "`"+level+"`") {
			t.Errorf("docs/concepts.md: want halt level %s named", level)
		}
	}
	source, err := os.ReadFile(filepath.Join(above, "runtime", "engine", "degraded.go"))
	if err != nil {
		t.Fatal(err)
	}
	states := regexp.MustCompile(`State: +"([a-z]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(states) < 6 {
		t.Fatalf("want the declared states found in degraded.go, have %v", states)
	}
	for _, state := range states {
		if !strings.Contains(page, "\n| **"+state[1]+"** |") {
			t.Errorf("docs/concepts.md: want a line of the declared state %s", state[1])
		}
	}
}

// wordsOf returns the possible values of a key of botd.yaml.
func wordsOf(path string) []string {
	root, _ := configs.Keys()
	for _, k := range root {
		if k.Path == path {
			return k.Words
		}
	}
	return nil
}

// TestEveryCommandHasAValidExample checks the examples of each help as those of the documents.
func TestEveryCommandHasAValidExample(t *testing.T) {
	t.Parallel()
	root := commands()
	for _, command := range all(root) {
		command.InitDefaultHelpFlag()
	}
	for _, command := range all(root) {
		if command == root || strings.HasPrefix(command.CommandPath(), "botd completion") { // cobra's own, whose text shows how
			continue
		}
		if command.Long == "" || command.Example == "" {
			t.Errorf("%s --help: want it explained and an example, have %d and %d bytes", command.CommandPath(), len(command.Long),
				len(command.Example))
		}
		own := false
		for _, line := range strings.Split(command.Example, "\n") {
			found := typed.FindStringSubmatch(strings.TrimSpace(line))
			if found == nil {
				continue
			}
			own = own || strings.HasPrefix("botd "+found[1]+" ", command.CommandPath()+" ")
			if wrong := wrongIn(root, shellSyntax.Split(found[1], 2)[0]); wrong != "" {
				t.Errorf("%s --help: %s: %s", command.CommandPath(), strings.TrimSpace(line), wrong)
			}
		}
		if !own && command.Example != "" && !strings.Contains(command.Example, strings.TrimPrefix(command.CommandPath(), "botd ")) {
			t.Errorf("%s --help: no example is of it\n%s", command.CommandPath(), command.Example)
		}
	}
}
