package backtest

// CollectorPercent is how much garbage a backtest gathers, as a share of what it keeps.
const CollectorPercent = 30
