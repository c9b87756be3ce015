package engine

import (
	"cmp"
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
)

// Bounds beyond which failing reads block openings (cases 23 and 44).
const (
	blindAfterMS = 30_000 // without a read
	blindAfter   = 3      // failed rounds in a row
	promptMS     = 1_000  // time for which a round waits for a read that has been fast
	patienceMS   = 10_000 // time for which it waits for any read
	standstillMS = 1_000  // if a wake is this late, the process counts as having been suspended
)

// readHealth tracks which parts of the exchange can be read. A failing read affects only its own
// domain: a symbol, a market, or the account.
type readHealth struct {
	*outbox
	readingMS int64     // start of the current round; never between rounds
	endedMS   int64     // end of the last round that read something
	soundMS   int64     // end of the last complete round
	failed    int       // consecutive incomplete rounds
	domains   []*domain // domains with failing reads, sorted by key
}

// domain is a failure domain with failing reads.
type domain struct {
	key    exchange.SymbolKey // zero: the account; without a name: a market
	failed int                // consecutive failed rounds
	seenMS int64              // time of the last successful read
	cause  string             // of the newest failure
	blind  bool               // its blindness has been reported
}

// failure is a failed read of a round and its domain.
type failure struct {
	of  exchange.SymbolKey
	err error
}

// oneSymbol reports whether the domain is one symbol, so that the rest of the account can be read.
func (d *domain) oneSymbol() bool { return d.key.Name != "" }

func (d *domain) covers(key exchange.SymbolKey) bool {
	return d.key == exchange.SymbolKey{} || d.key == key || !d.oneSymbol() && d.key.Market == key.Market
}

func (d *domain) text() string {
	switch {
	case d.key == exchange.SymbolKey{}:
		return "the account"
	case d.oneSymbol():
		return d.key.String()
	}
	return "orders and positions of " + d.key.Market.String()
}

// blinded reports whether a domain's reads have failed for so long that nothing may open in it:
// three rounds in a row, or 30 s.
func (s *readHealth) blinded(d *domain) bool {
	return d.failed >= blindAfter || s.nowMS-d.seenMS > blindAfterMS
}

// Blind reports whether reads required for a symbol have failed for so long that nothing may open
// on it, even while a round hangs.
func (s *readHealth) Blind(key exchange.SymbolKey) bool {
	return s.roundHangs() || slices.ContainsFunc(s.domains, func(d *domain) bool { return d.covers(key) && s.blinded(d) })
}

// accountOrMarketBlind reports whether the account or a market is blind.
func (s *readHealth) accountOrMarketBlind() bool {
	return s.roundHangs() || slices.ContainsFunc(s.domains, func(d *domain) bool { return !d.oneSymbol() && s.blinded(d) })
}

func (s *readHealth) roundHangs() bool { return s.nowMS-s.readingMS > blindAfterMS }

// failing returns for how many consecutive rounds a symbol's data could not be read.
func (s *readHealth) failing(key exchange.SymbolKey) (rounds int) {
	for _, d := range s.domains {
		if d.covers(key) {
			rounds = max(rounds, d.failed)
		}
	}
	return rounds
}

// incomplete reports whether some of a symbol's data could not be read in the newest round.
func (s *readHealth) incomplete(key exchange.SymbolKey) bool {
	return slices.ContainsFunc(s.domains, func(d *domain) bool { return d.covers(key) })
}

// worst returns the highest number of consecutive failed rounds of any domain.
func (s *readHealth) worst() (rounds int) {
	for _, d := range s.domains {
		rounds = max(rounds, d.failed)
	}
	return rounds
}

