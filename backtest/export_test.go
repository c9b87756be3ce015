package backtest

// Walking returns the configuration with every candle's path played.
func Walking(config Config) Config {
	config.walk = true
	return config
}
