// Command botd is the program: its command line with the built-in strategies, nothing else.
package main

import "botd/cmd/botd/command"

func main() { command.Main() }
