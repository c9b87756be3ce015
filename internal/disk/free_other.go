//go:build !(linux || darwin || freebsd)

package disk

// Free reports the free space as unknown on this system.
func Free(string) (free int64, known bool) { return 0, false }
