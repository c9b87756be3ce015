//go:build linux || darwin || freebsd

package disk

import "syscall"

// Free returns the space available to this user on a directory's file system.
func Free(directory string) (free int64, known bool) {
	var stat syscall.Statfs_t
	if syscall.Statfs(directory, &stat) != nil {
		return 0, false
	}
	return int64(stat.Bavail) * int64(stat.Bsize), true
}
