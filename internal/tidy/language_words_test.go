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

// British spellings, each with the American one, which Go and the exchange's interface use.
var British = map[string]string{
	"acknowledgement": "acknowledgment", "acknowledgements": "acknowledgments", "analyse": "analyze", "analysed": "analyzed", "analyser": "analyzer",
	"analysers": "analyzers", "authorise": "authorize", "authorised": "authorized", "behaviour": "behavior", "behaviours": "behaviors",
	"cancelled": "canceled", "cancelling": "canceling", "catalogue": "catalog", "catalogues": "catalogs", "centre": "center",
	"colour": "color", "coloured": "colored", "colours": "colors", "defence": "defense", "favour": "favor", "favourable": "favorable", "favours": "favors",
	"fulfil": "fulfill", "fulfils": "fulfills", "grey": "gray", "initialise": "initialize", "initialised": "initialized", "judgement": "judgment",
	"labelled": "labeled", "learnt": "learned", "licence": "license", "licences": "licenses", "minimise": "minimize", "modelled": "modeled",
	"misspelt": "misspelled", "neighbour": "neighbor", "neighbouring": "neighboring", "neighbours": "neighbors", "normalise": "normalize",
	"normalised": "normalized", "normalising": "normalizing", "offence": "offense", "optimise": "optimize", "optimised": "optimized", "optimiser": "optimizer",
	"organise": "organize", "programme": "program", "realise": "realize", "realised": "realized", "realises": "realizes", "recognise": "recognize",
	"recognised": "recognized", "recognises": "recognizes", "signalled": "signaled", "summarise": "summarize", "travelled": "traveled",
	"unauthorised": "unauthorized", "unlabelled": "unlabeled", "unrealised": "unrealized", "utilise": "utilize",
}

// Names are words that a sentence may contain, but not the name of a file, type, function, field or variable.
var Names = map[string]string{
	"beside": "a noun that says what it holds", "brief": "summary", "cast": "schedule", "gone": "in flight",
	"hand": "manual", "kept": "saved, stored",
	"presume": "infer", "presumed": "inferred", "presumption": "inference",
	"lab": "backtest runner", "lasting": "a noun that says what it holds", "look": "poll, read", "looked": "read", "press": "emergency halt",
	"said":  "output, message, verdict",
	"terms": "limits version", "towards": "working entry and exit orders", "truth": "state", "unsaid": "decided, missing", "waiting": "queued",
}

// Spoken are words for what only people do, each with the terms for programs. CHANGELOG.md may use them. Tests and
// packages below internal may use wanted alone.
var Spoken = map[string]string{
	"says": "reports, returns, prints, shows, lists", "said": "reported, returned, printed, shown, listed",
	"wanted": "desired, derived, target",
}

// Phrases are private phrases of more than one word.
var Phrases = map[string]string{
	"can not": "cannot", "somebody else's": "foreign", "fall from the peak": "drawdown", "greatest fall": "maximum drawdown",
	"asked for twice": "set twice, confirmed", "beside the engine": "without the engine", "worked out": "computed",
	"held quantity": "position", "growth a year": "CAGR", "least value": "minimum notional", "most value": "maximum notional",
	"per cent": "percent", "an own order": "botd's own order", "an own stop": "botd's own stop", "an own sale": "botd's own sale",
}

// Comments are words that a comment in Go does not contain, besides Words.
var Comments = map[string]string{
	"beside": "next to, in addition to", "hand": "manually", "lab": "backtest runner",
}

// PublishedTags are names of fields in JSON that users rely on, or that a journal contains.
var PublishedTags = []string{"beside", "hasty", "kept", "kept_account", "kill_switch_beside_engine", "realised", "surplus", "terms", "waiting", "wish"}

// Required are names that another module's interface requires.
var Required = []string{"Truth"} // starlark.Value

// Published are ids of log lines, label values, fields of the journal, of the API and of the exchange, and deprecated fields
// that users rely on, and old names that the changelog explains. The check of words ignores them.
var Published = []string{
	"telegram.stranger", `"stranger"`, "`stranger`", "`wish`", `"wish":`,
	"wish: {", "wish: str", "position, wish]", "`wished`", "`strategy.Wish`", "`mend`",
	`"realised"`, "`realised`", "realised: {type", "realised: str", "until_ms, realised, whole]",
	"exits.wanted", `"wanted"`, "liquidated.realised", "t.realised", "BTC-USDT realised", "CANCELLED", "LICENCE*", "hand-written",
}

// FileNames are words without a meaning as the name of a file.
var FileNames = []string{"beside", "under", "lately", "over", "util", "utils", "helpers", "types", "common", "misc"}
