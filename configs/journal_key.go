package configs

import (
	"fmt"
	"path/filepath"
	"strings"

	"botd/internal/notation"
)

// minJournalKey is the minimum length of a journal's key in characters, which makes guessing infeasible.
const minJournalKey = 32

const keyElsewhere = "anyone who can write to data_dir could read the key there: put it elsewhere, such as /etc/botd/journal-key"

// checkJournalKey refuses a key in place of its file's path, and a key file within data_dir.
func (l *loader) checkJournalKey(s *section) {
	node := s.single("journal_key_file")
	switch {
	case node == nil:
	case looksSecret(node.Value):
		s.wrong(node, "write the key to a file of mode 600 and its path here; make another one if others could read this file",
			"journal_key_file looks like the key itself, not like a path")
	case liesIn(l.config.DataDir, l.config.JournalKeyFile):
		s.wrong(node, keyElsewhere, "journal_key_file %s is inside data_dir %s", notation.Shortened(node.Value), l.config.DataDir)
	}
}

// liesIn reports whether a file lies in a directory. It follows links as far as they exist.
func liesIn(directory, file string) bool {
	if directory == "" {
		return false
	}
	for _, real := range []func(string) string{filepath.Clean, followSymlinks} {
		from, err := filepath.Abs(real(directory))
		if err != nil {
			continue
		}
		to, err := filepath.Abs(real(file))
		if err != nil {
			continue
		}
		if relative, err := filepath.Rel(from, to); err == nil && relative != ".." && !strings.HasPrefix(relative, "../") {
			return true
		}
	}
	return false
}

func followSymlinks(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// JournalKey returns the key of the journal's chain, empty if none is configured. It refuses a file that other users
// may read, or that is inside data_dir. No error contains the key.
func (c *Config) JournalKey() ([]byte, error) {
	const setting = "journal_key_file"
	if c.JournalKeyFile == "" {
		return nil, nil
	}
	if liesIn(c.DataDir, c.JournalKeyFile) {
		return nil, fmt.Errorf("%s: %s is inside data_dir %s\n  hint: %s", setting, c.JournalKeyFile, c.DataDir, keyElsewhere)
	}
	key, err := readSecret(setting, c.JournalKeyFile, "", "")
	if err == nil && len(key) < minJournalKey {
		return nil, fmt.Errorf("%s: the key in %s has %d characters, want %d at least\n  hint: openssl rand -hex 32 > %s", setting, c.JournalKeyFile, len(key),
			minJournalKey, c.JournalKeyFile)
	}
	return key, err
}
