package configs

import (
	"embed"
	"io/fs"
)

//go:embed botd.yaml strategies/*.yaml
var examples embed.FS

//go:embed gallery/*.yaml
var gallery embed.FS

// Gallery returns published strategies, one file each, to begin with.
func Gallery() fs.FS {
	files, err := fs.Sub(gallery, "gallery")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	return files
}

// Examples returns the built-in configuration: the demo that botd run shows
// where there is no directory of one's own.
func Examples() fs.FS { return examples }
