"""One file from one address: bounded in bytes and in seconds, whatever the other side does.

Hosts that do not answer cost ``BUDGET`` seconds in all; they are remembered in the cache, so that
fifty jobs do not each wait for them. A transfer that breaks off is tried once more.

Tried: pooch's downloader bounds neither bytes nor time; urllib3's ``Retry`` does not repeat a
transfer that breaks off, and waits as long as any server asks.
"""

from __future__ import annotations

import contextlib
import logging
import re
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from urllib.parse import urlsplit

import requests
import urllib3
from urllib3.util import Retry

from kronbench.files import write_text
from kronbench.resources import cache_folder, shown

CONNECT = 3.0  # seconds a host has to accept a connection
READ = 8.0  # seconds a connected host may stay silent
BUDGET = 14.0  # seconds spent on hosts that do not answer, all of them together
MEMORY = 600.0  # seconds for which a host that does not answer is remembered
SLOWEST = 5e4  # bytes a second that a transfer has to reach on the whole
PAUSE = 0.3  # seconds before the second try, where the host does not say how long
WAIT = 8.0  # seconds that a host may ask for; after a longer wish another address is tried

_BUSY = (429, 500, 502, 503, 504)
# What makes a host not worth a second try, and what does.
_DEAD = (requests.Timeout, requests.exceptions.SSLError, requests.exceptions.ProxyError)
_BROKEN = (
    requests.ConnectionError,
    requests.exceptions.ChunkedEncodingError,
    requests.exceptions.ContentDecodingError,
)

_log = logging.getLogger(__name__)


class NoAnswerError(Exception):
    """Why an address gave no file.

    ``dead`` is the host that is to be left alone, ``wait`` the seconds after which a second try
    makes sense.
    """

    def __init__(self, reason: str, dead: str | None = None, wait: float | None = None):
        super().__init__(reason)
        self.dead, self.wait = dead, wait


class TooLargeError(NoAnswerError):
    """An address sent more bytes than it may."""


def transfer(url: str, target: Path, limit: int, expected: int) -> None:
    """Download ``url`` into the file ``target``.

    A file of ``expected`` bytes may take what is left of ``BUDGET``, and ``expected / SLOWEST``
    seconds. After ``limit`` bytes it is broken off (`TooLargeError`); any other fault of the
    transport, and a host that is remembered not to answer, is a `NoAnswerError`.
    """
    host = _host(url)
    left = _seconds_left(host)
    begin = time.monotonic()
    end = begin + min(left, BUDGET) + expected / SLOWEST
    for is_last in (False, True):
        start = time.monotonic()
        try:
            _attempt(url, target, limit, left, end)
        except NoAnswerError as error:
            now = time.monotonic()
            if error.dead:
                # A long download that breaks off has not cost the user more than its last silence.
                _remember(error.dead, min(now - start, CONNECT + READ), str(error))
            elif error.wait is None:
                _remember(host)
            elif not is_last and error.wait <= min(WAIT, end - now):
                _log.info("%s: %s; trying again", host, error)
                time.sleep(error.wait)
                continue
            # A host that breaks off at once may serve the next file well; one that asks for a
            # wait, or stalls, is left alone for as long as it asks, or has cost.
            elif error.wait > PAUSE or now - begin > READ:
                _remember(host, 0.0, str(error), max(error.wait, now - begin))
            else:
                _remember(host)
            raise
        _remember(host)
        return


def _attempt(url, target, limit, left, end):
    start = time.monotonic()
    if reason := _refusal(*_peer(url), min(CONNECT, left)):
        raise NoAnswerError(reason, dead=_host(url))
    left = max(left - (time.monotonic() - start), 0.1)
    try:
        # In a thread: the time-outs of a socket begin anew with every byte.
        _within(
            end - time.monotonic(),
            lambda: _stream(url, target, limit, (min(CONNECT, left), min(READ, left))),
        )
    except TimeoutError:
        raise NoAnswerError("too slow", dead=_host(url)) from None
    except requests.RequestException as error:
        raise _fault(error, _host(url)) from None
    except ValueError as error:  # an address that is none
        raise NoAnswerError(f"an answer that is not HTTP ({type(error).__name__})") from None


def _stream(url, target, limit, timeout):
    with target.open("wb") as file, requests.get(url, stream=True, timeout=timeout) as response:
        response.raise_for_status()
        for chunk in response.iter_content(1 << 16):
            limit -= len(chunk)
            if limit < 0:
                raise TooLargeError("too large")
            file.write(chunk)


def _fault(error, host):
    """What an exception of the transport means for the host, and for a second try."""
    reason = type(error).__name__
    if isinstance(error, requests.HTTPError):
        reason = f"HTTP status {error.response.status_code}"
        if error.response.status_code not in _BUSY:
            return NoAnswerError(reason)
        wait = None
        with contextlib.suppress(urllib3.exceptions.InvalidHeader, ValueError, OverflowError):
            wait = Retry().get_retry_after(error.response.raw)
        if wait:
            return NoAnswerError(f"{reason}, which asks to wait {wait:.0f} s", wait=wait)
        return NoAnswerError(reason, wait=PAUSE)
    cause = error.args[0] if error.args else None
    if isinstance(error, _DEAD) or isinstance(cause, urllib3.exceptions.MaxRetryError):
        # A redirect may have led to another host: that one is to blame.
        return NoAnswerError(reason, dead=_host(error.request.url) if error.request else host)
    if isinstance(error, _BROKEN):
        return NoAnswerError(f"the transfer broke off ({reason})", wait=PAUSE)
    return NoAnswerError(reason)


def _seconds_left(host):
    """Seconds that may still be spent on this host: no bound for one that answered lately."""
    spent = 0.0
    for record in _record(host).parent.glob("*"):
        state = _state(record)
        if state is None:
            continue
        seconds, failure = state
        if record != _record(host):
            spent += seconds
        elif failure:
            raise NoAnswerError(f"{failure}, a short while ago")
        else:
            return float("inf")
    if spent > BUDGET - 0.5:
        raise NoAnswerError("not tried, because other hosts did not answer")
    return BUDGET - spent


def _state(record):
    """Seconds lost on a host and why; None where the record has faded, or is damaged."""
    try:
        until, seconds, failure = record.read_text(encoding="utf-8").split(" ", 2)
        left, seconds = float(until) - time.time(), float(seconds)
    except (OSError, ValueError):
        return None
    return (seconds, failure) if 0 < left < MEMORY + 1 and 0 <= seconds <= BUDGET else None


def _remember(host, seconds=0.0, failure="", duration=MEMORY):
    """Note for ``duration`` seconds what a host has cost, and why; without a reason it answers."""
    until = time.time() + min(duration, MEMORY)
    write_text(_record(host), f"{until:.3f} {seconds:.3f} {failure}")


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
    outcome = Future()

    def run():
        try:
            outcome.set_result(call())
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    outcome.result(max(seconds, 0.0))
