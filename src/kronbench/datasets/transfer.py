"""One file from one address, bounded in bytes and in seconds.

A host that does not answer is left alone for the rest of the process; a transfer that breaks off,
and a busy server, are tried once more. Tried: pooch's downloader bounds neither bytes nor time.
"""

from __future__ import annotations

import contextlib
import logging
import time
from pathlib import Path
from urllib.parse import urlsplit

import requests
import urllib3
from urllib3.util import Retry

from kronbench.resources import without_credentials

CONNECT = 3.0  # seconds a host has to accept a connection
READ = 8.0  # seconds a connected host may stay silent
PATIENCE = 14.0  # seconds that a transfer may take beside those of its bytes
SLOWEST = 5e4  # bytes a second that it has to reach on the whole
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
_dead: dict[str, str] = {}  # hosts, and why they are left alone


class NoAnswerError(Exception):
    """Why an address gave no file; ``wait`` are the seconds before a second try makes sense."""

    def __init__(self, reason: str, wait: float | None = None):
        super().__init__(reason)
        self.wait = wait


class TooLargeError(NoAnswerError):
    """An address sent more bytes than it may."""


def transfer(url: str, target: Path, limit: int, expected: int) -> None:
    """Download ``url``, a file of about ``expected`` bytes, into the file ``target``.

    After ``limit`` bytes it is broken off (`TooLargeError`); any other fault of the transport, and
    a host that did not answer before, is a `NoAnswerError`.
    """
    end = time.monotonic() + PATIENCE + expected / SLOWEST
    for is_last in (False, True):
        if reason := _dead.get(_host(url)):
            raise NoAnswerError(f"{reason}, a short while ago")
        try:
            return _attempt(url, target, limit, end)
        except NoAnswerError as error:
            if error.wait is not None and error.wait > WAIT:
                _dead[_host(url)] = str(error)
            if error.wait is None or error.wait > WAIT or is_last:
                raise
            _log.info("%s: %s; trying again", _host(url), error)
            time.sleep(error.wait)
    return None


def _attempt(url, target, limit, end):
    try:
        with (
            target.open("wb") as file,
            requests.get(url, stream=True, timeout=(CONNECT, READ)) as response,
        ):
            response.raise_for_status()
            for chunk in response.iter_content(1 << 12):
                limit -= len(chunk)
                if limit < 0:
                    raise TooLargeError("too large")
                if time.monotonic() > end:
                    _dead[_host(url)] = "too slow"
                    raise NoAnswerError("too slow")
                file.write(chunk)
    except requests.RequestException as error:
        raise _fault(error, _host(url)) from None
    except ValueError as error:  # an address that is none
        raise NoAnswerError(f"an answer that is not HTTP ({type(error).__name__})") from None


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
            return NoAnswerError(f"{reason}, which asks to wait {wait:.0f} s", wait)
        return NoAnswerError(reason, PAUSE)
    cause = error.args[0] if error.args else None
    if isinstance(error, _DEAD) or isinstance(cause, urllib3.exceptions.MaxRetryError):
        # A redirect may have led to another host: that one is to blame.
        _dead[_host(error.request.url) if error.request else host] = reason
        return NoAnswerError(reason)
    if isinstance(error, _BROKEN):
        return NoAnswerError(f"the transfer broke off ({reason})", PAUSE)
    return NoAnswerError(reason)


def _host(url):
    return urlsplit(without_credentials(url)).netloc.lower()
