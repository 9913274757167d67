"""One file from one address, bounded in bytes and in seconds.

A host that does not answer is left alone for the rest of the process. Tried: pooch's downloader
bounds neither bytes nor time.
"""

from __future__ import annotations

import time
from pathlib import Path
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from kronbench.resources import without_credentials

TIMEOUT = (3.0, 8.0)  # seconds to accept a connection, and that a connected host may be silent
PATIENCE = 14.0  # seconds that a transfer may take beside those of its bytes
SLOWEST = 5e4  # bytes a second that it has to reach on the whole

# A busy server is asked once more, after the seconds that it names.
_RETRY = Retry(
    total=1,
    connect=0,
    read=0,
    status_forcelist=(429, 500, 502, 503, 504),
    retry_after_max=8,
    raise_on_status=False,
)

_dead: dict[str, str] = {}  # hosts, and why they are left alone


class NoAnswerError(Exception):
    """Why an address gave no file."""


def transfer(url: str, target: Path, limit: int, expected: int) -> None:
    """Download ``url``, a file of about ``expected`` bytes, at most ``limit``, into ``target``."""
    end = time.monotonic() + PATIENCE + expected / SLOWEST
    host = urlsplit(without_credentials(url)).netloc.lower()
    if host in _dead:
        raise NoAnswerError(f"{_dead[host]}, a short while ago")
    with requests.Session() as session, target.open("wb") as file:
        for scheme in ("http://", "https://"):
            session.mount(scheme, HTTPAdapter(max_retries=_RETRY))
        try:
            with session.get(url, stream=True, timeout=TIMEOUT) as response:
                response.raise_for_status()
                for chunk in response.iter_content(1 << 12):
                    if file.tell() + len(chunk) > limit:
                        raise NoAnswerError(f"more than {limit} bytes: it is a different file")
                    if time.monotonic() > end:
                        _dead[host] = "too slow"
                        raise NoAnswerError("too slow")
                    file.write(chunk)
        except requests.HTTPError as error:
            raise NoAnswerError(f"HTTP status {error.response.status_code}") from None
        except (requests.ConnectionError, requests.Timeout) as error:
            _dead[host] = type(error).__name__
            raise NoAnswerError(_dead[host]) from None
        except (requests.RequestException, ValueError) as error:  # its text may hold a password
            raise NoAnswerError(type(error).__name__) from None
