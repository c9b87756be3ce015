package haltfile

import (
	"encoding/json"
	"testing"

	"botd/configs"
	"botd/reconcile/record"
)

// FuzzHalt reads arbitrary contents of the mailbox of halts. A halt has a known level, and its scope is
// everything if it names nothing that is configured; otherwise it is refused.
func FuzzHalt(f *testing.F) {
	for _, seed := range []string{
		`{"at_ms":1,"by":"me","level":"flatten","reason":"r"}`, `{"level":"pause","strategy":"one","market":"futures","symbol":"BTC-USDT"}`,
		`{"level":"none"}`, `{"level":9}`, `{}`, `null`, `{"level":"cancel","market":"margin"}`, `{"level":"cancel","at_ms":-9223372036854775808}`,
	} {
		f.Add([]byte(seed))
	}
	config := &configs.Config{Strategies: []configs.StrategyConfig{{Name: "one", Symbol: "BTC-USDT"}}}
	f.Fuzz(func(t *testing.T, text []byte) {
		halt, err := parse(text)
		if err != nil {
			return
		}
		if halt.Level <= record.LevelNone || halt.Level.String() == "" {
			t.Fatalf("%q: want a level, have %d", text, halt.Level)
		}
		scope := halt.scopeNow(config)
		if scope.Strategy != "" && scope.Strategy != "one" {
			t.Errorf("%q: want what is configured, or all, have %+v", text, scope)
		}
		_ = halt.audit("halt-1-1.json", scope, nil)
		again, err := json.Marshal(halt)
		if err != nil {
			t.Fatal(err)
		}
		if second, err := parse(again); err != nil || second != halt {
			t.Errorf("%q: want it back as written, have %+v and %+v, %v", text, halt, second, err)
		}
	})
}
