package configs

import (
	"io/fs"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// Location is the address of a configuration's daemon: its mode, directory and listen address.
type Location struct {
	Mode    Mode
	DataDir string
	Listen  string
}

// Location returns the location of a valid configuration's daemon.
func (c *Config) Location() Location { return Location{c.Mode, c.DataDir, c.Listen} }

// Locate reads the location of a daemon from a configuration that may be full of mistakes, or not even YAML: a user
// with a broken file must still be able to stop the daemon.
func Locate(files fs.FS) Location {
	where := defaults().Location()
	text, err := fs.ReadFile(files, rootFile)
	if err != nil {
		return where
	}
	var top map[string]yaml.Node
	_ = yaml.Unmarshal(text, &top) // a text that is not YAML is read line by line
	valueOf := func(key string, line *regexp.Regexp) string {
		if node, found := top[key]; found && node.Kind == yaml.ScalarNode {
			return node.Value
		}
		if match := line.FindSubmatch(text); match != nil {
			return strings.Trim(strings.TrimSpace(string(match[1])), `"'`)
		}
		return ""
	}
	if value := valueOf("data_dir", dataLine); value != "" {
		where.DataDir = value
	}
	if value := valueOf("listen", listenLine); value != "" {
		where.Listen = value
	}
	if value := Mode(valueOf("mode", modeLine)); value == Paper || value == Live {
		where.Mode = value
	}
	return where
}

var (
	dataLine   = regexp.MustCompile(`(?m)^data_dir:[ \t]+([^#\r\n\[{][^#\r\n]*)`)
	listenLine = regexp.MustCompile(`(?m)^listen:[ \t]+([^#\r\n\[{][^#\r\n]*)`)
	modeLine   = regexp.MustCompile(`(?m)^mode:[ \t]+([^#\r\n\[{][^#\r\n]*)`)
)
