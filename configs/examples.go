package configs

import (
	"embed"
	"io/fs"
)

//go:embed botd.yaml strategies/*.yaml
var examples embed.FS

//go:embed gallery/*.yaml
var gallery embed.FS

// Gallery returns published strategies as starting points, one file each.
func Gallery() fs.FS {
	files, err := fs.Sub(gallery, "gallery")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	return files
}

// Examples returns the built-in configuration: the demo of botd run without a configuration directory.
func Examples() fs.FS { return examples }
