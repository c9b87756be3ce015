package report

// Evened draws the benchmark.
var Evened = evened
