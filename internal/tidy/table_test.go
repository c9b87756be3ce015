package tidy

// Row is one package of the repository.
type Row struct {
	Path      string // below the module
	Sentence  string // the rest of the sentence after the package's name, in its comment and in docs/ARCHITECTURE.md
	Kind      Kind
	Imports   string // packages of botd; "*" for any
	Libraries string // modules outside the standard library, by their names in Libraries
}

// Kind is what a package may do, as a letter of the table in docs/ARCHITECTURE.md.
type Kind string

const (
	impure Kind = ""
	pure   Kind = "p" // no clock, goroutine, I/O, log
	tests  Kind = "t" // run by no program: tests use it, or an overlay of the go command builds it in
)

// Libraries are the modules that packages may import, by the names used in the table.
var Libraries = map[string]string{
	"decimal":     "github.com/shopspring/decimal",
	"parquet":     "github.com/parquet-go/parquet-go",
	"compress":    "github.com/klauspost/compress",
	"flatbuffers": "github.com/google/flatbuffers",
	"lz4":         "github.com/pierrec/lz4/v4",
	"yaml":        "gopkg.in/yaml.v3",
	"markdown":    "github.com/yuin/goldmark",
	"cron":        "github.com/robfig/cron/v3",
	"backoff":     "github.com/cenkalti/backoff/v5",
	"rate":        "golang.org/x/time",
	"sqlite":      "modernc.org/sqlite",
	"libc":        "modernc.org/libc",
	"sys":         "golang.org/x/sys",
	"sync":        "golang.org/x/sync",
	"nats":        "github.com/nats-io/nats.go",
	"natsserver":  "github.com/nats-io/nats-server/v2",
	"zerolog":     "github.com/rs/zerolog",
	"prometheus":  "github.com/prometheus/client_golang",
	"dto":         "github.com/prometheus/client_model",
	"table":       "github.com/jedib0t/go-pretty/v6",
	"cobra":       "github.com/spf13/cobra",
	"pflag":       "github.com/spf13/pflag",
	"isatty":      "github.com/mattn/go-isatty",
	"schema":      "github.com/santhosh-tekuri/jsonschema/v6",
	"openapi":     "github.com/getkin/kin-openapi",
	"starlark":    "go.starlark.net",
	"telegram":    "github.com/go-telegram/bot",
	"shoutrrr":    "github.com/nicholas-fedor/shoutrrr",
	"memlimit":    "github.com/KimMachineGun/automemlimit",
}

