package tape

import "sync"

// SharedCache is shared between commands. A command waits for its writes before it ends.
var SharedCache = sync.OnceValue(OpenCache)
