package configs

import (
	"io/fs"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// Location is where a daemon of a configuration is found.
type Location struct {
	Mode    Mode
	DataDir string
	Listen  string
}

// Location returns where the daemon of a good configuration is found.
func (c *Config) Location() Location { return Location{c.Mode, c.DataDir, c.Listen} }

// Locate reads where a daemon is found from a configuration that may be full of
// mistakes, or no YAML at all: whoever broke a file must still be able to stop the daemon.
func Locate(files fs.FS) Location {
	where := defaults().Location()
	text, err := fs.ReadFile(files, rootFile)
	if err != nil {
		return where
	}
	var top map[string]yaml.Node
	_ = yaml.Unmarshal(text, &top) // what is not YAML is read line by line
	take := func(key string, line *regexp.Regexp) string {
		if node, found := top[key]; found && node.Kind == yaml.ScalarNode {
			return node.Value
		}
		if match := line.FindSubmatch(text); match != nil {
			return strings.Trim(strings.TrimSpace(string(match[1])), `"'`)
		}
		return ""
	}
	if value := take("data_dir", dataLine); value != "" {
		where.DataDir = value
	}
	if value := take("listen", listenLine); value != "" {
		where.Listen = value
	}
	if value := Mode(take("mode", modeLine)); value == Paper || value == Live {
		where.Mode = value
	}
	return where
}

var (
	dataLine   = regexp.MustCompile(`(?m)^data_dir:[ \t]+([^#\r\n\[{][^#\r\n]*)`)
	listenLine = regexp.MustCompile(`(?m)^listen:[ \t]+([^#\r\n\[{][^#\r\n]*)`)
	modeLine   = regexp.MustCompile(`(?m)^mode:[ \t]+([^#\r\n\[{][^#\r\n]*)`)
)
