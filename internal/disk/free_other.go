//go:build !(linux || darwin || freebsd)

package disk

// Free is not known here.
func Free(string) (free int64, known bool) { return 0, false }