// countReads counts a round's failed reads. Everything up to the round's end that neither failed nor is late
// counts as read. A late read is not a failure yet, but its duration counts. It returns the domains that were
// blind and can be read again.
func (s *readHealth) countReads(failures, late []failure, finished bool) (sighted []exchange.SymbolKey) {
	for _, f := range failures {
		s.failedOn(f)
	}
	for _, f := range late {
		s.domain(f)
	}
	missing := slices.Concat(failures, late)
	s.domains = slices.DeleteFunc(s.domains, func(d *domain) bool {
		if slices.ContainsFunc(missing, func(f failure) bool { return f.of == d.key }) || !finished {
			return false
		}
		if d.oneSymbol() && slices.ContainsFunc(missing, func(f failure) bool { return f.of.Name == "" && f.of.Market == d.key.Market }) {
			return false // the calls of this domain may not have been made
		}
		if d.blind {
			s.reportBlind(d, true)
			sighted = append(sighted, d.key)
		}
		return true
	})
	if finished {
		s.endedMS = s.nowMS
	}
	wide := func(f failure) bool { return f.of.Name == "" }
	switch {
	case slices.ContainsFunc(failures, wide):
		s.failed++
	case !slices.ContainsFunc(late, wide):
		s.failed, s.soundMS = 0, s.nowMS
	}
	return sighted
}

// domain returns the domain of a missing read.
func (s *readHealth) domain(f failure) *domain {
	i, found := slices.BinarySearchFunc(s.domains, f.of, func(d *domain, key exchange.SymbolKey) int { return d.key.Compare(key) })
	if !found {
		s.domains = slices.Insert(s.domains, i, &domain{key: f.of, seenMS: s.endedMS, cause: errorText(f.err)})
	}
	return s.domains[i]
}

func (s *readHealth) failedOn(f failure) {
	d := s.domain(f)
	d.failed, d.cause = d.failed+1, errorText(f.err)
	if d.failed <= blindAfter || !d.oneSymbol() { // a persistent failure is a declared state: its rounds are not logged individually
		s.note("", s.rulesOf(d), NoteFetchFailed{d.text(), f.err, d.failed})
	}
}

// watch reports when blindness begins.
func (s *readHealth) watch() {
	for _, d := range s.domains {
		if !d.blind && s.blinded(d) {
			d.blind = true
			s.reportBlind(d, false)
		}
	}
}

func (s *readHealth) reportBlind(d *domain, over bool) {
	s.note("", s.rulesOf(d), NoteBlind{Of: d.text(), Reason: d.cause, Ended: over})
}

func (s *readHealth) rulesOf(d *domain) *exchange.Symbol {
	if d.oneSymbol() {
		return s.symbolOf(d.key)
	}
	return nil
}

// degraded lists the blind domains.
func (s *readHealth) degraded() (all []Degraded) {
	if s.roundHangs() && s.worst() == 0 {
		all = append(all, Degraded{State: "blind", Cause: "no answer for 30 s", SinceMS: cmp.Or(s.soundMS, s.readingMS), Remedy: blindRemedy})
	}
	for _, d := range s.domains {
		if !s.blinded(d) {
			continue
		}
		out := blindRemedy
		if d.oneSymbol() {
			out = blindSymbolRemedy
		}
		all = append(all, Degraded{State: "blind", Scope: account.Scope{Symbol: d.key}, Cause: d.cause, SinceMS: max(1, d.seenMS), Remedy: out})
	}
	return all
}

// How blindness ends, for people.
const (
	blindRemedy       = "ends with the first complete round, which is tried every few seconds; meanwhile nothing opens, and stops stay on the exchange"
	blindSymbolRemedy = "ends when the symbol can be read again, which is tried with every round; meanwhile nothing opens on it, " +
		"exits and stops continue as far as its position is read; if the symbol is delisted, remove its strategy"
)

// cause returns why a symbol could not be read in the newest round and when it was last read, or an
// empty string if it was read.
func (s *readHealth) cause(key exchange.SymbolKey) (why string, seenMS int64) {
	for _, d := range s.domains {
		if d.covers(key) {
			return d.cause, d.seenMS
		}
	}
	return "", 0
}
