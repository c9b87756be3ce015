package configs

// NotedKeys are the paths that have a note.
func NotedKeys() (paths []string) {
	for path := range rootNotes {
		paths = append(paths, path)
	}
	for path := range fileNotes {
		paths = append(paths, path)
	}
	for name := range limitNotes {
		paths = append(paths, "risk."+name)
	}
	return paths
}
