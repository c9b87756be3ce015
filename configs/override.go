package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"botd/risk"
)

// LoadStrategyWith reads a strategy's file with different values for some keys. Keys are paths such as
// protect.stop_loss, and values are YAML. It adds missing keys.
func LoadStrategyWith(file string, values map[string]string, options Options) (*StrategyConfig, Problems) {
	if len(values) == 0 {
		return LoadStrategy(file, options)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, Problems{{File: filepath.ToSlash(file), What: "cannot be read: " + reason(err)}}
	}
	if text, err = override(text, values); err != nil {
		return nil, Problems{{File: filepath.ToSlash(file), What: err.Error()}}
	}
	_, name := filepath.Split(file)
	l := loaderOf(file, options)
	l.files = replaced{l.files, name, text}
	return l.oneStrategy(name)
}

// loaderOf returns a loader for the folder of a strategy's file.
func loaderOf(file string, options Options) *loader {
	directory, _ := filepath.Split(file)
	if directory == "" {
		directory = "."
	}
	l := &loader{files: os.DirFS(directory), disk: directory, directory: filepath.ToSlash(directory), options: options, config: defaults(),
		displayedPath: filepath.ToSlash(file)}
	l.config.Limits = risk.Limits{}
	if options.Mode != "" {
		l.config.Mode = options.Mode
	}
	return l
}

func (l *loader) oneStrategy(name string) (*StrategyConfig, Problems) {
	c, _ := l.strategy(name)
	l.problems.sort()
	if l.problems.Errors() > 0 {
		return nil, l.problems
	}
	return c, l.problems
}

// replaced is a folder with a different text for one file.
type replaced struct {
	fs.FS
	name string
	text []byte
}

// ReadFile implements fs.ReadFileFS.
func (r replaced) ReadFile(name string) ([]byte, error) {
	if name == r.name {
		return r.text, nil
	}
	return fs.ReadFile(r.FS, name)
}

// override returns a mapping's text with some values replaced.
func override(text []byte, values map[string]string) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	if len(document.Content) != 1 {
		return nil, errors.New("is empty")
	}
	for _, path := range slices.Sorted(maps.Keys(values)) {
		var value yaml.Node
		if err := yaml.Unmarshal([]byte(values[path]), &value); err != nil || len(value.Content) != 1 {
			return nil, fmt.Errorf("%s: %q is not a value", path, values[path])
		}
		if err := set(document.Content[0], path, value.Content[0]); err != nil {
			return nil, err
		}
	}
	return yaml.Marshal(&document)
}

// set sets the value of the key at a path below a mapping.
func set(node *yaml.Node, path string, value *yaml.Node) error {
	seen := ""
	for key := range strings.SplitSeq(path, ".") {
		if node.Kind == yaml.AliasNode {
			node = node.Alias
		}
		if node.Kind != yaml.MappingNode {
			return fmt.Errorf("%s: %s has no keys of its own in the file", path, strings.TrimPrefix(seen, "."))
		}
		seen += "." + key
		node = child(node, key)
	}
	*node = *value
	return nil
}

// child returns the value of a mapping's key. It adds a missing key.
func child(node *yaml.Node, key string) *yaml.Node {
	for i := 0; i < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	added := &yaml.Node{Kind: yaml.MappingNode, Style: node.Style}
	node.Content = append(node.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, added)
	return added
}
