package rest

// FuturesCandlesPage and SpotCandlesPage are candles a page (interface, Limits).
const FuturesCandlesPage, SpotCandlesPage = 1500, 500
