"""Tests against a real botd: BOTD names the program, BOTD_DEMO the directory of a running demo. Run by go test ./cmd/botd/endtoend."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from decimal import Decimal
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import botd  # noqa: E402
from botd import strategy  # noqa: E402

PROGRAM = (HERE / "cross.py").read_text()
PLAIN = HERE.parents[2] / "strategy" / "process" / "testdata" / "cross.py"  # the same strategy without this package

CONFIGURATION = {"name": "cross", "strategy": "process", "command": ["python3", "cross.py"], "market": "futures", "symbol": "BTC-USDT", "interval": "1h",
                 "size": {"equity": "50%"}, "deadline": "60s"}


RATIO = """import botd

class Ratio(botd.Strategy):
    warmup = 2
    others = ["ETH-USDT"]

    def decide(self, view):
        ether = view.others["ETH-USDT"]
        gains = view.candle.close / view.candle.open > ether.close / ether.open
        return botd.Plan(target=self.size if gains else {"quantity": "0"})

botd.run(Ratio)
"""

RATIO_SCRIPT = """long_only()
warmup(2)
ether = candles("1h", symbol = "ETH-USDT")

def decide(view):
    return hold("long" if close / open > ether.close / ether.open else "flat")
"""


class Workshop(unittest.TestCase):
    """A directory with a strategy beside the package, which a program may read."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        shutil.copytree(HERE.parent / "botd", self.folder / "botd", ignore=shutil.ignore_patterns("__pycache__"))
        (self.folder / "cross.py").write_text(PROGRAM)
        self.before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, self.before)
        subprocess.run([os.environ["BOTD"], "data", "generate", "--symbol", "BTC-USDT", "--interval", "1h", "--candles", "400", "--out", "candles.csv"],
                       check=True, capture_output=True)


