// Package chart embeds the chart library of botd's pages, with its license.
//
// It is TradingView's Lightweight Charts 5.2.1, the file
// dist/lightweight-charts.standalone.production.js of the npm package as it was
// published. A page that embeds it shows Notice.
package chart

import _ "embed"

// Library is the library's JavaScript; it defines LightweightCharts.
//
//go:embed lightweight-charts.js
var Library []byte

// License is its license, Apache 2.0.
//
//go:embed LICENSE-lightweight-charts
var License string

// Notice is the attribution that the library's authors ask pages to show.
const Notice = "Charts by TradingView Lightweight Charts™, Copyright (c) 2026 TradingView, Inc. https://www.tradingview.com/, Apache License 2.0"
