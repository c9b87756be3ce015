package indicator

// EMA is the exponential moving average, as TA-Lib computes it.
//
// Formula: the simple mean of the first period values, then
// previous + (value - previous) x 2 / (period + 1). First value: at candle period.
type EMA struct {
	period int
	weight float64
	seen   int
	value  float64
}

// NewEMA returns an average over period values, at least 1.
func NewEMA(period int) *EMA {
	period = max(1, period)
	return &EMA{period: period, weight: 2 / float64(period+1)}
}

// Next takes a value and returns the average, once there is one.
func (e *EMA) Next(value float64) (mean float64, ok bool) {
	if e.seen >= e.period {
		e.value += float64((value - e.value) * e.weight)
		return e.value, true
	}
	e.seen++
	e.value += value
	if e.seen < e.period {
		return 0, false
	}
	e.value /= float64(e.period)
	return e.value, true
}

// MACD is Gerald Appel's moving average convergence divergence, as TA-Lib
// computes it: both averages start on the same candle.
//
// Formula: macd = EMA(fast) - EMA(slow), signal = EMA(signal) of macd, histogram =
// macd - signal. EMA(fast) begins with the mean of the fast values that end at
// candle slow. First value of all three: at candle slow + signal - 1.
type MACD struct {
	fast, slow, signal *EMA
	skip               int // values before the fast average's first
}

// NewMACD returns averages over fast and slow values, at least 2, swapped when
// fast is the longer, and over signal values, at least 1.
func NewMACD(fast, slow, signal int) *MACD {
	fast, slow = max(2, min(fast, slow)), max(2, fast, slow)
	return &MACD{NewEMA(fast), NewEMA(slow), NewEMA(signal), slow - fast}
}

// Next takes a value and returns all three, once there are any.
func (m *MACD) Next(value float64) (macd, signal, histogram float64, ok bool) {
	slow, ready := m.slow.Next(value)
	if m.skip > 0 {
		m.skip--
		return 0, 0, 0, false
	}
	fast, _ := m.fast.Next(value)
	if !ready {
		return 0, 0, 0, false
	}
	macd = fast - slow
	if signal, ok = m.signal.Next(macd); !ok {
		return 0, 0, 0, false
	}
	return macd, signal, macd - signal, true
}

// PPO is the difference of two averages in percent of the slow one, as TA-Lib's PPO with
// exponential averages: unlike MACD's, each begins with its own first candles.
//
// Formula: ppo = 100 x (EMA(fast) - EMA(slow)) / EMA(slow), 0 if the slow one is 0; signal =
// EMA(signal) of ppo, histogram = ppo - signal. First value of all three: at candle slow + signal -
// 1.
type PPO struct{ fast, slow, signal *EMA }

// NewPPO returns averages over fast and slow values, at least 2, swapped when fast is the longer,
// and over signal values, at least 1.
func NewPPO(fast, slow, signal int) *PPO {
	return &PPO{NewEMA(max(2, min(fast, slow))), NewEMA(max(2, fast, slow)), NewEMA(signal)}
}

// Next takes a value and returns all three, once there are any.
func (p *PPO) Next(value float64) (ppo, signal, histogram float64, ok bool) {
	fast, _ := p.fast.Next(value)
	slow, ok := p.slow.Next(value)
	if !ok {
		return 0, 0, 0, false
	}
	if slow != 0 {
		ppo = 100 * (fast - slow) / slow
	}
	signal, ok = p.signal.Next(ppo)
	return ppo, signal, ppo - signal, ok
}
