package record

import (
	"encoding/json"
	"testing"
)

// The cause comes from the record's field, or, in records from before the field existed, from the beginning of the reason. The reasons
// here are those of old journals.
func TestTheCauseOfAQuarantine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		json   string
		cause  QuarantineCause
		former QuarantineCause
	}{
		{`{"why":"differs by 0.1"}`, OtherCause, OtherCause},
		{`{"why":"the wallet holds less than the fills explain"}`, OtherCause, SoldByOthers},
		{`{"why":"the wallet holds less than the fills explain while another botd may be placing"}`, OtherCause, SoldByOthers},
		{`{"why":"the exchange executed b-1 beyond what it answered: order b-1#7"}`, OtherCause, ExecutedBeyond},
		{`{"why":"the journal is new and knows nothing of what is open here: it was lost, or the account is not botd's alone"}`, OtherCause, JournalLost},
		{`{"why":"sold","cause":"sold_by_others"}`, SoldByOthers, OtherCause},
		{`{"why":"more","cause":"executed_beyond"}`, ExecutedBeyond, OtherCause},
		{`{"why":"lost","cause":"journal_lost"}`, JournalLost, OtherCause},
	} {
		var have Quarantined
		if err := json.Unmarshal([]byte(c.json), &have); err != nil || have.Cause != c.cause || have.FormerCause() != c.former {
			t.Errorf("%s: want %s, or by its text %s, have %s, %s, %v", c.json, c.cause, c.former, have.Cause, have.FormerCause(), err)
		}
		if text, err := json.Marshal(have); err != nil || string(text) != c.json {
			t.Errorf("want %s written, have %s, %v", c.json, text, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"why":"x","cause":"new"}`), &Quarantined{}); err == nil {
		t.Error("want a cause that is not known refused")
	}
}