class Strategies(Workshop):
    def test_a_strategy_trades_as_the_same_program_without_the_package(self):
        report = botd.run_backtest(CONFIGURATION, "candles.csv")
        (self.folder / "cross.py").write_bytes(PLAIN.read_bytes())
        plain = botd.run_backtest(CONFIGURATION, "candles.csv")
        self.assertGreater(report.summary["round_trips"], 3)
        self.assertEqual(report.fills("list"), plain.fills("list"))
        self.assertEqual(report.summary["final_equity"], plain.summary["final_equity"])

    def test_candles_of_another_symbol(self):
        subprocess.run([os.environ["BOTD"], "data", "generate", "--symbol", "ETH-USDT", "--interval", "1h", "--candles", "400", "--seed", "9",
                        "--out", "ether.csv"], check=True, capture_output=True)
        (self.folder / "ratio.py").write_text(RATIO)
        (self.folder / "ratio.star").write_text(RATIO_SCRIPT)
        data = {"BTC-USDT": "candles.csv", "ETH-USDT": "ether.csv"}
        program = {**CONFIGURATION, "name": "ratio", "command": ["python3", "ratio.py"]}
        script = {key: value for key, value in {**program, "strategy": "script", "file": "ratio.star"}.items() if key not in ("command", "deadline")}
        want = botd.run_backtest(script, data)
        self.assertGreater(want.summary["round_trips"], 3)
        self.assertEqual(botd.run_backtest(program, data).fills("list"), want.fills("list"))
        (self.folder / "ratio.py").write_text(RATIO.replace("    others", "    batches = False\n    others"))
        self.assertEqual(botd.run_backtest(program, data).fills("list"), want.fills("list"))

    def test_parameters_are_read_and_checked(self):
        report = botd.run_backtest({**CONFIGURATION, "params": {"fast": 2, "slow": 50}}, "candles.csv")
        default = botd.run_backtest(CONFIGURATION, "candles.csv")
        self.assertNotEqual(report.fills("list"), default.fills("list"))
        for params, want in (({"fats": 2}, "fats"), ({"fast": 0}, "fast"), ({"fast": "some"}, "fast")):
            with self.assertRaises(botd.BotdError) as refused:
                botd.run_backtest({**CONFIGURATION, "params": params}, "candles.csv")
            self.assertIn(want, str(refused.exception))

    def test_an_exception_comes_with_its_traceback(self):
        (self.folder / "cross.py").write_text(PROGRAM.replace("fast > slow", "1 / 0 > slow"))
        ended = botd.run_backtest(CONFIGURATION, "candles.csv").summary["ended_by"]
        self.assertEqual(ended["limit"], "strategy_failed")
        self.assertIn("ZeroDivisionError", ended["text"])
        self.assertIn("cross.py", ended["text"])

    def test_prints_do_not_disturb(self):
        (self.folder / "cross.py").write_text(PROGRAM.replace("def decide(self, view):", "def decide(self, view):\n        print('x')"))
        self.assertGreater(botd.run_backtest(CONFIGURATION, "candles.csv").summary["fills"], 3)

    def test_the_rules_of_the_symbol_are_the_current_ones(self):
        rules = {"name": "BTC-USDT", "base": "BTC", "quote": "USDT", "price_tick": "0.1", "quantity_tick": "0.001", "min_notional": "5"}
        hello = {"name": "one", "market": "futures", "symbol": rules, "interval": "1m", "interval_ms": 60000}

        class Ticks(botd.Strategy):
            def decide(self, view):
                return botd.Plan(target=self.setting.price_tick, reason=str(self.setting.min_notional))

        session = strategy._Session(Ticks, hello)
        ticks = []
        for view in ({}, {"symbol": {**rules, "price_tick": "1"}}, {"symbol": {**rules, "min_notional": "7"}}, {}):
            plan = session.answer({"type": "decide", "view": view, "now_ms": 1})["plan"]
            ticks.append((plan["target"]["quantity"], plan["reason"]))
        self.assertEqual(ticks, [("0.1", "5"), ("1", "5"), ("0.1", "7"), ("0.1", "5")])

    def test_a_plan_is_written_as_in_the_protocol(self):
        plan = botd.Plan(target={"equity": Decimal("0.5")}, orders=[botd.Order("a", "BUY", Decimal("1E+2"), "0.5", post_only=True)], exits=[],
                         stop_loss=botd.share_of_entry(0.02), take_profit=botd.price_level("60000"), leverage=2, signal_ms=5, reason="why", memory={"n": 1})
        self.assertEqual(json.loads(json.dumps(plan._message())), {
            "target": {"equity": "0.5"}, "orders": [{"key": "a", "side": "BUY", "price": "100", "quantity": "0.5", "post_only": True}], "exits": [],
            "protection": {"stop_loss": {"share": "0.02"}, "take_profit": {"price": "60000"}}, "leverage": 2, "signal_ms": 5, "reason": "why",
            "memory": {"n": 1}})
        self.assertEqual(botd.Plan()._message(), {})
        self.assertEqual(botd.Plan(target=0)._message(), {"target": {"quantity": "0"}})

    def test_durations(self):
        for text, want in (("90s", 90_000), ("1h30m", 5_400_000), ("250ms", 250), ("1d", 86_400_000), ("0", 0)):
            self.assertEqual(botd.Parameter(kind="duration").read(text), want, text)
        for text in ("1x", "h", "5"):
            with self.assertRaises(ValueError, msg=text):
                botd.Parameter(kind="duration").read(text)

    def test_a_program_started_manually_explains_its_use(self):
        done = subprocess.run([sys.executable, "cross.py"], stdin=subprocess.DEVNULL, capture_output=True)
        self.assertEqual((done.returncode, done.stdout), (0, b""))


