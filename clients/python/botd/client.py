"""A client of botd's API (docs/api.md), with nothing but the standard library."""
from __future__ import annotations

import http.client
import json
import os
import socket
import time
import urllib.parse
import uuid
from pathlib import Path
from typing import Any, Dict, Iterator, Mapping, NamedTuple, Optional

from .operations import Operations


class ApiError(Exception):
    """An answer that is an error (RFC 9457). `code` is for programs; `retry_after` are seconds, where botd reports when to ask again."""

    def __init__(self, status: int, problem: Mapping[str, Any], retry_after: Optional[float] = None) -> None:
        self.status, self.problem, self.retry_after = status, problem, retry_after
        self.code: str = problem.get("code") or ""
        self.request_id: str = problem.get("request_id") or ""
        super().__init__(f"{status} {self.code}: {problem.get('detail') or problem.get('title') or 'no details'}")


class Event(NamedTuple):
    """An event of the stream."""

    id: str
    topic: str
    data: Any


class Client(Operations):
    """Asks a running botd: each method is an operation of docs/api.md, and answers what it documents.

    Without arguments it finds the token of a botd on this machine: Client(), Client(data_dir="/var/lib/botd", mode="live").
    Where the unix socket can be opened it is used, else `address` with the token of a file; token= is for another machine.
    Money is text, exact: Decimal(status["equity"]).
    """

    def __init__(self, address: str = "", *, token: str = "", token_file: str = "", socket_path: str = "", data_dir: str = "data", mode: str = "demo",
                 timeout: float = 30.0) -> None:
        self.timeout = timeout
        self._socket = socket_path
        self._token = token
        place = Path(data_dir) / mode
        if not address and not socket_path and not token and not token_file:
            if (place / "botd.sock").exists():
                self._socket = str(place / "botd.sock")
            else:
                token_file = str(place / "token")
        if token_file:
            try:
                self._token = Path(token_file).read_text(encoding="ascii").strip()
            except FileNotFoundError:
                raise FileNotFoundError(f"{token_file} does not exist: is botd running, and are data_dir and mode its own?") from None
        self._address = urllib.parse.urlsplit(address or "http://127.0.0.1:8420")
        if self._address.scheme not in ("http", "https") or not self._address.hostname:
            raise ValueError(f"{address!r} is not an address: write http://127.0.0.1:8420")
        if self._address.scheme == "http" and self._token and not _loopback(self._address.hostname):
            raise ValueError(f"the token would go to {self._address.hostname} unencrypted: use https, or a tunnel to 127.0.0.1")

    ended_positions = Operations.closed_positions  # deprecated: use closed_positions

    def events(self, *topics: str, since: str = "", reconnect: bool = True) -> Iterator[Event]:
        """Yields events as they happen, of these topics or of all but log. A connection that ends is made again and goes on
        after the last event; a topic `gap` reports that events are missing, so that what was shown must be read again."""
        pause = 0.5
        while True:
            connection = self._connect(timeout=60.0)
            try:
                query = {"topics": ",".join(topics) or None, "since": since or None}
                response = self._send(connection, "GET", "/api/v1/events" + _query(query), None, {"Accept": "text/event-stream"})
                for event in _parse(response):
                    pause, since = 0.5, event.id or since
                    yield event
            except (OSError, http.client.HTTPException):
                if not reconnect:
                    raise
            finally:
                connection.close()
            if not reconnect:
                return
            time.sleep(pause)
            pause = min(30.0, 2 * pause)

    def _connect(self, timeout: Optional[float] = None) -> http.client.HTTPConnection:
        timeout = timeout or self.timeout
        if self._socket:
            return _UnixConnection(self._socket, timeout)
        kind = http.client.HTTPSConnection if self._address.scheme == "https" else http.client.HTTPConnection
        return kind(self._address.hostname or "", self._address.port, timeout=timeout)

    def _send(self, connection: http.client.HTTPConnection, method: str, path: str, body: Optional[bytes],
              headers: Mapping[str, str]) -> http.client.HTTPResponse:
        everything: Dict[str, str] = {"User-Agent": "botd-python", **headers}
        if self._token:
            everything["Authorization"] = "Bearer " + self._token
        connection.request(method, self._address.path.rstrip("/") + path, body=body, headers=everything)
        response = connection.getresponse()
        if response.status < 400:
            return response
        text = response.read()
        try:
            problem = json.loads(text)
        except ValueError:
            problem = {"title": response.reason}
        wait = response.headers.get("Retry-After")
        raise ApiError(response.status, problem, float(wait) if wait and wait.isdigit() else None)

    def _request(self, method: str, path: str, query: Mapping[str, Any], body: Optional[Mapping[str, Any]] = None, *, key: Optional[str] = None,
                 text: bool = False) -> Any:
        headers = {"Accept": "*/*" if text else "application/json"}
        content = None
        if method != "GET":
            headers["Content-Type"] = "application/json"
            content = json.dumps(body or {}).encode()
        if key is not None:  # a caller that sends it again gives its own, so that it is done once
            headers["Idempotency-Key"] = key or uuid.uuid4().hex
        connection = self._connect()
        try:
            response = self._send(connection, method, path + _query(query), content, headers)
            answer = response.read()
        finally:
            connection.close()
        if text:
            return answer.decode()
        return json.loads(answer) if answer else None


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        # The name of a socket may have about 100 bytes: a longer path is opened from its folder.
        folder, name = os.path.split(os.path.abspath(self._path))
        if len(os.fsencode(self._path)) > 100 and hasattr(os, "O_PATH"):
            opened = os.open(folder, os.O_PATH)
            try:
                self.sock.connect(f"/proc/self/fd/{opened}/{name}")
            finally:
                os.close(opened)
            return
        self.sock.connect(self._path)


def _loopback(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.") or host.endswith(".localhost")


def _query(query: Mapping[str, Any]) -> str:
    given = {name: ("true" if value else "false") if isinstance(value, bool) else value for name, value in query.items() if value is not None}
    return "?" + urllib.parse.urlencode(given) if given else ""


def _parse(response: http.client.HTTPResponse) -> Iterator[Event]:
    """Reads server-sent events."""
    fields: Dict[str, str] = {}
    for raw in response:
        line = raw.decode().rstrip("\r\n")
        if line == "":
            if "data" in fields:
                yield Event(fields.get("id", ""), fields.get("event", "message"), json.loads(fields["data"]))
            fields = {}
            continue
        name, _, value = line.partition(":")
        if name:  # a comment keeps the connection alive
            value = value[1:] if value.startswith(" ") else value
            fields[name] = fields[name] + "\n" + value if name == "data" and name in fields else value
