package configs

import "botd/risk"

// NotedKeys are the paths that have a note.
func NotedKeys() (paths []string) {
	for path := range rootNotes {
		paths = append(paths, path)
	}
	for path := range fileNotes {
		paths = append(paths, path)
	}
	for _, l := range risk.Table() {
		paths = append(paths, "risk."+l.Name)
	}
	return paths
}
