package configs

import (
	"fmt"
	"maps"
	"slices"

	"gopkg.in/yaml.v3"
)

// Difference is one value that differs between two effective configurations.
type Difference struct {
	Path string // risk.max_drawdown; strategies.NAME.params.fast
	Was  string // empty if it was missing
	Is   string // empty if it is missing
}

// Differences compares two effective configurations, value by value.
func Differences(was, is string) ([]Difference, error) {
	before, err := values(was)
	if err != nil {
		return nil, err
	}
	after, err := values(is)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(before)
	maps.Copy(all, after)
	var differences []Difference
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if before[path] != after[path] {
			differences = append(differences, Difference{path, before[path], after[path]})
		}
	}
	return differences, nil
}

// values returns the values of a YAML text by path. A list's members are identified by name, or else by index.
func values(text string) (map[string]string, error) {
	var top yaml.Node
	if err := yaml.Unmarshal([]byte(text), &top); err != nil {
		return nil, fmt.Errorf("read a configuration: %w", err)
	}
	into := map[string]string{}
	if len(top.Content) > 0 {
		leaves("", top.Content[0], into)
	}
	return into, nil
}

func leaves(path string, node *yaml.Node, into map[string]string) {
	dot := path
	if path != "" {
		dot += "."
	}
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i < len(node.Content); i += 2 {
			leaves(dot+node.Content[i].Value, node.Content[i+1], into)
		}
	case yaml.SequenceNode:
		for i, member := range node.Content {
			name := fmt.Sprint(i + 1)
			if member.Kind == yaml.MappingNode {
				if node := newSection(nil, "", member).value("name"); node != nil {
					name = node.Value
				}
			}
			leaves(dot+name, member, into)
		}
	default:
		into[path] = node.Value
	}
}
