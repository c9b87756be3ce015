package backtest

import (
	"path"

	"botd/risk"
	"botd/strategy"
)

// Inputs are the inputs of a run: enough to repeat it elsewhere.
type Inputs struct {
	Strategies []Input     `json:"strategies"`
	Symbols    *File       `json:"symbols,omitempty"`
	Limits     risk.Limits `json:"limits"`  // of the account
	AllColumns bool        `json:"columns"` // with the ideal and the pessimistic column
	Signals    []File      `json:"signals,omitempty"`
	Columns    []File      `json:"column_files,omitempty"`
	Repair     bool        `json:"repair,omitempty"`
	FromMS     int64       `json:"from_ms,omitempty"` // the requested part of the candles; 0 for all
	ToMS       int64       `json:"to_ms,omitempty"`
}

// Input is one strategy with its files.
type Input struct {
	Name    string `json:"name"`
	File    string `json:"file"`
	YAML    string `json:"yaml"`             // the file's text, so that the report alone suffices
	Script  *Text  `json:"script,omitempty"` // of a strategy: script
	Data    File   `json:"data"`
	Funding []File `json:"funding,omitempty"`
	Detail  *File  `json:"detail,omitempty"`
	Trades  *File  `json:"trades,omitempty"`

	Others []OtherFile `json:"others,omitempty"` // candles of other symbols that the strategy reads
}

// OtherFile is a file with candles of another symbol.
type OtherFile struct {
	Symbol string `json:"symbol"` // with its market: futures ETH-USDT
	File
}

// File is a file and its hash.
type File struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// Text is a file with its content.
type Text struct {
	Path      string `json:"path"` // relative to the strategy's file; for a library, the name that loads it
	Text      string `json:"text"`
	Libraries []Text `json:"libraries,omitempty"` // libraries that a script loads from its own folder
}

// NewScript returns a script with its libraries, or nil without a script.
func NewScript(path, text string, libraries []strategy.Library) *Text {
	if path == "" {
		return nil
	}
	script := &Text{Path: path, Text: text}
	for i := range libraries {
		script.Libraries = append(script.Libraries, Text{Path: libraries[i].Name, Text: string(libraries[i].Text)})
	}
	return script
}

// Files returns the texts by path, relative to the strategy's file.
func (t *Text) Files() map[string]string {
	if t == nil {
		return nil
	}
	files := map[string]string{t.Path: t.Text}
	for _, l := range t.Libraries {
		files[path.Join(path.Dir(t.Path), l.Path)] = l.Text
	}
	return files
}
