package lane

import "botd/reconcile/record"

// Use is one use of the kill switch beside the engine.
type Use struct {
	SinceMS int64            // when the first halt was asked for
	By      string           // who did
	Level   record.HaltLevel // the strictest that was asked for
	Cause   string           // why the engine was not waited for
	DoneMS  int64            // when nothing was left to cancel or close; 0 while something is, or cannot be seen
	OverMS  int64            // when the engine had taken over; 0 before
	Orders  int              // that were sent
}

// LastUse is the last use since the start, which may go on; nil for none.
func (l *Lane) LastUse() *Use {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.use == nil {
		return nil
	}
	use := *l.use
	if l.acting != nil {
		use.Orders = len(l.acting.orders)
	}
	return &use
}

// begun notes that a halt is carried out beside the engine. The caller holds the mutex.
func (l *Lane) begun(a *action, p *pull) {
	if l.use == nil || l.use.OverMS != 0 {
		l.use = &Use{SinceMS: a.sinceMS, By: "botd", Cause: a.cause}
		if p.audit != nil {
			l.use.By = p.audit.Actor + " " + p.audit.From
		}
	}
	l.use.Level, l.use.DoneMS = max(l.use.Level, p.halt.Level), 0
}

// progressed notes when nothing is left. The caller holds the mutex.
func (l *Lane) progressed(a *action) {
	if left, blind := a.remaining(); left == "" && len(blind) == 0 && l.use.DoneMS == 0 {
		l.use.DoneMS = l.config.NowMS()
	}
}

// over notes that the engine has taken over. The caller holds the mutex.
func (l *Lane) over(a *action) {
	l.use.OverMS, l.use.Orders = l.config.NowMS(), len(a.orders)
	if l.config.Used != nil {
		l.config.Used(*l.use)
	}
}
