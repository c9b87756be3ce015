//go:build race

package cli

// raced says that the tests were built with the race detector: so are the daemons
// they start. A race ends one with exit code 66, which no test takes for a clean stop.
const raced = true
