// Package disk reports how much space a file system has left.
package disk

// MinFree is the space reserved for the journal: other files are not written below it.
const MinFree = 64 << 20
