package risk

import "botd/internal/mutant"

// overlooked reports whether a build with broken rules passes over this one: most
// rules are looked at twice, when an intent is derived and here, and a mutant
// breaks both.
func overlooked(rule string) bool {
	switch {
	case !mutant.Built:
	case rule == "halted":
		return mutant.Is(mutant.HaltedOpens) || mutant.Is(mutant.BlindOpens) || mutant.Is(mutant.BrokenOpens)
	case rule == "unsettled":
		return mutant.Is(mutant.UnsettledOpens) || mutant.Is(mutant.SeveralOpen) || mutant.Is(mutant.QuarantinedOpens)
	case rule == "opposite":
		return mutant.Is(mutant.OppositeOpens)
	case rule == "notional":
		return mutant.Is(mutant.DustOrdered)
	case rule == "price_tick":
		return mutant.Is(mutant.TicksIgnored)
	case rule == MaxPosition:
		return mutant.Is(mutant.LimitIgnored) || mutant.Is(mutant.KeyRefilled)
	case rule == MaxDailyLoss, rule == MaxDrawdown, rule == MaxLosingStreak:
		return mutant.Is(mutant.BreachedOpens)
	case rule == "leverage":
		return mutant.Is(mutant.LeverageUnconfirmed)
	}
	return false
}
