package engine

// When failing reads keep openings back (case 23).
const (
	blindAfterMS = 30_000 // without a complete round
	blindAfter   = 3      // failed rounds in a row
)

// sight knows whether reads fail.
type sight struct {
	*base
	readingMS int64 // when the round under way began; never between rounds
	failed    int   // rounds failed in a row
	soundMS   int64 // when the last complete round ended
	blind     bool  // told so
	blindMS   int64
	blindWhy  string
}

// Blind reports whether reads have failed for so long that nothing may open
// (case 23): three rounds in a row, or 30 s without a complete one, also while
// one hangs.
func (s *sight) Blind() bool {
	return s.failed >= blindAfter || s.failed > 0 && s.nowMS-s.soundMS > blindAfterMS ||
		s.nowMS-s.readingMS > blindAfterMS
}

// watchBlind tells when blindness begins and ends.
func (s *sight) watchBlind(why error) {
	blind := s.Blind()
	if blind && why != nil {
		s.blindWhy = errorText(why) // the newest cause is the one to look at
	}
	if blind == s.blind {
		return
	}
	s.blind, s.blindMS, s.blindWhy = blind, s.nowMS, "no answer for 30 s"
	if why != nil {
		s.blindWhy = errorText(why)
	}
	s.note("", nil, NoteBlind{s.blindWhy, !blind})
}
