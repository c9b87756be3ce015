// Package configs loads and validates the YAML configuration, with file and line in every error, and holds the examples.
//
// A configuration is a directory with botd.yaml and strategies/*.yaml, one
// strategy a file. Every key has a default but a strategy's name, strategy,
// market, symbol and interval. Reading never stops at the first fault: all
// problems of all files come back at once, each with its line and, where one is
// known, a hint. Decimals are read from the text as written, never through a
// float.
package configs

import (
	"fmt"

	"botd/exchange"
	"botd/risk"
	"botd/strategy"
)

// MaxStrategies is how many strategies one daemon runs: strategy names are
// metric labels, and their number is bounded (ops.md, metric catalogue).
const MaxStrategies = 500

// Mode says which venue the daemon trades on.
type Mode string

// The modes of the daemon. The empty one is not given.
const (
	Demo  Mode = "demo"  // the embedded simulated exchange, offline, no keys
	Paper Mode = "paper" // the real service's public data, a simulated account
	Live  Mode = "live"  // the real service; asked for twice: file and flag
)

// Config is one daemon's effective configuration: what the files say, and the
// defaults of what they do not.
type Config struct {
	Directory string   // as given to Load
	Files     []string // read, in the order they were read

	Mode     Mode
	Instance string // part of every client_order_id
	Exchange ExchangeConfig
	// ProfileFile is the file of the venue's profile, which is in Exchange.
	ProfileFile string
	Simulated   SimulatedConfig // demo and paper
	Paper       PaperConfig
	DataDir     string
	Journal     string // postgres://..., or empty for SQLite in DataDir
	// JournalKeyFile holds the key of the journal's chain; empty for none.
	JournalKeyFile string
	Foreign        string // halt, adopt, ignore: orders and positions botd did not make
	Shutdown       string // leave, cancel_orders, flatten
	Retention      RetentionConfig
	Listen         string // host:port of dashboard, API and metrics
	Access         AccessConfig
	Metrics        MetricsConfig
	Heartbeat      HeartbeatConfig
	Limits         risk.Limits // the account's
	Notify         NotifyConfig
	Signals        SignalsConfig
	Telegram       TelegramConfig

	Strategies []StrategyConfig // by file name

	fileMode   Mode // what botd.yaml says, before the command line
	rootName   string
	lines      map[string]map[string]int // of each value, by file and path
	overridden []string                  // paths that the command line gave
}

// Strategy finds a strategy by its name; nil when there is none.
func (c *Config) Strategy(name string) *StrategyConfig {
	for i := range c.Strategies {
		if c.Strategies[i].Name == name {
			return &c.Strategies[i]
		}
	}
	return nil
}

// Options are what a configuration is checked against. The zero value knows no
// strategy and no symbol.
type Options struct {
	Registry *strategy.Registry
	// Symbols are the instruments known, of both markets: built in, or fetched
	// from the venue. Empty checks no symbol.
	Symbols []*exchange.Symbol
	// Mode overrides the file's, as --mode does; empty leaves it. It must be
	// confirmed by Config.Confirm before anything runs.
	Mode Mode
	// CredentialsDirectory is $CREDENTIALS_DIRECTORY, or empty.
	CredentialsDirectory string
	// Script compiles the file of a strategy: script, with its libraries; nil knows no scripts.
	Script func(source *strategy.Source) (strategy.Definition, error)
	// Process asks the program of a strategy: process what it is; nil starts no programs.
	Process func(command []string, directory string) (strategy.Definition, error)
	// Columns are series from outside for every strategy, in place of the files that a
	// strategy names; nil for none.
	Columns strategy.Columns
	// LoadColumns opens the files that a strategy names; nil knows none.
	LoadColumns func(files []string) (strategy.Columns, error)
}

// Confirm refuses to trade for real unless it was asked for twice: by mode:
// live in botd.yaml and by --mode live, the flag given here (empty for none).
func (c *Config) Confirm(flag Mode) error {
	switch {
	case flag == Live && c.fileMode != Live:
		return fmt.Errorf("--mode live, but botd.yaml says mode: %s\n  hint: live is asked for twice; write mode: live in botd.yaml too", c.fileMode)
	case flag == "" && c.Mode == Live:
		return fmt.Errorf("botd.yaml says mode: live, but the command line does not\n" +
			"  hint: live is asked for twice; add --mode live, or --mode demo to try it out")
	case flag != "" && flag != c.Mode:
		return fmt.Errorf("--mode %s, but the configuration was loaded as %s", flag, c.Mode)
	}
	return nil
}

func defaults() *Config {
	return &Config{
		Mode: Demo, Instance: "main", DataDir: "./data", Foreign: "halt", Shutdown: "leave",
		Listen:    "127.0.0.1:8420",
		Retention: RetentionConfig{DecisionsMS: 30 * day, JournalMiB: 1024, LogsMiB: 128, RecordedMiB: 512},
		Exchange: ExchangeConfig{
			Settle:            defaultSettle(Demo),
			Signature:         SignatureConfig{Payload: "{timestamp}{method}{path}{body}", Encoding: "hex"},
			RequestsPerSecond: 50,
			Breaker:           BreakerConfig{Unknowns: 3, WithinMS: 10 * minute, PauseMS: 10 * minute, EmptyEndings: 3, EmptyPauseMS: 45 * second},
		},
		Limits:    risk.DefaultLimits(),
		Notify:    NotifyConfig{EveryMS: minute, Daily: Never},
		Telegram:  TelegramConfig{Server: telegramServer},
		Simulated: defaultSimulated(),
		Paper:     PaperConfig{PollMS: second, MaxAgeMS: 10 * second},
	}
}
