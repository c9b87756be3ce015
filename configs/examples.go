package configs

import (
	"embed"
	"io/fs"
)

//go:embed botd.yaml strategies/*.yaml
var examples embed.FS

// Examples returns the built-in configuration: the demo that botd run shows
// where there is no directory of one's own.
func Examples() fs.FS { return examples }
