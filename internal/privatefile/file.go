package privatefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Open opens a file that botd writes or trusts. It follows no link, and before it changes a byte it rejects a file that another user
// owns or can write, that has several names, or that is not regular. A new file is accessible to its owner only.
func Open(path string, flag int) (*os.File, error) {
	file, err := os.OpenFile(path, flag&^os.O_TRUNC|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return nil, &Error{path, "is a link", "rm " + path}
	}
	if err != nil {
		return nil, err
	}
	if err = sound(path, file); err == nil && flag&os.O_TRUNC != 0 {
		err = file.Truncate(0)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// sound checks an open file, which nobody can replace from now on.
func sound(path string, file *os.File) error {
	found, err := file.Stat()
	switch {
	case err != nil:
		return err
	case !found.Mode().IsRegular():
		return &Error{path, "is not a file", "rm " + path}
	case uid(found) != os.Geteuid():
		return &Error{path, "belongs to " + owner(found), fmt.Sprintf("chown %d %s", os.Geteuid(), path)}
	case found.Mode().Perm()&0o022 != 0:
		return &Error{path, fmt.Sprintf("has mode %04o", mode4(found)), "chmod go= " + path}
	case names(found) > 1:
		return &Error{path, fmt.Sprintf("has %d names", names(found)), "copy it, and put the copy in its place"}
	}
	return nil
}

// names returns the number of directory entries of a file.
func names(found fs.FileInfo) uint64 {
	if status, ok := found.Sys().(*syscall.Stat_t); ok {
		return uint64(status.Nlink)
	}
	return 1
}

// Read returns the content of such a file, up to the given number of bytes.
func Read(path string, most int64) ([]byte, error) {
	file, err := Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	found, err := file.Stat()
	if err == nil && found.Size() > most {
		err = fmt.Errorf("%s has %d bytes, more than %d", path, found.Size(), most)
	}
	if err != nil {
		return nil, err
	}
	content := make([]byte, found.Size())
	n, err := io.ReadFull(file, content)
	return content[:n], err
}

// Write replaces a file durably and atomically. It replaces an existing link instead of writing to its target.
func Write(path string, content []byte) error {
	partial := path + ".partial"
	if err := os.Remove(partial); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := Open(partial, os.O_CREATE|os.O_EXCL|os.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(partial, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(partial))
	}
	return SyncDirectory(filepath.Dir(path))
}

// SyncDirectory makes the entries of a directory durable: a file that was created, renamed or removed in it.
func SyncDirectory(path string) error {
	directory, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(directory.Sync(), directory.Close())
}
