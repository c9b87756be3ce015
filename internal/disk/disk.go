// Package disk reports how much space a file system has left.
package disk

// MinFree is what is left free for the journal: nothing else is written below it.
const MinFree = 64 << 20
