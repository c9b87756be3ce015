// Package disktest runs a test in a process whose files cannot grow, as on a full disk, or in which one file call fails.
package disktest
