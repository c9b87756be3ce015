package browsertest

import "testing"

// long has prices of many digits, as an exchange reports average prices and liquidations.
const long = `(() => {
	const real = window.fetch.bind(window);
	window.fetch = async (input, init) => {
		const answer = await real(input, init);
		if (new URL(input, location.href).pathname !== "/api/v1/positions") return answer;
		const all = await answer.json();
		Object.assign(all.items[0], {liq_price: "333.667005086484552069", liquidation_distance_ratio: 0.99, entry_price: "49999.123456789012345678"});
		return new Response(JSON.stringify(all), {status: 200, headers: {"Content-Type": "application/json"}});
	};
})();`

// Without scrolling it shows equity, the day, the drawdown, each open position and each strategy's profit. The sums agree, and
// prices are rounded, with every digit in their titles.
func TestFirstScreenShowsKeyFigures(t *testing.T) {
	t.Parallel()
	d := startSettled(t)
	v := openBrowser(t).open(d, dark)
	v.inject(long)
	v.login(d.token("token"))
	v.visit("/")
	for _, part := range []string{"dl.tiles", "[aria-labelledby=p-open-positions] tbody tr:last-child",
		"[aria-labelledby=p-profit-by-strategy] tbody tr:last-child"} {
		v.until(part+" is on the first screen", `(e => e && e.getBoundingClientRect().bottom <= innerHeight)(document.querySelector(`+quoted(part)+`))`)
	}
	for _, word := range []string{"Equity", "Today", "Drawdown", "Entry", "Mark", "Stop", "Liquidation", "Age"} {
		v.until("it shows "+word, `document.querySelector("main").textContent.includes(`+quoted(word)+`)`)
	}
	v.until("the liquidation is rounded, and its title has every digit",
		`[...document.querySelectorAll("[title='333.667005086484552069']")].some(e => e.textContent.startsWith("333.7"))`)
	v.until("no figure has more than eight places", `!/\d\.\d{9}/.test(document.querySelector("main").innerText)`)
	v.until("positions and strategies have the same profit", `(() => {
		const profit = (panel) => document.querySelector("[aria-labelledby=" + panel + "] tfoot").innerText.replace(/.*profit/, "").trim();
		return profit("p-open-positions") === profit("p-profit-by-strategy");
	})()`)
	v.quiet("first screen")
	v.shoot("first screen")
}
