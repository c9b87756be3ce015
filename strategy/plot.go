package strategy

// Plot is an indicator that a strategy looks at, for charts: the one that
// `botd indicator` computes under these parameters.
type Plot struct {
	Indicator  string
	Parameters map[string]float64
	Outputs    []string // which of its outputs; nil for all
	Own        bool     // on a scale of its own, below the price
}
