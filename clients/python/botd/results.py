"""Reports and sweeps as tables, and backtests run by the botd program (docs/backtest.md)."""
from __future__ import annotations

import csv
import importlib
import importlib.util
import json
import os
import subprocess
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Union

PathLike = Union[str, "os.PathLike[str]"]

# Columns of text; of whole numbers are those that end in _ms; all others are decimals.
_TEXTS = {"side", "fee_asset", "role", "symbol", "purpose", "strategy", "entry_reason", "exit_purpose", "exit_reason", "market", "kind"}


class BotdError(Exception):
    """The error output of the botd program, and its exit code."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class Report:
    """A directory that `botd backtest run --out` wrote.

    `summary` is report.json, whose money is text, as Decimal reads it. fills(), trades() and equity() are tables.
    """

    def __init__(self, directory: PathLike, log: str = "") -> None:
        self.directory = Path(directory)
        self.log = log  # what the program printed, where run_backtest made the report
        try:
            self.summary: Dict[str, Any] = json.loads((self.directory / "report.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise BotdError(f"{self.directory} has no report.json: give the directory of botd backtest run --out") from None

    def __repr__(self) -> str:
        s = self.summary
        return (f"Report({str(self.directory)!r}: {s.get('name')} {s.get('symbol')} {s.get('interval')}, {s.get('initial_equity')} to "
                f"{s.get('final_equity')}, {s.get('round_trips')} round trips)")

    def fills(self, table: str = "") -> Any:
        """Every execution."""
        return self._table("fills", table)

    def trades(self, table: str = "") -> Any:
        """Every round trip."""
        return self._table("trades", table)

    def equity(self, table: str = "") -> Any:
        """The equity, by time_ms (milliseconds since 1970, UTC)."""
        return self._table("equity", table)

    def _table(self, name: str, table: str) -> Any:
        with open(self.directory / f"{name}.csv", newline="", encoding="utf-8") as file:
            rows = [{key: _value(key, text) for key, text in row.items()} for row in csv.DictReader(file)]
        return tabulate(rows, table)


class Sweep:
    """A directory `sweeps/NAME` of a sweep that `botd sweep run --name` stored, under way or ended."""

    def __init__(self, directory: PathLike) -> None:
        self.directory = Path(directory)
        try:
            self.summary: Dict[str, Any] = json.loads((self.directory / "sweep.json").read_text(encoding="utf-8"))
            text = (self.directory / "trials.jsonl").read_text(encoding="utf-8")
        except FileNotFoundError as missing:
            raise BotdError(f"{missing.filename} does not exist: give sweeps/NAME of botd's data_dir") from None
        self.rows: List[Dict[str, Any]] = []
        lines = text.split("\n")
        for number, line in enumerate(lines, 1):
            if not line or number == len(lines):  # a last line without its end was not written whole
                continue
            self.rows.append(json.loads(line))

    def __repr__(self) -> str:
        return f"Sweep({str(self.directory)!r}: {len(self.rows)} trials)"

    def trials(self, table: str = "") -> Any:
        """A row for each trial, as they ended: its parameters (numbers where they are), then its figures; `unseen_...` are
        those of the candles that did not rank it."""
        rows = []
        for trial in self.rows:
            row: Dict[str, Any] = {name: _number(text) for name, text in (trial.get("params") or {}).items()}
            row.update(trial.get("figures") or {})
            row.update((f"unseen_{name}", _number(value)) for name, value in (trial.get("unseen") or {}).items() if not isinstance(value, list))
            row["job_sha256"] = trial.get("job_sha256")
            rows.append(row)
        return tabulate(rows, table)


def read_report(directory: PathLike) -> Report:
    """Reads what `botd backtest run --out DIRECTORY` wrote."""
    return Report(directory)


def read_sweep(directory: PathLike) -> Sweep:
    """Reads a stored sweep, `data_dir/sweeps/NAME`."""
    return Sweep(directory)


def run_backtest(strategy: Union[PathLike, Mapping[str, Any], Sequence[PathLike]], data: Union[PathLike, Sequence[PathLike], Mapping[str, PathLike]],
                 *, out: Optional[PathLike] = None, binary: str = "", study: bool = False, arguments: Sequence[str] = ()) -> Report:
    """Runs `botd backtest run` and reads its report.

    strategy: the path of a strategy's file, several of them, or a mapping with its content; relative paths within a mapping
    are those of the working directory. data: a file of candles, several, or a mapping of symbols to files. out: where the
    report is kept; a temporary directory without it. binary: the botd program, from $BOTD or the path without it. study:
    also the runs under worse conditions. arguments: more of the command's, as ["--detail", "1m.csv"].
    """
    out = Path(out) if out is not None else Path(tempfile.mkdtemp(prefix="botd-report-"))
    command = [binary or os.environ.get("BOTD") or "botd", "backtest", "run", "--out", str(out), "--no-color"]
    written: Optional[str] = None
    try:
        if isinstance(strategy, Mapping):
            # A mapping's relative paths are the working directory's, as a file's are its folder's.
            handle, written = tempfile.mkstemp(prefix=".botd-", suffix=".yaml", dir=".")
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(strategy, file)  # JSON is YAML
            files: Iterable[PathLike] = [written]
        else:
            files = _several(strategy)
        for name in files:
            command += ["--strategy", os.fspath(name)]
        if isinstance(data, Mapping):
            given = [f"{symbol}={os.fspath(path)}" for symbol, path in data.items()]
        else:
            given = [os.fspath(path) for path in _several(data)]
        for name in given:
            command += ["--data", name]
        if not study:
            command.append("--quick")
        try:
            done = subprocess.run([*command, *arguments], capture_output=True, text=True)
        except FileNotFoundError:
            raise BotdError(f"the program {command[0]} was not found: set BOTD to its path, or give binary=") from None
    finally:
        if written is not None:
            os.unlink(written)
    if done.returncode != 0:
        raise BotdError(done.stderr.strip() or done.stdout.strip(), done.returncode)
    return Report(out, done.stdout + done.stderr)


def tabulate(rows: List[Dict[str, Any]], table: str = "") -> Any:
    """Rows as a pandas or polars frame, the one that is installed, or as a plain list.

    table: "pandas", "polars" or "list"; the first that is there without it. A frame has floats where the list has Decimals.
    """
    if not table:
        table = next((name for name in ("pandas", "polars") if importlib.util.find_spec(name) is not None), "list")
    if table == "list":
        return rows
    if table not in ("pandas", "polars"):
        raise ValueError(f'table is "pandas", "polars" or "list", not {table!r}')
    names: List[str] = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: [_float(row.get(name)) for row in rows] for name in names}
    return importlib.import_module(table).DataFrame(columns)


def _several(given: Any) -> List[PathLike]:
    return [given] if isinstance(given, (str, os.PathLike)) else list(given)


def _float(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


def _value(name: str, text: str) -> Any:
    if text == "":
        return None
    if name in _TEXTS:
        return text
    return int(text) if name.endswith("_ms") else Decimal(text)


def _number(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return int(value)
    except ValueError:
        pass
    try:
        return float(value)
    except ValueError:
        return value
