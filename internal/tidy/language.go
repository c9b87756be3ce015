package tidy

// Words maps private words of this project's past to the field's terms, one for each thing (STYLE: language
// first). Names, comments, messages and documents must not contain them.
var Words = map[string]string{
	"anew":  "again, from scratch, rebuilt",
	"alien": "unknown own-prefix order", "aliens": "unknown own-prefix orders", "stranger": "foreign", "strangers": "foreign",
	"bare": "unprotected", "befall": "happen", "befalls": "happens", "befell": "happened", "deed": "user action", "deeds": "user actions",
	"hasty": "unstable", "hears": "receives, is notified",
	"lately": "recent, activity", "strike": "inject", "strikes": "injects", "struck": "injected", "surplus": "duplicate",
	"mend": "remedy, repair, fix", "mended": "repaired, fixed", "mending": "repairing", "mends": "repairs, fixes",
	"purse": "balance", "purses": "balances", "testimony": "evidence",
	"tell": "report, return, log", "tells": "reports, returns, logs", "telling": "reporting", "told": "reported, returned, logged",
	"whereabouts": "paths", "wish": "desired state, desired order", "wished": "desired", "wishes": "desired state", "wishing": "desired",
}

// Names are words that a sentence may contain, but not the name of a file, type, function, field or variable.
var Names = map[string]string{
	"beside": "a noun that says what it holds", "brief": "summary", "cast": "schedule", "gone": "in flight",
	"hand": "manual", "kept": "saved, stored",
	"lab": "backtest runner", "lasting": "a noun that says what it holds", "look": "poll, read", "looked": "read", "press": "emergency halt",
	"said":  "output, message, verdict",
	"terms": "limits version", "towards": "working entry and exit orders", "truth": "state", "unsaid": "decided, missing", "waiting": "queued",
}

// Phrases are private phrases of more than one word.
var Phrases = map[string]string{
	"can not": "cannot", "somebody else's": "foreign", "fall from the peak": "drawdown", "greatest fall": "maximum drawdown",
	"asked for twice": "set twice, confirmed", "beside the engine": "without the engine", "worked out": "computed",
	"growth a year": "CAGR", "least value": "minimum notional", "most value": "maximum notional",
}

// Required are names that another module's interface requires.
var Required = []string{"Truth"} // starlark.Value

// Published are ids of log lines, label values and deprecated fields that users rely on, and old names that the
// changelog explains. The check of words ignores them.
var Published = []string{
	"telegram.stranger", `"stranger"`, "`stranger`", "`wish`", `"wish":`,
	"wish: {", "wish: str", "target, wish,", "`wished`", "`strategy.Wish`", "`mend`",
}

// FileNames are words without a meaning as the name of a file.
var FileNames = []string{"beside", "under", "lately", "over", "util", "utils", "helpers", "types", "common", "misc"}
