// Package privatefile refuses a data directory in which others could have put or changed a file.
//
// It checks the directory before anything in it is read or written. A sound directory
// stays sound, because nobody but its owner can change it.
package privatefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Error describes a fault of a file, and how to repair it.
type Error struct {
	Path, What string
	Hint       string // a command, or an instruction
}

// Error returns the text with the hint on its own line.
func (e *Error) Error() string {
	return fmt.Sprintf("%s %s: others could have planted what botd trusts there\nhint: when you know why, %s", e.Path, e.What, e.Hint)
}

// maxDepth bounds the depth of the check below the directory: the daemon's files are within it.
const maxDepth = 2

// Check checks a data directory and the directory of a mode in it. A missing directory is sound.
func Check(data, mode string) error {
	data, mode = filepath.Clean(data), filepath.Clean(mode)
	switch found, err := os.Stat(data); { // the directory itself may be a link to a larger disk
	case err != nil:
		return missing(err)
	case !trusted(found):
		return &Error{data, "belongs to " + owner(found), revoking(fmt.Sprintf("chown -R %d %s", os.Geteuid(), data), data)}
	case exposed(found):
		return &Error{data, fmt.Sprintf("has mode %04o", mode4(found)), "chmod go-w " + data}
	}
	return walk(mode, mode, maxDepth)
}

// revoking returns a command followed by the removal of every file that grants access: otherwise the new owner would vouch for a
// token that somebody else chose. The removal comes second, because by then nobody can plant another token unseen.
func revoking(command, directory string) string {
	return command + "; find " + directory + "/ '(' -name token -o -name token-viewer -o -name tokens.json -o -name sessions.json ')' -exec rm -f '{}' +"
}

// walk checks a file of a mode, and the files in it.
func walk(mode, path string, depth int) error {
	found, err := os.Lstat(path)
	if err != nil {
		return missing(err)
	}
	kind := found.Mode().Type()
	switch {
	case kind == fs.ModeSymlink:
		return &Error{path, "is a link", "rm " + path + " (a directory on another disk can be mounted there)"}
	case kind != 0 && kind != fs.ModeDir && kind != fs.ModeSocket:
		return &Error{path, "is neither a file nor a directory", "rm " + path}
	case uid(found) != os.Geteuid():
		return &Error{path, "belongs to " + owner(found), revoking(fmt.Sprintf("chown -R %d %s", os.Geteuid(), path), mode)}
	case kind != fs.ModeSocket && found.Mode().Perm()&0o022 != 0:
		return &Error{path, fmt.Sprintf("has mode %04o", mode4(found)), revoking("chmod -R go= "+path, mode)}
	case kind != fs.ModeDir || depth == 0:
		return nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := walk(mode, filepath.Join(path, entry.Name()), depth-1); err != nil {
			return err
		}
	}
	return nil
}

// missing is not a fault: botd creates missing files, for its owner only.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return err
}

// trusted reports whether this user or the administrator owns a directory.
func trusted(found fs.FileInfo) bool { return uid(found) == os.Geteuid() || uid(found) == 0 }

// exposed reports whether others can create files in a directory or rename this user's files. A directory of
// the administrator may be writable for a group, like a container's volume.
func exposed(found fs.FileInfo) bool {
	mode := found.Mode()
	if mode&fs.ModeSticky != 0 || mode.Perm()&0o022 == 0 {
		return false
	}
	return mode.Perm()&0o002 != 0 || uid(found) != 0 || os.Geteuid() == 0
}

func mode4(found fs.FileInfo) uint32 {
	if status, ok := found.Sys().(*syscall.Stat_t); ok {
		return uint32(status.Mode) & 0o7777
	}
	return uint32(found.Mode().Perm())
}

func uid(found fs.FileInfo) int {
	if status, ok := found.Sys().(*syscall.Stat_t); ok {
		return int(status.Uid)
	}
	return os.Geteuid() // a file system without owners
}

func owner(found fs.FileInfo) string {
	return fmt.Sprintf("user %d, not to user %d", uid(found), os.Geteuid())
}
