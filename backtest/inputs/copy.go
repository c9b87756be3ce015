package inputs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"botd/backtest"
	"botd/configs"
	"botd/exchange/tape"
)

// PortableFiles returns the files that a strategy's file names by relative path: script, libraries, columns. All of
// them move with the file.
func PortableFiles(c *configs.StrategyConfig) (map[string][]byte, error) {
	files := map[string][]byte{}
	for name, text := range backtest.NewScript(c.Script.File, c.Script.Text, c.Script.Libraries).Files() {
		files[name] = []byte(text)
	}
	for i, name := range c.ColumnFiles {
		if filepath.IsAbs(name) || i >= len(c.ColumnPaths) {
			continue
		}
		path, _ := tape.ColumnPath(c.ColumnPaths[i])
		file := strings.TrimSuffix(name, strings.TrimPrefix(c.ColumnPaths[i], path)) // without its prefix
		if !filepath.IsLocal(file) {
			return nil, fmt.Errorf("columns: %s is not next to the strategy's file, and would not be found from a copy of that", file)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		files[filepath.ToSlash(file)] = text
	}
	return files, nil
}

// program hashes the files near the strategy's file that the command of a strategy: process names.
func program(c *configs.StrategyConfig) (hashes []string) {
	for _, word := range c.Command {
		path := word
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(c.File), word)
		}
		if found, err := os.Stat(path); err == nil && found.Mode().IsRegular() {
			hashes = append(hashes, fileSHA(path))
		}
	}
	return hashes
}
