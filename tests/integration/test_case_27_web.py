"""Case 27: the shared server with its bombs, lies and redirects, fetched by a process that may have little memory."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from shared import shared

#: What each path comes to: a problem, or the body.
EXPECTED = {
    "/gzip-bomb": "too_large",
    "/gzip-nested": "too_large",
    "/endless": "too_large",
    "/drip": "time",
    "/lie-long": "protocol",
    "/lie-short": "<p>needle",
    "/truncated-chunk": "protocol",
    "/bad-gzip": "content_coding",
    "/redir?to=http://127.0.0.1/": "redirect",
    "/chain/3": "redirect",
    "/chain/0": "<p>needle end",
    "/loop": "redirect",
    "/redir-file": "redirect",
    "/redir-meta": "redirect",
    "/refresh": '<meta http-equiv=refresh content="0;url=http://169.254.169.254/"><p>needle',
    "/no-type": "<p>needle",
    "/pdf-as-html": "%PDF-1.4\n%garbage",
    "/html-as-pdf": "<p>needle",
    "/charset-lie": "<meta charset=utf-8><p>中文 needle",
    "/huge-header": "headers_too_large",
    "/304": "unasked_304",
    "/204": "status",
    "/500": "status",
    "/": "<p>needle default",
}
ADDRESS_SPACE = 1 << 29
CHILD = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]),) * 2)
from web_server import ADDRESS, Detour
from groundkit.adapters.web.fetcher import WebFetcher
from groundkit.core.fetching import FetchLimits, FetchRequest
from groundkit.core.result import Success
from groundkit.core.urls import web_url
from groundkit.testing import ScriptedResolver

fetcher = WebFetcher(ScriptedResolver({"good.test": [(ADDRESS,)]}), Detour({80: int(sys.argv[1])}))
for path in json.load(sys.stdin):
    limits = FetchLimits(20 << 20, 0.5 if path == "/drip" else 60)
    answer = fetcher.fetch(FetchRequest(web_url("http://good.test" + path).unwrap(), limits))
    said = answer.unwrap().body.decode() if isinstance(answer, Success) else answer.failure().problem.value
    print(json.dumps([path, said]), flush=True)
"""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    program = shared("cases/27-http-bombs-and-redirects/server.py")
    with socket.create_server(("127.0.0.1", 0)) as free:
        number = int(free.getsockname()[1])
    with subprocess.Popen([sys.executable, str(program), str(number)]) as server:
        try:
            _wait_for(number, server)
            yield number
        finally:
            server.kill()


def _wait_for(number: int, server: "subprocess.Popen[bytes]") -> None:
    """It makes its bomb before it listens."""
    while server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", number)) == 0:
                return
        try:
            server.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
    raise AssertionError("the shared server ended")


@pytest.mark.slow
def test_every_path_of_the_shared_server_comes_to_what_it_should_in_half_a_gigabyte_of_addresses(port: int) -> None:
    paths = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
    ran = subprocess.run(
        [sys.executable, "-c", CHILD, str(port), str(ADDRESS_SPACE)],
        input=json.dumps(list(EXPECTED)),
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert dict(json.loads(line) for line in ran.stdout.splitlines()) == EXPECTED, ran.stderr
