package docs

import (
	"embed"
	"io/fs"
)

//go:embed *.md pictures/*.png
var files embed.FS

// Files returns the documents in Markdown and their pictures.
func Files() fs.FS { return files }

// Section is a group of documents.
type Section struct {
	Name  string
	Pages []string // file names without their extension
}

// Contents returns all documents in the order of the site that deploy/site/mkdocs.yml makes.
func Contents() []Section {
	return []Section{
		{"", []string{"index"}},
		{"Begin", []string{"quickstart", "concepts", "cli"}},
		{"Strategies", []string{"strategies", "library", "signals", "process"}},
		{"Research", []string{"backtest", "scale", "paper"}},
		{"Trade", []string{"configuration", "risk", "exactly-once", "dashboard", "telegram"}},
		{"Operate", []string{"operations", "logs", "metrics", "security", "api", "exchange", "performance"}},
		{"Inside", []string{"ARCHITECTURE", "simulation", "chaos", "DEVELOPERS", "release"}},
	}
}
