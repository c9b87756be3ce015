package simulation

// Mutant is a rule of the protocol broken on purpose.
type Mutant uint8

// The mutants of the driver.
const (
	NoMutant Mutant = iota
	NoTimeToLive
	ErrorIsFailed
	EmptyForFailed
	BlindRetry
	ForgetJournal
	NoFence
)
