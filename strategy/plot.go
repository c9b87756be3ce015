package strategy

// Plot is an indicator that a strategy uses, for charts. `botd indicator` computes the same values
// from these parameters.
type Plot struct {
	Indicator  string
	Parameters map[string]float64
	Outputs    []string // outputs to plot; nil for all
	OwnScale   bool     // drawn on a scale of its own, below the price
}
