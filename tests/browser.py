"""A headless Chromium over the protocol of WebDriver. Without chromium and chromedriver its tests are skipped."""

import base64
import http.client
import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-device-scale-factor=1",
)  # fmt: skip


@frozen
class Driver:
    """One session of a browser over the protocol of WebDriver."""

    port: int
    session: str

    def tell(self, path: str, **values: Any) -> Any:
        return call(self.port, "POST", f"/session/{self.session}{path}", values)

    def run(self, script: str) -> Any:
        return self.tell("/execute/sync", script=script, args=[])

    def cdp(self, command: str, **values: Any) -> Any:
        return self.tell("/goog/cdp/execute", cmd=command, params=values)

    def show(self, page: Path | str, width: int = 1280, scheme: str = "light", script: bool = True) -> None:
        """A file, or an address."""
        self.cdp("Emulation.setScriptExecutionDisabled", value=not script)
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.tell("/url", url=page if isinstance(page, str) else page.as_uri())
        # Now and then the driver answers while the style sheet is still being loaded.
        while script and self.run("return document.readyState") != "complete":
            time.sleep(0.01)

    def press(self, *keys: str) -> None:
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.tell("/actions", actions=[{"type": "key", "id": "keys", "actions": actions}])

    def picture(self, path: Path) -> None:
        shot = self.cdp("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def complaints(self) -> list[str]:
        return [each["message"] for each in self.tell("/se/log", type="browser")]


TAB, SPACE, DOWN, ENTER = "\ue004", " ", "\ue015", "\ue007"


def call(port: int, method: str, path: str, values: Any) -> Any:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, json.dumps(values), {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())["value"]
    finally:
        connection.close()
    assert not (isinstance(answer, dict) and "error" in answer), answer
    return answer


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    browser, program = shutil.which("chromium"), shutil.which("chromedriver")
    if not (browser and program):
        pytest.skip("chromium and chromedriver are not installed")
    process = subprocess.Popen([program, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    with process:
        try:
            assert process.stdout
            started = (re.search(r"started successfully on port (\d+)", line) for line in process.stdout)
            port = next(int(found[1]) for found in started if found)
            options = {
                "binary": browser,
                "args": [*ARGUMENTS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"],
            }
            wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            session = call(port, "POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
            yield Driver(port, session)
            call(port, "DELETE", f"/session/{session}", {})
        finally:
            process.terminate()


def visible(driver: Driver, selector: str) -> int:
    return int(
        driver.run(f"return [...document.querySelectorAll({selector!r})].filter(e => e.checkVisibility()).length")
    )
