package configs

import (
	"net/url"
	"regexp"

	"gopkg.in/yaml.v3"

	"botd/internal/notation"
)

// RetentionConfig configures how long and how much data is stored. The journal and downloaded candles stay until a
// user deletes them.
type RetentionConfig struct {
	DecisionsMS int64
	JournalMiB  int // of records in the journal's file; older ones move to sealed segments; 0 for all
	LogsMiB     int // of the log on disk; 0 for none
	RecordedMiB int // maximum of recorded poll data; 0 records nothing
}

// maxRecordedMiB is a terabyte.
const maxRecordedMiB = 1 << 20

var instanceName = regexp.MustCompile(`^[a-z0-9]{1,10}$`)

// keys returns the keys of botd.yaml.
func (l *loader) keys() []key {
	c := l.config
	return []key{
		{name: "mode", value: choice((*string)(&c.Mode), string(Demo), string(Paper), string(Live)), after: l.setMode,
			what: "the trading mode: `demo`, a simulated exchange inside botd; `paper`, a simulated account at a venue's prices; `live`, the venue. " +
				"Live must be set twice, here and by `--mode live`", example: "paper", instead: "`--mode` (by itself never to live)"},
		{name: "instance", value: text(&c.Instance), check: checkInstance,
			what: "part of every order's id, 1 to 10 of a-z and 0-9: botd treats orders that carry it as its own", example: "main"},
		{name: "profile", value: text(&c.ProfileFile), hidden: func() bool { return true }, modes: profileModes, example: "venue.yaml",
			what:  "the file of the venue's profile, as written by `botd probe --trade --out FILE`: equivalent to the file's content under `exchange.profile`",
			check: func(s *section, node *yaml.Node) { l.profileFile(s, node).read(c.Exchange.profileKeys()) }},
		{name: "exchange", keys: l.exchangeKeys()},
		{name: "simulated", keys: c.Simulated.keys(), hidden: func() bool { return c.Mode == Live }},
		{name: "paper", keys: c.Paper.keys(), hidden: func() bool { return c.Mode != Paper }},
		{name: "data_dir", value: text(&c.DataDir),
			what: "the directory of journal, simulated accounts, candles and tokens; each botd needs its own", example: "/var/lib/botd"},
		{name: "journal", value: text(&c.Journal).showing(func() string { return withoutPassword(c.Journal) }), check: checkJournal,
			what:    "the address of a PostgreSQL database; not supported in this version: `botd run` refuses it, the journal is SQLite in `data_dir`",
			example: "postgres://botd@db.example/botd"},
		{name: "journal_key_file", value: text(&c.JournalKeyFile), after: l.checkJournalKey,
			what: "the file of mode 600, outside `data_dir`, with the key that authenticates the journal's chain: without the key nobody can rewrite the " +
				"journal " +
				"undetected (security.md). At least 32 characters, for example from `openssl rand -hex 32`. For an existing unkeyed journal: `botd " +
				"journal key`",
			example: "/etc/botd/journal-key"},
		{name: "foreign", value: choice(&c.Foreign, "halt", "adopt", "ignore"),
			what: "how to treat orders and positions that botd did not make: `halt` opens nothing next to such orders and quarantines the symbol of " +
				"such a position, `adopt` gives positions to the strategy, `ignore` trades alongside both; foreign orders are always " +
				"left alone", example: "halt"},
		{name: "shutdown", value: choice(&c.Shutdown, "leave", "cancel_orders", "flatten"),
			what: "what to do with orders and positions when botd is stopped", example: "cancel_orders"},
		{name: "retention", keys: c.Retention.keys()},
		{name: "listen", value: text(&c.Listen),
			what: "the address of dashboard, API and /metrics, host:port; other machines reach it only with `access`; `off` for none: " +
				"the command line then uses the unix socket", example: "127.0.0.1:8420", instead: "`--listen`"},
		{name: "access", keys: c.Access.keys(), after: c.Access.check},
		{name: "metrics", keys: c.Metrics.keys(), after: l.checkMetrics},
		{name: "notify", keys: l.notifyKeys(), hidden: func() bool { return len(c.Notify.Channels) == 0 }, after: l.checkNotify},
		{name: "heartbeat", keys: c.Heartbeat.keys(), hidden: func() bool { return c.Heartbeat == HeartbeatConfig{} }, after: l.checkHeartbeat},
		{name: "signals", keys: c.Signals.keys(), after: l.checkSignals},
		{name: "telegram", keys: c.Telegram.keys(), after: l.checkTelegram},
		{name: "risk", keys: limitKeys(&c.Limits, false), after: func(*section) { c.Limits.Complete() }},
	}
}

// setMode applies the command line's mode, and the defaults of the mode.
func (l *loader) setMode(s *section) {
	c := l.config
	c.fileMode, l.modeLine = c.Mode, s.lineOf("mode")
	if l.options.Mode != "" {
		c.Mode = l.options.Mode
	}
	c.Exchange.Settle, c.Exchange.Profile = defaultSettle(c.Mode), defaultProfile()
}

func checkInstance(s *section, node *yaml.Node) {
	if !instanceName.MatchString(node.Value) {
		s.wrong(node, "it is part of every order's id", "instance %q is not 1 to 10 of a-z and 0-9", notation.Shortened(node.Value))
	}
}

func checkJournal(s *section, node *yaml.Node) {
	address, err := url.Parse(node.Value)
	if err != nil || address.Scheme != "postgres" && address.Scheme != "postgresql" {
		s.wrong(node, "remove the line: the journal is SQLite in data_dir", "journal is not a PostgreSQL address")
		return
	}
	s.warn(node, "remove the line: the journal is SQLite in data_dir", "a journal in PostgreSQL is not supported in this version: botd run refuses it")
	if _, given := address.User.Password(); given || address.Query().Has("password") {
		s.warn(node, "keep it in a password file: PGPASSFILE, or passfile= in the address",
			"journal contains a password, which everybody who reads this file can see")
	}
}

func (c *RetentionConfig) keys() []key {
	return []key{
		{name: "decisions", value: duration(&c.DecisionsMS, hour, notation.MaxDurationMS),
			what: "how long the decisions of strategies, with their reasons, are stored in `data_dir/MODE/decisions` for dashboard and API, 256 MiB at most; " +
				"deleted as whole files, of a day or 1 MiB each. The journal also contains every plan", example: "30d"},
		{name: "journal_mib", zero: true, value: whole(&c.JournalMiB, 0, 1<<20),
			what: "when the journal's file exceeds this size, the oldest records are sealed in compressed segments in " +
				"`data_dir/MODE/journal.db.segments`, which you may copy and move away; 0 disables sealing", unit: "MiB", example: "1024"},
		{name: "logs_mib", zero: true, value: whole(&c.LogsMiB, 0, 1<<14),
			what: "maximum size of the log in `data_dir/MODE/logs`, in 8 rotating files, for `botd logs --since` and " +
				"`botd timeline`; 0 stores none", unit: "MiB", example: "128"},
		{name: "recorded_mib", zero: true, value: whole(&c.RecordedMiB, 0, maxRecordedMiB),
			what: "maximum size of the polled candles and funding rates in `data_dir/MODE/recorded`, for `botd backtest run --recorded`; " +
				"the oldest are deleted beyond it; 0 stores none", unit: "MiB", example: "512"},
	}
}
