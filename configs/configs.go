// Package configs loads and validates the YAML configuration, with file and line in every error, and holds the examples.
//
// A configuration is a directory with botd.yaml and strategies/*.yaml, one strategy per file. Every key has a default
// except a strategy's name, strategy, market, symbol and interval. Reading never stops at the first mistake: all
// problems in all files are returned at once, each with its line and a hint if there is one. Decimals are parsed from
// the text as written, never through a float.
package configs

import (
	"fmt"

	"botd/exchange"
	"botd/risk"
	"botd/strategy"
)

// MaxStrategies is the maximum number of strategies of a daemon: strategy names are metric labels, and their number
// is bounded (docs/metrics.md).
const MaxStrategies = 500

// Mode selects the venue on which the daemon trades.
type Mode string

// The modes of the daemon. The empty mode means that none is given.
const (
	Demo  Mode = "demo"  // the embedded simulated exchange, offline, no keys
	Paper Mode = "paper" // the real service's public data, a simulated account
	Live  Mode = "live"  // the real service; needs both the file and the flag
)

// Config is one daemon's effective configuration: the values in the files, and the defaults of all others.
type Config struct {
	Directory string   // as given to Load
	Files     []string // files read, in order

	Mode     Mode
	Instance string // part of every client_order_id
	Exchange ExchangeConfig
	// ProfileFile is the file with the venue's profile, whose content is in Exchange.
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
	Limits         risk.Limits // of the account
	Notify         NotifyConfig
	Signals        SignalsConfig
	Telegram       TelegramConfig

	Strategies []StrategyConfig // by file name

	fileMode   Mode // the value in botd.yaml, before the command line
	rootName   string
	lines      map[string]map[string]int // of each value, by file and path
	overridden []string                  // paths set on the command line
}

// Strategy returns a strategy by name, or nil.
func (c *Config) Strategy(name string) *StrategyConfig {
	for i := range c.Strategies {
		if c.Strategies[i].Name == name {
			return &c.Strategies[i]
		}
	}
	return nil
}

// Options provide the context of a check. The zero value knows no strategy and no symbol.
type Options struct {
	Registry *strategy.Registry
	// Symbols are the known instruments of both markets: built in, or fetched from the venue. If it is empty, no
	// symbol is checked.
	Symbols []*exchange.Symbol
	// Mode overrides the file's, as --mode does; an empty one does not. Config.Confirm must confirm it before
	// anything runs.
	Mode Mode
	// CredentialsDirectory is $CREDENTIALS_DIRECTORY, or empty.
	CredentialsDirectory string
	// Script compiles the file of a strategy: script, with its libraries; nil knows no scripts.
	Script func(source *strategy.Source) (strategy.Definition, error)
	// Process returns the definition reported by the program of a strategy: process; nil starts no programs.
	Process func(command []string, directory string) (strategy.Definition, error)
	// Columns are external series for every strategy. They replace the files that a strategy names; nil for none.
	Columns strategy.Columns
	// LoadColumns opens the files that a strategy names; nil knows none.
	LoadColumns func(files []string) (strategy.Columns, error)
}

// Confirm refuses to trade for real unless both botd.yaml and the flag request it: mode: live and --mode live. flag
// is empty if not given.
func (c *Config) Confirm(flag Mode) error {
	switch {
	case flag == Live && c.fileMode != Live:
		return fmt.Errorf("--mode live, but botd.yaml has mode: %s\n  hint: mode live must be set twice; write mode: live in botd.yaml too", c.fileMode)
	case flag == "" && c.Mode == Live:
		return fmt.Errorf("botd.yaml has mode: live, but the command line does not\n" +
			"  hint: mode live must be set twice; add --mode live, or --mode demo to try it out")
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
			Breaker:           BreakerConfig{Uncertain: 3, WithinMS: 10 * minute, PauseMS: 10 * minute, EmptyEndings: 3, EmptyPauseMS: 45 * second},
		},
		Limits:    risk.DefaultLimits(),
		Notify:    NotifyConfig{EveryMS: minute, Daily: Never},
		Telegram:  TelegramConfig{Server: telegramServer},
		Simulated: defaultSimulated(),
		Paper:     PaperConfig{PollMS: second, MaxAgeMS: 10 * second},
	}
}
