// Package browsertest drives the dashboard of a real botd in a real browser.
//
// It is a module of its own, so that what drives a browser is no part of botd's
// dependencies: go test ./... in this directory. Without a browser its tests are
// skipped; with BOTD_REQUIRE=browser they fail.
package browsertest
