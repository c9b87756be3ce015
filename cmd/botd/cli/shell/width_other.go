//go:build !unix

package shell

import "os"

// dimensionsOf is not known here.
func dimensionsOf(*os.File) (columns, rows int, known bool) { return 0, 0, false }

// resizes reports nothing here.
func resizes() (changed <-chan os.Signal, end func()) { return nil, func() {} }
