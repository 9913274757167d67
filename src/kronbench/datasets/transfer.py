"""One file from one address: bounded in bytes and in seconds, whatever the other side does.

Hosts that do not answer cost ``BUDGET`` seconds in all; they are remembered in the cache, so that
fifty jobs do not each wait for them. A transfer that breaks off is tried once more.
"""

from __future__ import annotations

import email.utils
import json
import logging
import re
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pooch
import requests
import urllib3

from kronbench.files import write_text
from kronbench.resources import cache_folder, shown

CONNECT = 3.0  # seconds a host has to accept a connection
READ = 8.0  # seconds a connected host may stay silent
BUDGET = 14.0  # seconds spent on hosts that do not answer, all of them together
MEMORY = 600.0  # seconds for which a host that does not answer is remembered
SLOWEST = 5e4  # bytes a second that a transfer has to reach on the whole
TRIES = 2  # of a transfer that breaks off, or of a host that asks for patience
PAUSE = 0.3  # seconds before the second, where the host does not say how long
WAIT = 8.0  # seconds that a host may ask for; after a longer wish another address is tried

_BUSY = (429, 500, 502, 503, 504)

_log = logging.getLogger(__name__)


class NoAnswerError(Exception):
    """Why an address gave no file."""


class TooLargeError(Exception):
    """An address sent more bytes than it may."""


def transfer(url: str, target: Path, limit: int, expected: int) -> None:
    """Download ``url`` into the file ``target``.

    Parameters
    ----------
    limit : int
        Bytes after which the transfer is broken off.
    expected : int
        Bytes of the file, which say how long it may take: what is left of ``BUDGET``, and
        ``expected / SLOWEST`` seconds.

    Raises
    ------
    NoAnswerError
        The host does not answer now, or did not a short while ago; the transfer broke off twice
        or was too slow; or the server answers with an error.
    TooLargeError
        More than ``limit`` bytes came.
    OSError
        ``target`` cannot be written.
    """
    host = _host(url)
    left = _patience(host)
    begin = time.monotonic()
    end = begin + min(left, BUDGET) + expected / SLOWEST
    for attempt in range(TRIES):
        start = time.monotonic()
        try:
            _attempt(url, target, limit, left, end)
        except _DeadError as error:
            # A long download that breaks off has not cost the user more than its last silence.
            seconds = min(time.monotonic() - start, CONNECT + READ)
            _remember(error.host or host, seconds, str(error))
            raise NoAnswerError(str(error)) from None
        except _AgainError as error:
            wait = PAUSE if error.asked is None else error.asked
            now = time.monotonic()
            if attempt + 1 < TRIES and wait <= min(WAIT, end - now):
                _log.info("%s: %s; trying again", host, error)
                time.sleep(wait)
                continue
            # A host that breaks off at once may serve the next file well; one that asks for a
            # wait, or stalls, is left alone for as long as it asks, or has cost.
            duration = error.asked or (now - begin if now - begin > READ else 0.0)
            _remember(host, 0.0, str(error) if duration else None, duration or None)
            raise NoAnswerError(str(error)) from None
        except (NoAnswerError, TooLargeError):
            _remember(host, 0.0)
            raise
        else:
            _remember(host, 0.0)
            return


class _DeadError(Exception):
    """A host gives no answer that could be waited for."""

    def __init__(self, reason, host=None):
        super().__init__(reason)
        self.host = host


class _AgainError(Exception):
    """What failed is worth a second try, after the seconds that the server asks for."""

    def __init__(self, reason, asked=None):
        super().__init__(reason)
        self.asked = asked


class _Sink:
    """A file for pooch to write to, bounded in bytes."""

    def __init__(self, stream, limit):
        self._stream, self._left = stream, limit

    def write(self, chunk):
        self._left -= len(chunk)
        if self._left < 0:
            raise TooLargeError
        self._stream.write(chunk)

    def flush(self):
        self._stream.flush()


def _attempt(url, target, limit, left, end):
    start = time.monotonic()
    if reason := _refusal(*_peer(url), min(CONNECT, left)):
        raise _DeadError(reason)
    left = max(left - (time.monotonic() - start), 0.1)
    download = pooch.HTTPDownloader(
        timeout=(min(CONNECT, left), min(READ, left)), chunk_size=1 << 16
    )
    with target.open("wb") as stream:
        sink = _Sink(stream, limit)
        try:
            # In a thread: the time-outs of a socket begin anew with every byte.
            _within(end - time.monotonic(), lambda: download(url, sink, None))
        except TimeoutError:
            raise _DeadError("too slow") from None
        except requests.HTTPError as error:
            raise _status_fault(error.response) from None
        except requests.RequestException as error:
            raise _fault(error) from None
        except ValueError as error:  # a header that is no number, an address that is none
            raise NoAnswerError(f"an answer that is not HTTP ({type(error).__name__})") from None


