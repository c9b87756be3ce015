//go:build !unix

package shell

import "os"

// dimensionsOf reports the size as unknown on this system.
func dimensionsOf(*os.File) (columns, rows int, known bool) { return 0, 0, false }

// resizes reports no changes on this system.
func resizes() (changed <-chan os.Signal, end func()) { return nil, func() {} }
