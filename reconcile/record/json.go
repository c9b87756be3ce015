package record

import (
	"bytes"
	"encoding/json"
	"fmt"

	"botd/exchange"
)

// Version is the format of the records that this botd writes. Records without a version are of
// version 2 or older (version2.go).
const Version = 3

// versioned is the beginning of a record's text that names its version.
const versioned = `{"v":`

// envelope holds the fields that every record has. In JSON the fields of the payload follow in the
// same object.
type envelope struct {
	Version       int                `json:"v"`
	Kind          Kind               `json:"kind"`
	AtMS          int64              `json:"at_ms"`
	Strategy      string             `json:"strategy,omitempty"`
	Symbol        exchange.SymbolKey `json:"symbol,omitzero"`
	ClientOrderID string             `json:"client_order_id,omitempty"`
}

// MarshalJSON writes envelope and payload as one object.
func (r Record) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(envelope{Version, r.Kind(), r.AtMS, r.Strategy, r.Symbol, r.ClientOrderID})
	if err != nil || r.Body == nil {
		return text, err
	}
	body, err := json.Marshal(r.Body)
	if err != nil || len(body) <= len("{}") {
		return text, err
	}
	text[len(text)-1] = ','
	return append(text, body[1:]...), nil
}

// UnmarshalJSON reads a record written by this botd or an older one.
func (r *Record) UnmarshalJSON(text []byte) error {
	if !bytes.HasPrefix(text, []byte(versioned)) {
		return r.decode2(text)
	}
	var e envelope
	if err := json.Unmarshal(text, &e); err != nil {
		return err
	}
	if e.Version != Version {
		return fmt.Errorf("record has version %d, but this botd knows only versions up to %d", e.Version, Version)
	}
	body, err := decoders[e.Kind](text)
	*r = Record{e.AtMS, e.Strategy, e.Symbol, e.ClientOrderID, body}
	return err
}

// decoders read the payload of each kind.
var decoders = [kindEnd]func([]byte) (Body, error){
	func([]byte) (Body, error) { return nil, fmt.Errorf("record without a kind") },
	decode[Boot],
	decode[Sending],
	decode[Acknowledged],
	decode[Refused],
	decode[Uncertain],
	decode[Fill],
	decode[Ended],
	decode[Quarantined],
	decode[Adopted],
	decode[Plan],
	decode[Memory],
	decode[Latch],
	decode[Priced],
	decode[Config],
	decode[Assigned],
	decode[Day],
	decode[Halt],
	decode[Baseline],
	decode[Fees],
	decode[Breaker],
	decode[Ignored],
	decode[Found],
	decode[Result],
	decode[Accounted],
	decode[Breach],
	decode[Posting],
	decode[Audit],
	decode[Withdrawn],
	decode[Limit],
	decode[Liquidated],
	decode[Checkpoint],
	decode[Transfer],
	decode[Declined],
}

func decode[B Body](text []byte) (Body, error) {
	var body B
	err := json.Unmarshal(text, &body)
	return body, err
}
