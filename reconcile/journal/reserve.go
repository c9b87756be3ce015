package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"botd/internal/private"
)

// DefaultReserve is what is kept free for facts and exits: some thousand records.
const DefaultReserve = 4 << 20

// reserve is a file that takes up room on the journal's disk. When the disk is
// full it is given up, and what it held is for facts and exits; openings wait
// until there is room for it again.
type reserve struct {
	path string
	size int64 // bytes; 0 for DefaultReserve, negative for none
	low  string
}

// begin takes the room when a journal is opened.
func (r *reserve) begin() {
	if r.size == 0 {
		r.size = DefaultReserve
	}
	if r.size < 0 {
		return
	}
	if info, err := os.Stat(r.path); err == nil && info.Size() == r.size {
		return
	}
	r.low = fmt.Sprintf("the disk of the journal is nearly full: %d MiB free are wanted", 2*r.size>>20)
	r.refill()
}

// spend gives the room up. It reports whether there was any.
func (r *reserve) spend() bool {
	if r.size < 0 || r.low != "" {
		return false
	}
	r.low = fmt.Sprintf("the disk of the journal is full, its reserve is in use: %d MiB free are wanted", 2*r.size>>20)
	return os.Remove(r.path) == nil
}

// refill takes the room again when there is twice as much, so that a disk at its
// brim does not go to and fro. It returns why it is still in use.
func (r *reserve) refill() string {
	if r.low == "" || r.size < 0 {
		return ""
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(r.path), &disk); err != nil || disk.Bavail*uint64(disk.Bsize) < uint64(2*r.size) {
		return r.low
	}
	if r.take() == nil {
		r.low = ""
	}
	return r.low
}

// take makes the file, with its blocks.
func (r *reserve) take() (err error) {
	file, err := private.Open(r.path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC)
	if err != nil {
		return err
	}
	err = allocate(file, r.size)
	if err = errors.Join(err, file.Close()); err != nil {
		err = errors.Join(err, os.Remove(r.path))
	}
	return err
}

// fill writes blocks where the file system cannot promise them.
func fill(file *os.File, size int64) error {
	block := make([]byte, 1<<16)
	for written := int64(0); written < size; written += int64(len(block)) {
		if _, err := file.Write(block[:min(int64(len(block)), size-written)]); err != nil {
			return err
		}
	}
	return file.Sync()
}
