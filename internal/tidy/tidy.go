// Package tidy tests the shape of the code: its arrows, its limits, and its language.
//
// The table has a row for each package: its sentence, the packages and libraries that it
// may import, and its kind. A pure package never reads the clock, starts a goroutine, does
// I/O or logs; only tests and overlays use a package of kind tests. The test fails for a
// package without a row, for an import that is missing from its row, and for an import in
// the row that the package does not use.
//
// language_words_test.go lists private words with their standard terms. The test also fails for a
// file that contains one, for a line that is too wide, and for a doc comment that begins
// with another name than its declaration's.
package tidy
