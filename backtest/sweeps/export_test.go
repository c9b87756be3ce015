package sweeps

// Create begins a sweep from a specification and the copies of its files.
var Create = create