def _status_fault(response):
    reason = f"HTTP status {response.status_code}"
    if response.status_code not in _BUSY:
        return NoAnswerError(reason)
    wait = _seconds_asked(response.headers.get("Retry-After", ""))
    if wait is None:
        return _AgainError(reason)
    return _AgainError(f"{reason}, which asks to wait {wait:.0f} s", wait)


def _seconds_asked(text):
    """Of a Retry-After header: seconds, or a date; None where it is neither."""
    if re.fullmatch(r"\s*[0-9]{1,9}\s*", text):
        return float(text)
    try:
        return max(email.utils.parsedate_to_datetime(text).timestamp() - time.time(), 0.0)
    except (TypeError, ValueError, OverflowError):
        return None


def _fault(error):
    """What an exception of the transport means for the host, and for a second try."""
    reason = type(error).__name__
    cause = error.args[0] if error.args else None
    # A redirect may have led to another host: that one is to blame.
    host = _host(error.request.url) if error.request is not None and error.request.url else None
    dead = (requests.Timeout, requests.exceptions.SSLError, requests.exceptions.ProxyError)
    if isinstance(error, dead) or isinstance(cause, urllib3.exceptions.MaxRetryError):
        return _DeadError(reason, host)
    broken = (
        requests.ConnectionError,
        requests.exceptions.ChunkedEncodingError,
        requests.exceptions.ContentDecodingError,
    )
    if isinstance(error, broken):
        return _AgainError(f"the transfer broke off ({reason})")
    return NoAnswerError(reason)


def _patience(host):
    """Seconds that may still be spent on this host."""
    spent = 0.0
    record = _record(host)
    for known in record.parent.glob("*"):
        state = _state(known)
        if state is None:
            continue
        seconds, failure = state
        if known == record:
            if failure:
                raise NoAnswerError(f"{failure}, a short while ago")
            return float("inf")
        if failure:
            spent += seconds
    if spent > BUDGET - 0.5:
        raise NoAnswerError("not tried, because other hosts did not answer")
    return BUDGET - spent


def _state(record):
    """Seconds lost on a host and why; None where the record has faded, or is damaged."""
    try:
        state = json.loads(record.read_text(encoding="utf-8"))
        left, seconds = float(state["until"]) - time.time(), float(state["seconds"])
        failure = state["failure"]
    except (OSError, ValueError, LookupError, TypeError, ArithmeticError, RecursionError):
        return None
    sound = 0 < left < MEMORY + 1 and 0 <= seconds <= BUDGET
    return (seconds, failure) if sound and isinstance(failure, str | None) else None


def _remember(host, seconds, failure=None, duration=None):
    duration = MEMORY if duration is None else min(duration, MEMORY)
    state = {
        "until": time.time() + duration,
        "seconds": round(seconds, 3),
        "failure": failure,
    }
    write_text(_record(host), json.dumps(state))


def _record(host):
    return cache_folder() / "network" / re.sub(r"[^A-Za-z0-9.-]", "_", host)


def _host(url):
    return urlsplit(shown(url)).netloc.lower()


def _peer(url):
    """Host and port that a request for ``url`` connects to: its own, or those of the proxy."""
    proxy = requests.utils.select_proxy(url, requests.utils.get_environ_proxies(url))
    parts = urlsplit(requests.utils.prepend_scheme_if_needed(proxy, "http") if proxy else url)
    return parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


def _refusal(host, port, seconds):
    """Why the host takes no connection, or "" if it does.

    In a thread, because looking up a name has no time-out of its own.
    """
    try:
        _within(seconds, lambda: socket.create_connection((host, port), seconds / 2).close())
    except TimeoutError as error:
        return str(error) or f"no answer within {seconds:.1f} s"
    except (OSError, UnicodeError) as error:  # a name may not be one
        return getattr(error, "strerror", None) or str(error)
    return ""


def _within(seconds: float, call: Callable[[], object]) -> None:
    """Run ``call``, and leave it behind in its thread when it takes longer."""
    outcome = []

    def run():
        try:
            call()
            outcome.append(None)
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(max(seconds, 0.0))
    if not outcome:
        raise TimeoutError
    if outcome[0] is not None:
        raise outcome[0]
