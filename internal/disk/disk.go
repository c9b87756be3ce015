// Package disk reports how much space a file system has left, and locks files.
package disk

import "syscall"

// MinFree is the space reserved for the journal: other files are not written below it.
const MinFree = 64 << 20

// Free returns the space available to this user on a directory's file system.
func Free(directory string) (free int64, known bool) {
	var stat syscall.Statfs_t
	if syscall.Statfs(directory, &stat) != nil {
		return 0, false
	}
	return int64(stat.Bavail) * int64(stat.Bsize), true
}