// Table lists every package, in reading order.
var Table = []Row{
	{"exchange", "defines the vocabulary of the market: Symbol, candle columns, Order, Position, Request and Answer, tick arithmetic, errors",
		pure, "", "decimal"},
	{"exchange/polling", "lists what botd reads from an exchange regularly, and how often",
		pure, "exchange", ""},
	{"exchange/wire", "encodes and decodes the exchange's JSON interface, with its quirks and its signature",
		pure, "internal/printable exchange", "decimal"},
	{"exchange/rest", "implements the signed HTTP client, with clock offset, request budget, and backoff for reads",
		impure, "exchange exchange/polling exchange/wire", "backoff rate"},
	{"exchange/sim", "simulates the exchange as a pure state machine",
		pure, "exchange", "decimal"},
	{"docs", "embeds the documents that botd serves",
		impure, "", "yaml"},
	{"exchange/sim/server", "serves the simulated exchange over the signed HTTP interface",
		impure, "internal/disk internal/privatefile docs exchange exchange/wire exchange/sim internal/inbound", "rate decimal"},
	{"exchange/paper", "trades a simulated account on a real venue's public data",
		impure, "exchange exchange/polling exchange/sim", ""},
	{"exchange/probe", "examines a venue from outside, step by step",
		impure, "exchange exchange/wire exchange/rest internal/plural", ""},
	{"exchange/tape", "reads recorded market data from files into columns and finds the gaps in it",
		impure, "exchange exchange/tape/foreign internal/failure internal/spell", "decimal parquet compress yaml"},
	{"exchange/tape/foreign", "converts candle files of other sources to the CSV that package tape parses",
		impure, "", "compress flatbuffers lz4"},
	{"strategy", "defines what a strategy is: View in, Plan out; parameters; the registry",
		pure, "exchange", "decimal"},
	{"strategy/indicator", "computes streaming indicators, most of them in constant time per candle",
		pure, "", ""},
	{"strategy/library", "holds the built-in strategies",
		pure, "exchange strategy strategy/indicator", "decimal"},
	{"strategy/script", "runs strategies written in Starlark, and rules of one line each",
		pure, "exchange strategy strategy/indicator", "decimal starlark"},
	{"strategy/overlay", "adds sizes, entry and exit rules to any strategy: patient entries, trailing stop, time limit, returns by age, cooldown",
		pure, "exchange strategy", ""},
	{"strategy/starter", "writes the files that a new strategy starts from: a script with its settings, or a Go module",
		impure, "internal/failure", ""},
	{"strategy/process", "communicates with a strategy that runs in its own process, in any language",
		impure, "exchange strategy", "decimal"},
	{"reconcile/placement", "defines the purpose, state and id of an order, and the venue's bounds",
		pure, "", ""},
	{"reconcile/ledger", "books money: double entry from the wallets, round trips from the fills",
		pure, "exchange reconcile/placement", ""},
	{"reconcile/record", "defines the records of the journal: one envelope, and one payload type for each kind of record",
		pure, "exchange strategy reconcile/placement reconcile/ledger", ""},
	{"reconcile/account", "holds an account's journalled state, which changes only by applying records",
		pure, "exchange strategy reconcile/placement reconcile/ledger reconcile/record internal/freeze", ""},
	{"reconcile", "derives an account's state from requests and fetched answers, and the intents that lead from it to the plan",
		pure, "exchange strategy reconcile/placement reconcile/ledger reconcile/record reconcile/account", ""},
	{"reconcile/journal", "stores records durably in one SQLite file, append-only and chained",
		impure, "internal/privatefile exchange reconcile/placement reconcile/ledger reconcile/record " +
			"reconcile/account reconcile internal/disk internal/failure internal/version", "compress sqlite sys"},
	{"risk", "checks every intent against the rules, is the only maker of Approved, and fails closed",
		pure, "internal/notation exchange reconcile/placement reconcile/record reconcile/account reconcile", "decimal"},
	{"runtime/engine", "runs one account as a state machine of ticks and rounds: events in, effects out",
		pure, "exchange exchange/polling strategy reconcile/placement reconcile/ledger reconcile/record reconcile/account reconcile risk", ""},
	{"runtime", "drives the engine live: schedule, requests, journal, supervision, and shutdown",
		impure, "internal/privatefile exchange exchange/polling strategy reconcile/record runtime/engine", "sync"},
	{"runtime/worker", "calls strategies for the engine, each in its own goroutine",
		impure, "strategy runtime/engine", ""},
	{"runtime/worker/isolated", "runs strategies in their own processes: scripts, rules, and programs in any language",
		impure, "internal/confine strategy strategy/process strategy/script", ""},
	{"runtime/wording", "puts each note of the engine into words, for the log, the API's notices, and a simulation's trace",
		pure, "internal/printable exchange reconcile reconcile/placement runtime/engine", ""},
	{"runtime/incident", "groups declared problems by their cause, and decides when to notify a person",
		pure, "reconcile/account runtime/engine", ""},
	{"runtime/profit", "computes the profit of strategies from the ledger: the one definition behind every displayed figure",
		pure, "exchange reconcile/ledger runtime/engine", ""},
	{"runtime/ops", "exports metrics and logs, and generates the rules, dashboard and unit that watch them",
		impure, "internal/disk internal/privatefile internal/paint internal/printable exchange reconcile/placement reconcile/ledger reconcile/account risk " +
			"runtime/engine runtime/profit runtime/incident runtime/wording", "zerolog prometheus"},
	{"runtime/notify", "notifies people through the services that they read, bounded and asynchronously",
		impure, "internal/printable runtime/engine runtime/profit exchange reconcile/placement", "shoutrrr rate"},
	{"runtime/notify/channels", "opens the configured notification channels, and tests them",
		impure, "runtime/notify runtime/api configs internal/failure", ""},
	{"runtime/signals", "accepts trading signals over HTTP, each one once, in time, and authenticated by a token",
		impure, "runtime runtime/engine exchange strategy reconcile/record internal/inbound", "rate"},
	{"runtime/view", "holds the read models of status, history, equity, decisions and positions",
		impure, "internal/privatefile exchange strategy reconcile/placement reconcile/ledger reconcile/record reconcile/account " +
			"reconcile strategy/indicator risk " +
			"runtime/engine runtime/profit runtime/incident runtime/wording runtime/ops internal/plural", "decimal sync"},
	{"runtime/timeline", "puts an account's journal, log and incidents into one order: the story of a night",
		pure, "reconcile/record reconcile/journal runtime/ops runtime/view", ""},
	{"runtime/timeline/files", "reads the story of an account from its data directory: the log, the incidents, and the journal",
		impure, "internal/failure reconcile/journal reconcile/record runtime/ops runtime/timeline runtime/view", ""},
	{"runtime/api/auth", "decides who may reach the API: tokens, sessions, roles, and delays after wrong tokens",
		impure, "internal/privatefile internal/inbound", "rate"},
	{"runtime/api", "serves the admin API: state, live stream, and the changes that a person may request",
		impure, "internal/privatefile internal/jsonalias docs runtime runtime/engine runtime/view runtime/api/auth runtime/ops exchange " +
			"strategy reconcile/ledger reconcile/record " +
			"reconcile/account risk backtest/parity internal/inbound", "prometheus dto"},
	{"runtime/api/client", "queries a running daemon over its API: through its unix socket, or over TCP with a token",
		impure, "runtime/view runtime/api/auth runtime/api configs internal/failure", ""},
	{"runtime/gateway", "opens the exchange of a mode: the embedded one, the paper account, the real service",
		impure, "internal/privatefile exchange reconcile/placement reconcile/account exchange/wire exchange/rest exchange/sim exchange/sim/server " +
			"exchange/paper reconcile/journal runtime/engine runtime runtime/ops configs configs/engineconfig internal/failure", "sync"},
	{"runtime/rehearsal", "shows what a start would do now and what was decided in the past; it sends nothing",
		impure, "exchange strategy reconcile/placement reconcile/record reconcile/account reconcile reconcile/journal runtime/engine runtime " +
			"runtime/view runtime/gateway configs configs/engineconfig internal/failure", ""},
	{"runtime/haltfile", "stores a halt that no running daemon accepted, and enforces it at the next opportunity",
		impure, "internal/privatefile exchange reconcile/record reconcile/account reconcile reconcile/journal runtime/engine runtime runtime/view configs " +
			"internal/failure", ""},
	{"runtime/lane", "gives the kill switch its own way to the exchange, for when the engine or the journal does not answer",
		impure, "internal/privatefile exchange reconcile/placement reconcile/record reconcile/account reconcile runtime/engine runtime", ""},
	{"runtime/reload", "applies a changed configuration to a running daemon, as a whole or not at all",
		impure, "exchange reconcile/record reconcile/account runtime/engine runtime runtime/ops runtime/api configs configs/engineconfig", ""},
	{"runtime/backups", "makes the backups requested of a running daemon, and retains the newest",
		impure, "internal/privatefile reconcile/journal runtime/api internal/disk", ""},
	{"runtime/daemon", "runs the daemon: exchange, journal, engine, and everything that watches and serves it",
		impure, "internal/privatefile internal/printable exchange strategy reconcile/placement reconcile/ledger reconcile/record reconcile/account " +
			"reconcile exchange/polling exchange/rest exchange/tape strategy/library " +
			"reconcile/journal runtime/engine runtime runtime/ops runtime/notify runtime/notify/channels " +
			"runtime/signals runtime/view " +
			"runtime/incident runtime/api/auth runtime/api runtime/gateway runtime/telegram runtime/web backtest/sweepprocess " +
			"backtest/replay backtest/resultstore backtest/runner " +
			"configs configs/engineconfig internal/failure internal/plural internal/disk internal/version runtime/haltfile runtime/lane runtime/reload " +
			"runtime/backups runtime/worker", "sync memlimit"},
	{"runtime/doctor", "examines everything that can keep botd from running well, and suggests remedies",
		impure, "exchange exchange/wire exchange/rest reconcile/journal runtime/view runtime/api/auth runtime/api runtime/api/client configs " +
			"configs/engineconfig internal/failure internal/plural internal/version internal/disk runtime/notify/channels runtime/gateway", ""},
	{"runtime/support", "collects diagnostic information into one file, without keys and tokens",
		impure, "reconcile/journal runtime/notify runtime/api/auth configs internal/version runtime/doctor", ""},
	{"runtime/telegram", "accepts commands from listed users on Telegram and passes them on to the API",
		impure, "internal/printable reconcile/record runtime/view runtime/api runtime/api/auth", "telegram rate"},
	{"runtime/web", "serves the dashboard: pages in the binary that show what the API returns",
		impure, "docs internal/chart", "markdown"},
	{"backtest", "runs the engine on recorded candles, measures the result, and sweeps parameters",
		impure, "internal/paint exchange strategy reconcile/placement reconcile/ledger reconcile/record reconcile exchange/sim exchange/tape risk " +
			"runtime/engine", "decimal table"},
	{"backtest/parity", "compares the fills of a running strategy with those of a backtest over the candles recorded meanwhile",
		pure, "", ""},
	{"backtest/replay", "runs a strategy again over the candles recorded while it traded, and compares the two",
		impure, "exchange reconcile/ledger reconcile/placement runtime/view backtest backtest/inputs backtest/parity configs internal/failure", ""},
	{"backtest/report", "renders a backtest result as one page that opens offline, or several results side by side",
		impure, "exchange strategy strategy/indicator backtest backtest/parity backtest/resultstore internal/chart", "decimal"},
	{"backtest/inputs", "reads a backtest's inputs: strategies, candles, funding rates, symbols",
		impure, "exchange exchange/sim exchange/tape strategy strategy/library risk backtest configs configs/engineconfig internal/failure internal/version " +
			"internal/spell internal/moment backtest/search", "decimal"},
	{"backtest/search", "chooses the trials of a sweep: every combination, random ones, or those that the results so far suggest",
		impure, "internal/spell", "decimal starlark"},
	{"backtest/sweeps", "searches for a strategy's settings, trial by trial, and resumes interrupted sweeps",
		impure, "backtest backtest/inputs backtest/resultstore backtest/search exchange internal/disk internal/failure internal/privatefile internal/version",
		"decimal"},
	{"backtest/cluster", "spreads the trials of sweeps over many machines, on NATS JetStream",
		impure, "backtest backtest/inputs backtest/search backtest/sweeps internal/failure internal/version", "nats natsserver sys"},
	{"backtest/tryout", "tries a strategy on any file of candles: it infers missing facts and summarizes the result in one sentence",
		impure, "exchange exchange/sim exchange/tape strategy backtest backtest/inputs backtest/resultstore backtest/sweeps configs " +
			"internal/failure", "decimal yaml"},
	{"backtest/resultstore", "stores the reports of backtests and the results of sweeps, reads and compares them",
		impure, "exchange exchange/tape backtest internal/failure internal/plural internal/privatefile internal/jsonalias", "decimal"},
	{"backtest/runner", "runs the dashboard's backtests in the trading process, without delaying it",
		impure, "exchange exchange/sim exchange/tape strategy strategy/library runtime/api backtest backtest/parity backtest/replay backtest/report " +
			"configs configs/engineconfig internal/version internal/moment backtest/inputs", ""},
	{"backtest/sweepprocess", "runs the dashboard's sweeps in their own processes, which never delay trading",
		impure, "exchange exchange/sim exchange/tape strategy runtime/api backtest/inputs backtest/runner backtest/sweeps configs internal/moment " +
			"internal/privatefile", "sys"},
	{"backtest/benchmark", "measures the speed of backtests, and of acknowledging many openings, on this machine",
		impure, "exchange exchange/sim exchange/tape strategy strategy/library reconcile/placement reconcile runtime/engine backtest", "decimal table"},
	{"internal/chart", "embeds the chart library of botd's pages, with its license",
		impure, "", ""},
	{"configs", "loads and validates the YAML configuration, with file and line in every error, and holds the examples",
		impure, "exchange exchange/polling exchange/wire strategy strategy/overlay risk internal/notation internal/spell", "decimal yaml cron"},
	{"configs/engineconfig", "converts a configuration to the engine's: limits, strategies, the account",
		impure, "exchange exchange/polling strategy reconcile/placement reconcile runtime/engine configs internal/failure", ""},
	{"cmd/botd", "is the program: its command line with the built-in strategies, nothing else",
		impure, "cmd/botd/cli", ""},
	{"cmd/botd/cli/shell", "provides what every command needs: global flags, output formats, tables, progress, prompts, signals",
		impure, "internal/paint internal/printable internal/failure internal/jsonalias internal/spell", "sys table cobra isatty"},
	{"cmd/botd/cli/connect", "finds the configuration and the daemon that a command addresses",
		impure, "exchange/sim exchange/tape strategy strategy/library strategy/script runtime/view runtime/api runtime/api/client configs " +
			"runtime/worker/isolated cmd/botd/cli/shell internal/failure internal/spell", "cobra table"},
	{"cmd/botd/cli/daemon", "holds the commands that run or query the daemon",
		impure, "internal/paint exchange reconcile/placement reconcile/record reconcile/account risk runtime/ops runtime/view " +
			"runtime/api runtime/api/client runtime/gateway runtime/rehearsal runtime/haltfile runtime/reload runtime/daemon configs cmd/botd/cli/shell " +
			"cmd/botd/cli/connect internal/failure internal/hangup internal/moment internal/notation internal/spell", "decimal table cobra"},
	{"cmd/botd/cli/research", "holds the commands that test strategies on recorded or simulated markets",
		impure, "exchange exchange/polling exchange/wire exchange/rest exchange/sim exchange/sim/server exchange/tape strategy strategy/indicator " +
			"strategy/starter " +
			"runtime/gateway runtime/view runtime/api/client backtest backtest/parity backtest/replay backtest/report backtest/inputs backtest/resultstore " +
			"backtest/sweeps backtest/cluster backtest/tryout backtest/benchmark configs cmd/botd/cli/shell cmd/botd/cli/connect internal/failure " +
			"internal/plural internal/version internal/moment internal/spell", "decimal table cobra"},
	{"cmd/botd/cli/venue", "holds the commands that show what an exchange offers",
		impure, "exchange exchange/wire exchange/probe exchange/tape runtime/gateway configs cmd/botd/cli/shell " +
			"cmd/botd/cli/connect internal/failure internal/moment internal/plural", "table cobra"},
	{"cmd/botd/cli/offline", "holds the commands that need neither a daemon nor a market: configuration, journal and upkeep",
		impure, "internal/paint internal/privatefile internal/printable docs reconcile/ledger " +
			"reconcile/record reconcile reconcile/journal runtime/ops runtime/view runtime/timeline runtime/timeline/files runtime/gateway " +
			"runtime/notify " +
			"runtime/notify/channels runtime/api runtime/api/client runtime/backups runtime/doctor runtime/support configs " +
			"cmd/botd/cli/shell cmd/botd/cli/connect internal/failure internal/plural internal/moment internal/version internal/spell", "table cobra pflag"},
	{"cmd/botd/cli", "is the command line: flags, output and wiring, one file per verb; your own program can add strategies",
		impure, "*", "cobra pflag"},
	{"cmd/botd/endtoend", "tests the built botd as a user runs it: commands, daemons, exchanges and documents; it contains only tests",
		tests, "", ""},
	{"cmd/botd-sim", "sabotages botd to test it: seeded faults, broken rules, and kills of the real binary",
		impure, "cmd/botd/cli/shell internal/chaos internal/conformance internal/failure internal/mutant internal/mutation " +
			"internal/simulation", "cobra table decimal"},
	{"internal/simulation", "runs the whole daemon under seeded faults on virtual time",
		impure, "exchange strategy reconcile/placement reconcile/ledger reconcile/record reconcile/account reconcile exchange/sim " +
			"exchange/wire strategy/library strategy/overlay strategy/script risk runtime/engine runtime/profit runtime/wording runtime/reload " +
			"internal/mutant internal/oracle internal/tally", ""},
	{"internal/oracle", "judges an account from its order and trade log alone: positions, exposure and protection",
		pure, "", ""},
	{"internal/tally", "recomputes a strategy's activity and profit from its fills alone, in exact fractions",
		pure, "", ""},
	{"internal/startclock", "sets the start of a simulated exchange's clock in tests",
		tests, "", ""},
	{"internal/mutant", "holds the mutants: rules of the protocol, each with the edit of the source that breaks it",
		impure, "internal/overlay", ""},
	{"internal/mutant/mutanttest", "plays the scenarios that show the rules of package mutant",
		tests, "internal/mutant", ""},
	{"internal/mutation", "measures what tests notice: it changes one small thing of a package after another, and runs the package's tests",
		impure, "internal/overlay", ""},
	{"internal/mutation/active", "switches one mutant of a mutation run on, chosen by the environment",
		tests, "", ""},
	{"internal/overlay", "edits functions of the source for one build, by snippets of their code",
		impure, "", ""},
	{"internal/conformance", "tests every exchange alike: the simulated one, the client over its server, and a real venue",
		impure, "exchange exchange/wire exchange/rest exchange/sim exchange/sim/server", "decimal"},
	{"internal/enginetest", "makes engine notes of every kind for the tests of packages that read them",
		tests, "exchange strategy reconcile/placement reconcile/record reconcile/account reconcile risk runtime/engine", "decimal"},
	{"internal/reconciletest", "sets what snapshots have shown of a symbol or an account, for the tests of packages that read it",
		tests, "exchange reconcile", ""},
	{"internal/openapi", "checks requests and answers against an OpenAPI document",
		tests, "", "schema openapi"},
	{"internal/chaos", "kills the real binary over a failing exchange and judges the outcome by the exchange's own state",
		impure, "reconcile/record reconcile/journal internal/oracle internal/overlay internal/chaos/crash", "decimal"},
	{"internal/chaos/crash", "ends the process at a named point: around a commit of the journal, or a request to the exchange",
		tests, "exchange reconcile/record runtime", ""},
	{"internal/failure", "attaches an exit code and a hint to an error",
		impure, "", ""},
	{"internal/jsonalias", "adds the deprecated names of renamed fields to JSON",
		impure, "", ""},
	{"internal/plural", "formats a number with its noun",
		pure, "", ""},
	{"internal/freeze", "serializes a value with everything that it points to, including unexported fields, and restores it",
		pure, "", ""},
	{"internal/hangup", "holds back signals in a daemon's first milliseconds, so that they do not end it",
		impure, "", ""},
	{"internal/confine", "starts programs under limits: no secrets, no writable files and no network, as far as the system allows",
		impure, "", "sys"},
	{"internal/moment", "parses and formats times as people write them",
		impure, "internal/failure", ""},
	{"internal/disk", "reports how much space a file system has left, and locks files",
		impure, "", "sys"},
	{"internal/disk/disktest", "runs a test in a process whose files cannot grow, as on a full disk, or in which one file call fails",
		tests, "", ""},
	{"internal/disk/sqlitefault", "is a file layer under SQLite whose calls fail on a test's request",
		tests, "", "sqlite libc"},
	{"internal/version", "identifies the build of botd and its dependencies",
		impure, "", ""},
	{"internal/pipe", "connects HTTP clients and servers in memory, also inside a testing/synctest bubble",
		tests, "", ""},
	{"internal/inbound", "limits the resources that clients may occupy: connections, header bytes and time",
		impure, "", ""},
	{"internal/privatefile", "refuses a data directory in which others could have put or changed a file",
		impure, "", ""},
	{"internal/printable", "makes text from outside safe to show on a terminal, in a log, on a page or in a message",
		pure, "", ""},
	{"internal/notation", "reads and writes numbers, shares, durations and quantities as configuration files write them",
		pure, "exchange", "decimal"},
	{"internal/paint", "colors botd's own words on a terminal, and lets no other escape sequence through",
		impure, "internal/printable", ""},
	{"internal/spell", "suggests the known name that a misspelled one was meant to be",
		pure, "", ""},
	{"internal/tidy", "tests the shape of the code: its arrows, its limits, and its language",
		tests, "", ""},
}
