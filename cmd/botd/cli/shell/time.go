package shell

import "time"

// Minute writes a time as people read it.
func Minute(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04") }

// Second writes a time to the second.
func Second(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.DateTime) }
