//go:build !unix

package shell

import "os"

// widthOf is not known here.
func widthOf(*os.File) (columns int, known bool) { return 0, false }
