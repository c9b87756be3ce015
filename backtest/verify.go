package backtest

// Verified is a saved report compared with a repetition of its run.
type Verified struct {
	Schema int     `json:"schema"`
	OK     bool    `json:"ok"`
	Checks []Check `json:"checks"`
}

// Check is one value that must be equal.
type Check struct {
	What   string `json:"what"`
	Stored string `json:"report"`
	Now    string `json:"now"`
	Equal  bool   `json:"equal"`
}

// Verify compares a saved result with a fresh one of the same inputs: data, configuration, then the figures, column
// by column. The programs may differ: then equal hashes show that both compute the same.
func Verify(stored, fresh *Result) *Verified {
	v := &Verified{Schema: 1, OK: true}
	add := func(what, was, is string) {
		v.Checks = append(v.Checks, Check{what, was, is, was == is})
		v.OK = v.OK && was == is
	}
	add("data_sha256", stored.DataSHA256, fresh.DataSHA256)
	for i := range min(len(stored.files()), len(fresh.files())) {
		was, is := stored.files()[i], fresh.files()[i]
		add(was.Path, was.SHA256, is.SHA256)
	}
	add("config_sha256", stored.ConfigSHA256, fresh.ConfigSHA256)
	add("final_equity", stored.FinalEquity, fresh.FinalEquity)
	add("result_sha256", stored.ResultSHA256, fresh.ResultSHA256)
	for i := range stored.Columns {
		now := ""
		if i < len(fresh.Columns) {
			now = fresh.Columns[i].ResultSHA256
		}
		add("column "+stored.Columns[i].Name, stored.Columns[i].ResultSHA256, now)
	}
	return v
}

// files returns all files except the candles, in a fixed order.
func (r *Result) files() []File {
	if r.Inputs == nil {
		return nil
	}
	var all []File
	if r.Inputs.Symbols != nil {
		all = append(all, *r.Inputs.Symbols)
	}
	all = append(all, r.Inputs.Signals...)
	all = append(all, r.Inputs.Columns...)
	for _, input := range r.Inputs.Strategies {
		all = append(all, input.Funding...)
		for _, other := range input.Others {
			all = append(all, other.File)
		}
		if input.Detail != nil {
			all = append(all, *input.Detail)
		}
		if input.Trades != nil {
			all = append(all, *input.Trades)
		}
	}
	return all
}