class Results(Workshop):
    def test_a_report(self):
        report = botd.run_backtest(CONFIGURATION, {"BTC-USDT": "candles.csv"}, out=self.folder / "report")
        again = botd.read_report(self.folder / "report")
        self.assertEqual(report.summary, again.summary)
        fills, trades, equity = again.fills("list"), again.trades("list"), again.equity("list")
        self.assertEqual(len(fills), report.summary["fills"])
        self.assertEqual(len(trades), report.summary["round_trips"])
        self.assertEqual(sum((fill["fee"] for fill in fills), Decimal(0)), Decimal(report.summary["total_fees"]))
        self.assertEqual(equity[-1]["equity"], Decimal(report.summary["final_equity"]))
        self.assertIsInstance(fills[0]["time_ms"], int)
        self.assertIn("cross", repr(again))

    def test_frames(self):
        report = botd.run_backtest(CONFIGURATION, "candles.csv")
        for name in ("pandas", "polars"):
            try:
                __import__(name)
            except ImportError:
                print(f"{name} is not installed: its frames are not tested")
                continue
            frame = report.equity(name)
            self.assertEqual(list(frame.columns), ["time_ms", "equity"])
            self.assertAlmostEqual(float(frame["equity"][len(frame) - 1]), float(report.summary["final_equity"]))
        with self.assertRaises(ValueError):
            report.fills("numpy")

    def test_a_sweep(self):
        (self.folder / "cross.yaml").write_text(json.dumps(CONFIGURATION))
        subprocess.run([os.environ["BOTD"], "sweep", "run", "-s", "cross.yaml", "--data", "candles.csv", "--vary", "fast=2,5", "--vary", "slow=20,30",
                        "--split", "70%", "--name", "first"], check=True, capture_output=True)
        sweep = botd.read_sweep(self.folder / "data" / "sweeps" / "first")
        rows = sweep.trials("list")
        self.assertEqual(sorted((row["fast"], row["slow"]) for row in rows), [(2, 20), (2, 30), (5, 20), (5, 30)])
        self.assertTrue(all("sharpe" in row and "unseen_fills" in row for row in rows))
        with open(self.folder / "data" / "sweeps" / "first" / "trials.jsonl", "a") as file:
            file.write('{"params": {"fa')  # the trial under way when botd was killed
        self.assertEqual(len(botd.read_sweep(self.folder / "data" / "sweeps" / "first").trials("list")), 4)

    def test_mistakes_say_what_to_do(self):
        for make, want in ((lambda: botd.read_report("nowhere"), "backtest run --out"), (lambda: botd.read_sweep("nowhere"), "sweeps/NAME"),
                           (lambda: botd.run_backtest(CONFIGURATION, "candles.csv", binary="no-such-botd"), "binary="),
                           (lambda: botd.run_backtest("nowhere.yaml", "candles.csv"), "nowhere.yaml")):
            with self.assertRaises(botd.BotdError) as refused:
                make()
            self.assertIn(want, str(refused.exception))


@unittest.skipUnless(os.environ.get("BOTD_DEMO"), "BOTD_DEMO names no running demo")
class Api(unittest.TestCase):
    def setUp(self):
        self.data = Path(os.environ["BOTD_DEMO"]) / "data"
        self.client = botd.Client(data_dir=str(self.data))

    def test_reading(self):
        status = self.client.status()
        self.assertEqual(status["mode"], "demo")
        names = [strategy["name"] for strategy in self.client.strategies()["items"]]
        self.assertGreaterEqual(len(names), 3)
        self.assertEqual(self.client.strategy(names[0])["name"], names[0])
        self.assertLessEqual(len(self.client.orders(state="all", limit=1)["items"]), 1)
        self.assertEqual(self.client.closed_positions(strategy=names[0])["schema"], self.client.ended_positions(strategy=names[0])["schema"])
        Decimal(self.client.account()["equity"])

    def test_changing(self):
        answer = self.client.halt({"level": "cancel", "reason": "a test"}, dry_run=True)
        self.assertTrue(answer["dry_run"])
        self.assertEqual((answer["level"], answer["scope"]), ("cancel", "account"))
        self.assertNotIn("halted", self.client.status())
        name = self.client.strategies()["items"][0]["name"]
        for _ in range(2):  # the same key: done once
            self.client.pause_strategy(name, {"reason": "a test"}, idempotency_key="pause-once")
        paused = [entry for entry in self.client.audit(limit=200)["items"] if entry["kind"] == "audit" and "pause" in entry["action"]]
        self.assertEqual(len(paused), 1)

    def test_errors(self):
        with self.assertRaises(botd.ApiError) as missing:
            self.client.strategy("no/such")
        self.assertEqual((missing.exception.status, missing.exception.code), (404, "not_found"))
        viewer = botd.Client("http://" + os.environ["BOTD_ADDRESS"], token_file=str(self.data / "demo" / "token-viewer"))
        viewer.status()
        with self.assertRaises(botd.ApiError) as forbidden:
            viewer.halt({"level": "cancel", "reason": "a test"})
        self.assertEqual(forbidden.exception.status, 403)
        with self.assertRaises(ValueError):
            botd.Client("http://trader.example:8420", token="x")
        with self.assertRaises(FileNotFoundError):
            botd.Client(data_dir="nowhere")

    def test_events(self):
        events = self.client.events("account")
        first, second = next(events), next(events)
        self.assertEqual(first.topic, "hello")
        self.assertEqual(second.topic, "account")
        Decimal(second.data["equity"])
        events.close()
        resumed = self.client.events("account", since=second.id)
        later = next(event for event in resumed if event.topic == "account")
        self.assertGreater(int(later.id.rsplit("-", 1)[1]), int(second.id.rsplit("-", 1)[1]))
        resumed.close()


if __name__ == "__main__":
    unittest.main()
