"""Computes the metrics of a drawn equity independently of botd, with numpy and pandas. Run once; its
output is metric_golden.json. python3 golden.py > metric_golden.json"""
import json, numpy as np, pandas as pd
rng = np.random.default_rng(19)
out = []
for n, drift, first, rf in [(400, .0008, "2023-03-05", 0.0), (90, -.001, "2024-01-01", 0.04), (730, .0, "2022-01-01", 0.02)]:
    b = rng.normal(drift, .03, n); r = .6*b + rng.normal(.0003, .012, n)
    r[::17] = 0
    equity = np.round(10000*np.concatenate([[1], np.cumprod(1+r)]), 8)
    bench = np.round(100*np.concatenate([[1], np.cumprod(1+b)]), 8)
    start = pd.Timestamp(first, tz="UTC")
    e, q = pd.Series(equity), pd.Series(bench)
    r, b = e.pct_change().dropna().reset_index(drop=True), q.pct_change().dropna().reset_index(drop=True)
    # A day's return belongs to the day that ends at the midnight.
    idx = pd.date_range(start, periods=n, freq="D").tz_localize(None)
    r.index = idx; b.index = idx
    f = rf/365; x = r-f; y = b-f; A = np.sqrt(365)
    months = (1+r).groupby(idx.to_period("M")).prod()-1
    years = (1+r).groupby(idx.to_period("Y")).prod()-1
    quarters = (1+r).groupby(idx.to_period("Q")).prod()-1
    run = lambda c: float(c.groupby((c != c.shift()).cumsum()).sum().max())
    auto = abs(x.reset_index(drop=True).autocorr(1)); k = np.arange(1, n)
    penalty = np.sqrt(1+2*np.sum((n-k)/n*auto**k))
    tenth = np.linspace(-12, -1.6448536269514722, 2_000_001) # of the normal density, integrated
    short = np.trapezoid(tenth*np.exp(-tenth**2/2)/np.sqrt(2*np.pi), tenth)/.05
    down = lambda s: np.sqrt((np.minimum(s,0)**2).mean())
    dd = e/e.cummax()-1
    under = dd < 0
    block = (under != under.shift()).cumsum()
    depths = dd[under].groupby(block[under]).min(); spans = dd[under].groupby(block[under]).count()
    wins = lambda s: (s>0).sum()/((s>0).sum()+(s<0).sum())
    pf = lambda s: s[s>0].sum()/abs(s[s<0].sum())
    payoff = lambda s: s[s>0].mean()/abs(s[s<0].mean())
    tail = abs(np.quantile(r,.95)/np.quantile(r,.05))
    beta = np.cov(r,b)[0,1]/np.var(b,ddof=1)
    var = r.mean()-1.6448536269514722*r.std()
    geo = lambda s: (1+s).prod()**(1/len(s))-1
    w = 180
    roll = len(r) >= w
    L = lambda s: s.iloc[-w:]
    m = dict(
      cumulative_return=equity[-1]/equity[0]-1, volatility=r.std()*A, sharpe=x.mean()/x.std()*A, sortino=x.mean()/down(x)*A,
      sortino_by_root_2=x.mean()/down(x)*A/np.sqrt(2), omega=x[x>0].sum()/-x[x<0].sum(), beta=beta, alpha=365*(x.mean()-beta*y.mean()),
      correlation=np.corrcoef(r,b)[0,1], r_squared=np.corrcoef(r,b)[0,1]**2, information_ratio=(r-b).mean()/(r-b).std(),
      treynor=(equity[-1]/equity[0]-1)/beta, skew=r.skew(), kurtosis=r.kurt(), value_at_risk_95=var, expected_shortfall_95=r.mean()+short*r.std(),
      tail_ratio=tail, gain_to_pain=r.sum()/abs(r[r<0].sum()), gain_to_pain_months=months.sum()/abs(months[months<0].sum()),
      profit_factor_days=pf(r), payoff_days=payoff(r), common_sense_ratio=pf(r)*tail, cpc_index=pf(r)*wins(r)*payoff(r),
      kelly_days=wins(r)-(1-wins(r))/payoff(r), outlier_win=np.quantile(r,.99)/r[r>=0].mean(), outlier_loss=np.quantile(r,.01)/r[r<0].mean(),
      smart_sharpe=x.mean()/x.std()*A/penalty, smart_sortino=x.mean()/down(x)*A/penalty, risk_return_ratio=r.mean()/r.std(),
      average_day=r[r!=0].mean(), average_up_day=r[r>0].mean(), average_down_day=r[r<0].mean(), longest_up_days=run(r>0),
      longest_down_days=run(r<0), profit_ratio=(r[r>=0].mean()/(r>=0).sum())/(-r[r<0].mean()/(r<0).sum()), risk_of_ruin=((1-wins(r))/(1+wins(r)))**n,
      win_quarters=wins(quarters), win_days=wins(r), win_months=wins(months), win_years=wins(years), expected_daily=geo(r), expected_monthly=geo(months), expected_yearly=geo(years),
      best_day=r.max(), worst_day=r.min(), best_month=months.max(), worst_month=months.min(), average_up_month=months[months>0].mean(),
      average_down_month=months[months<0].mean(), max_drawdown_days=dd.min(), longest_drawdown_days=float(spans.max()), average_drawdown=depths.mean(),
      average_drawdown_days=spans.mean(), recovery_factor=abs(x.sum())/abs(dd.min()), ulcer_index=np.sqrt((dd**2).mean()),
      rolling_volatility=L(r).std()*A if roll else None, rolling_sharpe=L(x).mean()/L(x).std()*A if roll else None,
      rolling_sortino=L(x).mean()/down(L(x))*A if roll else None, rolling_beta=np.cov(L(r),L(b))[0,1]/np.var(L(b),ddof=1) if roll else None)
    out.append(dict(first_ms=int(start.timestamp()*1000), risk_free=rf, equity=list(equity), bench=list(bench),
      metrics={k:(None if v is None else float(v)) for k,v in m.items()}))
print(json.dumps(out))
