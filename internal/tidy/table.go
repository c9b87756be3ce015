// Package tidy holds tests about the shape of the code.
//
// The table says, for each package, its sentence, which other packages and
// which libraries it may import, and whether it is pure: a pure package never
// asks for the time, starts a goroutine, does I/O or logs. A package that is not
// in the table fails the test, and so does an import that is not in its row.
package tidy

// Row is one package of the house.
type Row struct {
	Path      string   // below the module
	Sentence  string   // the package comment's first sentence says it
	Pure      bool     // no clock, goroutine, I/O, log
	Imports   []string // packages of botd; "*" for all
	Libraries []string // modules outside the standard library
}

const (
	libDecimal    = "github.com/shopspring/decimal"
	libParquet    = "github.com/parquet-go/parquet-go"
	libCompress   = "github.com/klauspost/compress"
	libYAML       = "gopkg.in/yaml.v3"
	libCron       = "github.com/robfig/cron/v3"
	libBackoff    = "github.com/cenkalti/backoff/v5"
	libRate       = "golang.org/x/time"
	libSQLite     = "modernc.org/sqlite"
	libLibc       = "modernc.org/libc"
	libSys        = "golang.org/x/sys"
	libSync       = "golang.org/x/sync"
	libZerolog    = "github.com/rs/zerolog"
	libPrometheus = "github.com/prometheus/client_golang"
	libModel      = "github.com/prometheus/client_model"
	libTable      = "github.com/jedib0t/go-pretty/v6"
	libCobra      = "github.com/spf13/cobra"
	libPflag      = "github.com/spf13/pflag"
	libIsatty     = "github.com/mattn/go-isatty"
	libSchema     = "github.com/santhosh-tekuri/jsonschema/v6"
	libOpenAPI    = "github.com/getkin/kin-openapi"
	libBtree      = "github.com/tidwall/btree"
	libStarlark   = "go.starlark.net"
	libTelegram   = "github.com/go-telegram/bot"
	libShoutrrr   = "github.com/nicholas-fedor/shoutrrr"
)

