package configs

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Setting is one effective value and its origin.
type Setting struct {
	Path   string // risk.max_drawdown; strategies.NAME.params.fast
	Value  string
	Origin string // file:line, "default", or "command line"
}

// The origins outside files.
const (
	OriginDefault = "default"
	OriginCommand = "command line"
)

// Override records that the command line sets a key.
func (c *Config) Override(path string) { c.overridden = append(c.overridden, path) }

// Settings lists every effective value by path, without secrets.
func (c *Config) Settings() ([]Setting, error) {
	all, err := Differences("", c.Effective())
	if err != nil {
		return nil, err
	}
	settings := make([]Setting, 0, len(all))
	for _, value := range all {
		settings = append(settings, Setting{value.Path, value.Is, c.origin(value.Path)})
	}
	return settings, nil
}

// origin returns the place where a value is set.
func (c *Config) origin(path string) string {
	if slices.Contains(c.overridden, path) || path == "mode" && c.Mode != c.fileMode {
		return OriginCommand
	}
	file, inside := c.rootName, path
	if rest, found := strings.CutPrefix(path, "strategies."); found {
		for i := range c.Strategies {
			if own, found := strings.CutPrefix(rest, c.Strategies[i].Name+"."); found {
				file, inside = c.Strategies[i].File, own
			}
		}
	}
	// A value may be written in a shorter form than displayed, such as a share for a block. Its origin is then the
	// line of the block.
	for part := inside; part != ""; {
		if line, found := c.lines[file][part]; found {
			return fmt.Sprintf("%s:%d", file, line)
		}
		dot := strings.LastIndexByte(part, '.')
		part = part[:max(dot, 0)]
	}
	return OriginDefault
}

// noteLines records the line of each value in a file.
func noteLines(path string, node *yaml.Node, into map[string]int) {
	if node.Kind != yaml.MappingNode {
		into[path] = node.Line
		return
	}
	for i := 0; i < len(node.Content); i += 2 {
		name := node.Content[i].Value
		if path != "" {
			name = path + "." + name
		}
		noteLines(name, node.Content[i+1], into)
	}
}
