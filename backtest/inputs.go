package backtest

import "botd/risk"

// Inputs are what a run was made of: enough to run it again elsewhere.
type Inputs struct {
	Strategies []Input     `json:"strategies"`
	Symbols    *File       `json:"symbols,omitempty"`
	Limits     risk.Limits `json:"limits"`  // of the account
	Three      bool        `json:"columns"` // ideal and pessimistic too
	Signals    []File      `json:"signals,omitempty"`
	Columns    []File      `json:"column_files,omitempty"`
	Repair     bool        `json:"repair,omitempty"`
	FromMS     int64       `json:"from_ms,omitempty"` // the part of the candles it was asked for; 0 for all
	ToMS       int64       `json:"to_ms,omitempty"`
}

// Input is one strategy with its files.
type Input struct {
	Name    string `json:"name"`
	File    string `json:"file"`
	YAML    string `json:"yaml"`             // the file's text, so that the report alone is enough
	Script  *Text  `json:"script,omitempty"` // of a strategy: script
	Data    File   `json:"data"`
	Funding []File `json:"funding,omitempty"`
	Detail  *File  `json:"detail,omitempty"`
	Trades  *File  `json:"trades,omitempty"`
}

// File is a file and its hash.
type File struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// Text is a file with what stands in it.
type Text struct {
	Path string `json:"path"` // relative to the strategy's file
	Text string `json:"text"`
}
