// Command botd is the program: its command line with the built-in strategies, nothing else.
package main

import "botd/cmd/botd/cli"

func main() { cli.Main() }
