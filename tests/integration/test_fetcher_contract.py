"""The fetcher and its twin keep the same promises."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from web_server import ADDRESS, Detour, WebServer, scripted

from groundkit.adapters.web.fetcher import WebFetcher
from groundkit.core.ports import Fetcher
from groundkit.testing import ScriptedFetcher, ScriptedPage, ScriptedResolver
from groundkit.testing.fetcher_contract import FetcherContract


class TestScriptedFetcher(FetcherContract):
    @contextmanager
    def serving(self, pages: Mapping[str, ScriptedPage]) -> Iterator[Fetcher]:
        yield ScriptedFetcher(dict(pages))


class TestWebFetcher(FetcherContract):
    @contextmanager
    def serving(self, pages: Mapping[str, ScriptedPage]) -> Iterator[Fetcher]:
        with WebServer(scripted(pages)) as server:
            fetcher = WebFetcher(ScriptedResolver({"good.test": [(ADDRESS,)]}), Detour({80: server.port}))
            yield fetcher
            fetcher.close()
