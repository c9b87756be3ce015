package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"botd/internal/privatefile"
)

// defaultReserve is the size of the reserve for facts and exits: room for some thousand records.
const defaultReserve = 4 << 20

// reserve is a file that occupies space on the journal's disk. When the disk is full it is released
// for facts and exits; openings wait until it can be restored.
type reserve struct {
	path string
	size int64 // bytes; 0 for defaultReserve, negative for none
	low  string
}

// begin takes the space when a journal is opened.
func (r *reserve) begin() {
	if r.size == 0 {
		r.size = defaultReserve
	}
	if r.size < 0 {
		return
	}
	if info, err := os.Stat(r.path); err == nil && info.Size() == r.size {
		return
	}
	r.low = fmt.Sprintf("the disk of the journal is nearly full: %d MiB free are required", 2*r.size>>20)
	r.refill()
}

// spend releases the space and reports whether there was any.
func (r *reserve) spend() bool {
	if r.size < 0 || r.low != "" {
		return false
	}
	r.low = fmt.Sprintf("the disk of the journal is full, its reserve is in use: %d MiB free are required", 2*r.size>>20)
	return os.Remove(r.path) == nil
}

// refill takes the space again once twice as much is free, so that a nearly full disk does not
// oscillate. It returns the reason why the reserve is still in use.
func (r *reserve) refill() string {
	if r.low == "" || r.size < 0 {
		return ""
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(r.path), &disk); err != nil || disk.Bavail*uint64(disk.Bsize) < uint64(2*r.size) {
		return r.low
	}
	if r.create() == nil {
		r.low = ""
	}
	return r.low
}

// create creates the file with its blocks.
func (r *reserve) create() (err error) {
	file, err := privatefile.Open(r.path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC)
	if err != nil {
		return err
	}
	err = allocate(file, r.size)
	if err = errors.Join(err, file.Close()); err != nil {
		err = errors.Join(err, os.Remove(r.path))
	}
	return err
}

// fill writes blocks if the file system cannot preallocate them.
func fill(file *os.File, size int64) error {
	block := make([]byte, 1<<16)
	for written := int64(0); written < size; written += int64(len(block)) {
		if _, err := file.Write(block[:min(int64(len(block)), size-written)]); err != nil {
			return err
		}
	}
	return file.Sync()
}
