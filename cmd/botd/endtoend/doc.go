// Package endtoend tests the built botd as a user runs it: commands, daemons, exchanges and documents; it contains only
// tests.
//
// TestScripts runs testdata/script; the other tests start the binary, or run a command line in their own process with
// cli.Execute. All of them are in one package, since each test binary links everything that botd does.
package endtoend
