package starter

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"botd/internal/failure"
)

// moduleFiles are the files of a module, with their templates.
var moduleFiles = []struct{ name, from string }{
	{"go.mod", "go.mod.txt"}, {"main.go", "main.go.txt"}, {"strategy.go", "strategy.go.txt"}, {"strategy_test.go", "strategy_test.go.txt"},
	{"NAME.yaml", "strategy.yaml.txt"},
}

// WriteModule writes a Go module with a strategy, a test and a main, passes on each written file, and returns the
// strategy's kind. The module builds against botd's source, which is searched for if it is not given.
func WriteModule(name, directory, source string, written func(file string)) (kind string, err error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	if found, err := os.ReadDir(directory); err == nil && len(found) > 0 {
		return "", failure.New(failure.Usage, "name a directory that does not exist yet", "%s is not empty", directory)
	}
	source, sums, err := botdSource(source)
	if err != nil {
		return "", err
	}
	kind = strings.ReplaceAll(name, "-", "_")
	values := map[string]string{"Name": name, "Kind": kind, "Module": name, "Botd": source}
	for _, file := range moduleFiles {
		to := filepath.Join(directory, strings.Replace(file.name, "NAME", name, 1))
		if err := writeTemplate("template/module/"+file.from, to, values); err != nil {
			return "", err
		}
		written(to)
	}
	// The module needs botd's requirements: the same versions with the same sums.
	if err := finishModule(directory, source, sums); err != nil {
		return "", failure.Wrap(failure.IO, err)
	}
	return kind, nil
}

// botdSource finds botd's source: the given directory, the one whose go.mod is botd's, from the current
// directory upwards, or the one installed with this program.
func botdSource(given string) (directory string, sums []byte, err error) {
	if directory, err = filepath.Abs(given); err != nil {
		return "", nil, failure.Wrap(failure.IO, err)
	}
	places := []string{directory}
	if given == "" {
		for up := filepath.Dir(directory); up != directory; directory, up = up, filepath.Dir(up) {
			places = append(places, up)
		}
		if program, err := os.Executable(); err == nil {
			binaries := filepath.Dir(program)
			places = append(places, filepath.Join(binaries, "source"), filepath.Join(binaries, "../share/botd/source"))
		}
	}
	at := slices.IndexFunc(places, func(place string) bool {
		text, err := os.ReadFile(filepath.Join(place, "go.mod"))
		return err == nil && strings.HasPrefix(string(text), "module botd\n")
	})
	if at < 0 {
		return "", nil, failure.New(failure.NoInput, "release packages include it; or clone it, and name its directory with --botd",
			"botd's source was not found")
	}
	sums, err = os.ReadFile(filepath.Join(places[at], "go.sum"))
	return places[at], sums, failure.Wrap(failure.IO, err)
}

// finishModule adds botd's own requirements to a module's go.mod, so that the module builds without the network.
func finishModule(directory, source string, sums []byte) error {
	text, err := os.ReadFile(filepath.Join(source, "go.mod"))
	if err != nil {
		return err
	}
	before, required, found := strings.Cut(string(text), "\nrequire (")
	if !found {
		return fmt.Errorf("%s/go.mod has no requirements", source)
	}
	file := filepath.Join(directory, "go.mod")
	own, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	// The module uses exactly botd's language version: the go command rejects a module whose version is below
	// that of its requirements. The other requirements serve botd: go mod tidy keeps those that the module uses.
	_, version, _ := strings.Cut(before, "\n") // behind "module botd"
	if err := os.WriteFile(file, []byte(string(own)+version+"\nrequire ("+required), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(directory, "go.sum"), sums, 0o644)
}
