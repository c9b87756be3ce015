package browsertest

import "testing"

// contradictedPosition has the API report BTC-USDT as contradicted for five minutes: the exchange's list omits its position.
const contradictedPosition = `(() => {
	const real = window.fetch.bind(window);
	window.fetch = async (input, init) => {
		const path = new URL(input, location.href).pathname, answer = await real(input, init);
		if (path !== "/api/v1/positions") return answer;
		const all = await answer.json(), marketNow = Date.parse((await (await real("/api/v1/status")).json()).time);
		for (const one of all.items) if (one.symbol === "BTC-USDT") one.contradiction = {state: "contradicted", scope: "symbol",
			market: "futures", symbol: "BTC-USDT", cause: "the list of positions shows 0 where fills explain 0.006, and no witness confirms it",
			since: new Date(marketNow - 5 * 60_000).toISOString(), remedy: "botd resolve BTC-USDT --adopt, if a person closed it"};
		return new Response(JSON.stringify(all), {status: 200, headers: {"Content-Type": "application/json"}});
	};
})();`

// TestContradictedPositionShowsCauseSinceAndWayOut expects all three at the position of the symbol, and at no other.
func TestContradictedPositionShowsCauseSinceAndWayOut(t *testing.T) {
	t.Parallel()
	d := startSettled(t)
	v := openBrowser(t).open(d, dark)
	v.inject(contradictedPosition)
	v.login(d.token("token"))
	v.visit("/positions")
	const texts = `[...document.querySelectorAll("main p")].map(p => p.innerText.replace(/\s+/g, " ")).filter(text => text.includes("contradicted since"))`
	v.until("the text of the contradicted position, once", `(all => all.length === 1 && /contradicted since 5 ?m[^:]* ago: the list of positions shows 0 `+
		`where fills explain 0\.006, and no witness confirms it botd resolve BTC-USDT --adopt, if a person closed it$/.test(all[0]))(`+texts+`)`)
	for _, l := range []viewport{dark, light, phone, small} {
		v.show(l)
		v.fits("contradicted, " + l.name)
		v.accessible("contradicted, " + l.name)
		v.shoot(l.name + " contradicted")
	}
	v.quiet("contradicted")
}