// Table is the house: every package, in the order a reader meets them.
var Table = []Row{
	{"exchange", "defines the vocabulary of the market: Symbol, candle columns, Order, Position, Request and Answer, tick arithmetic, errors", true, nil, []string{libDecimal}},
	{"exchange/wire", "the interface's JSON in both directions, its quirks, its signature", true, []string{"exchange"}, []string{libDecimal}},
	{"exchange/rest", "the signed HTTP client: clock offset, request budget, backoff for reads", false, []string{"exchange", "exchange/wire"}, []string{libBackoff, libRate, libDecimal}},
	{"exchange/sim", "the simulated exchange: a pure engine", true, []string{"exchange"}, []string{libDecimal, libBtree}},
	{"docs", "the documents that botd serves", false, nil, []string{libYAML}},
	{"exchange/sim/server", "serves the simulated exchange over the signed HTTP interface", false, []string{"docs", "exchange", "exchange/wire", "exchange/sim"}, []string{libRate, libDecimal, libSys}},
	{"exchange/paper", "the simulated exchange fed by a real venue's public data", false, []string{"exchange", "exchange/sim"}, nil},
	{"exchange/probe", "examines a venue from outside, step by step", false, []string{"exchange", "exchange/wire", "exchange/rest"}, nil},
	{"exchange/tape", "recorded market data: files in, columns in memory, holes found", false, []string{"exchange"}, []string{libDecimal, libYAML, libParquet, libCompress}},
	{"strategy", "defines what a strategy is: View in, Plan out; parameters; the registry", true, []string{"exchange"}, []string{libDecimal}},
	{"strategy/indicator", "streaming indicators, O(1) a candle", true, nil, nil},
	{"strategy/library", "the built-in strategies, a file each", true, []string{"exchange", "strategy", "strategy/indicator"}, []string{libDecimal}},
	{"strategy/script", "runs strategies written in Starlark, and rules of one line each", true, []string{"exchange", "strategy", "strategy/indicator"}, []string{libDecimal, libStarlark}},
	{"strategy/overlay", "adds entry and exit rules to any strategy: patient entries, trailing stop, time limit, returns by age, cooldown", true, []string{"exchange", "strategy"}, nil},
	{"reconcile", "what was asked, what was fetched, what is therefore true; Plan minus Truth", true, []string{"exchange", "strategy"}, nil},
	{"reconcile/journal", "the durable memory: SQLite, one file, append-only and chained", false, []string{"exchange", "strategy", "reconcile"}, []string{libSQLite, libSys}},
	{"risk", "the rules; the only maker of Approved; fails closed", true, []string{"exchange", "strategy", "reconcile"}, []string{libDecimal}},
	{"runtime/engine", "one account's engine: tick and round; events in, effects out", true, []string{"exchange", "strategy", "reconcile", "risk"}, nil},
	{"runtime", "the live driver: schedule, requests, journal, supervision, shutdown", false, []string{"exchange", "strategy", "reconcile", "risk", "runtime/engine"}, []string{libSync}},
	{"runtime/ops", "metrics, logs and what watches them: rules, dashboard, unit", false, []string{"runtime/engine", "exchange", "strategy", "reconcile", "risk"}, []string{libPrometheus, libModel, libZerolog, libDecimal}},
	{"runtime/notify", "tells people what matters, by the services they read: bounded, put together, never waited for", false, []string{"runtime/engine", "exchange", "reconcile"}, []string{libShoutrrr, libRate}},
	{"runtime/signals", "takes signals from outside over HTTP: each once, in time, from who knows the token", false, []string{"runtime", "runtime/engine", "exchange", "strategy", "reconcile"}, []string{libRate}},
	{"runtime/view", "holds what botd shows of itself: read models of status, history, equity, decisions and positions", false, []string{"runtime/engine", "runtime/ops", "exchange", "strategy", "strategy/indicator", "reconcile", "risk"}, []string{libDecimal}},
	{"runtime/api", "serves the admin API: what botd knows, its live stream, and the changes a person may ask for", false, []string{"docs", "runtime", "runtime/engine", "runtime/view", "runtime/ops", "exchange", "strategy", "reconcile", "risk"}, []string{libPrometheus, libDecimal}},
	{"runtime/telegram", "takes commands from listed people on Telegram, each by the way every request to the API goes", false, []string{"reconcile", "runtime/view", "runtime/api"}, []string{libTelegram, libRate}},
	{"runtime/web", "the dashboard: pages in the binary that show what the API tells", false, []string{"internal/chart"}, nil},
	{"backtest", "the recorded driver: measures, reports, sweeps", false, []string{"exchange", "exchange/sim", "exchange/tape", "strategy", "reconcile", "risk", "runtime/engine"}, []string{libDecimal, libTable}},
	{"backtest/report", "a result as one page that opens offline, and several beside each other", false, []string{"backtest", "exchange", "internal/chart"}, []string{libDecimal}},
	{"internal/chart", "the vendored chart library of botd's pages, with its licence", false, nil, nil},
	{"configs", "loads and validates the YAML, file:line in every error; the examples", false, []string{"exchange", "strategy", "strategy/overlay", "risk"}, []string{libYAML, libCron, libDecimal}},
	{"cmd/botd", "is the program: its command line with the built-in strategies, nothing else", false, []string{"cmd/botd/cli"}, nil},
	{"cmd/botd/cli/shell", "is what every command shares with its caller: global flags, output forms, tables, progress, questions, signals", false, []string{"internal/failure", "configs"}, []string{libCobra, libPflag, libIsatty, libTable, libSys}},
	{"cmd/botd/cli", "is the command line: flags, output and wiring, a file a verb; a program of your own adds strategies", false, []string{"*"}, []string{libDecimal, libCobra, libPflag, libIsatty, libTable, libSync, libSys}},
	{"internal/simulation", "the whole daemon under seeded faults on virtual time", false, []string{"exchange", "exchange/sim", "strategy", "strategy/library", "reconcile", "reconcile/journal", "risk", "runtime/engine", "runtime", "internal/mutant"}, nil},
	{"internal/startclock", "sets where the clock of a simulated exchange under test starts", false, nil, nil},
	{"internal/mutant", "holds the mutants: rules of the protocol, each with the edit of the source that breaks it", false, nil, nil},
	{"internal/mutant/instrument", "writes the overlay with which every mutant can be switched on, and prints its path for the go command", false, []string{"internal/mutant"}, nil},
	{"internal/conformance", "tests every exchange alike: the simulated one, the client over its server, and a real venue", false, []string{"exchange", "exchange/wire", "exchange/rest", "exchange/sim", "exchange/sim/server"}, []string{libDecimal}},
	{"internal/conformance/journaltest", "tests every journal alike: SQLite, memory, and any store to come", false, []string{"exchange", "strategy", "reconcile", "reconcile/journal"}, []string{libSQLite, libLibc}},
	{"internal/enginetest", "makes engine notes of every kind for the tests of packages that read them", false, []string{"exchange", "strategy", "reconcile", "risk", "runtime/engine"}, []string{libDecimal}},
	{"internal/openapi", "an OpenAPI document, held against what a server takes and answers", false, nil, []string{libSchema, libOpenAPI}},
	{"internal/chaos", "kills the real binary over a failing exchange, and judges what became of it by the exchange's truth", false, []string{"reconcile", "reconcile/journal"}, []string{libDecimal}},
	{"internal/failure", "gives an error the exit code it ends a command with, and a hint", false, nil, nil},
	{"internal/plural", "writes a number with its word", true, nil, nil},
	{"internal/tidy", "tests about the shape of the code", false, nil, nil},
}
