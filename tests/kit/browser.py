"""A real browser for tests: headless Chromium, controlled through its DevTools protocol over pipes."""

import base64
import fcntl
import json
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import Any, Literal

from pydantic import JsonValue

CHROMIUM = shutil.which("chromium")

ANSWER_LIMIT_S = 60
"""The time limit for an answer of the browser (seconds), as a guard against a hang."""

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
)


@dataclass(slots=True)
class Tab:
    """An open page, with its console messages, the URLs that it requested, and the reasons of failed requests."""

    browser: "Browser"
    session: str
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    loaded: bool = False

    def send(self, method: str, **params: object) -> dict[str, Any]:
        return self.browser.send(method, self.session, **params)

    def show(self, path: Path, *, width: int, height: int = 900, scheme: Literal["light", "dark"] = "light") -> None:
        """Opens a file on a screen of this size, and waits until it is loaded. Forgets the page that was open."""
        for kept in (self.complaints, self.requests, self.refused):
            kept.clear()
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.prefer(scheme)
        self.resize(width, height)
        self._navigate(path.as_uri())

    def blank(self) -> None:
        """Opens an empty page in place of the open one, and waits for it. No event of the old page follows."""
        self._navigate("about:blank")

    def _navigate(self, url: str) -> None:
        self.loaded = False
        self.send("Page.navigate", url=url)
        while not self.loaded:
            self.browser.receive()

    def prefer(self, scheme: Literal["light", "dark"]) -> None:
        """Sets the colour scheme that the user prefers."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send("Emulation.setEmulatedMedia", media="", features=features)

    def resize(self, width: int, height: int) -> None:
        mobile = width < 500
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def run(self, expression: str) -> JsonValue:
        """The value of a JavaScript expression, which runs outside the page's content security policy."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        value: JsonValue = answer["result"].get("value")
        return value

    def screenshot(self) -> bytes:
        """The whole page as a PNG."""
        height = self.run("document.documentElement.scrollHeight")
        width = self.run("innerWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        picture = self.send(
            "Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip, optimizeForSpeed=True
        )
        return base64.b64decode(picture["data"])

    def record(self, method: str, params: dict[str, Any]) -> None:
        """Records an event of the page."""
        match method:
            case "Page.loadEventFired":
                self.loaded = True
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])
            case "Network.loadingFailed":
                self.refused.append(params.get("blockedReason", params["errorText"]))
            case "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded":
                self.complaints.append(json.dumps(params))


class Browser:
    """A Chromium process. Messages are JSON, each followed by a zero byte."""

    def __init__(self, to: int, of: int) -> None:
        self._to, self._of = to, of
        self._selector = DefaultSelector()
        self._selector.register(of, EVENT_READ)
        self._unread = b""
        self._number = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self._tabs: dict[str, Tab] = {}

    def tab(self) -> Tab:
        """Opens a new tab."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._tabs[session] = Tab(self, session)
        return self._tabs[session]

    def send(self, method: str, session: str | None = None, **params: object) -> dict[str, Any]:
        """Sends a command and returns the result of its answer."""
        self._number += 1
        number = self._number
        command = {"id": number, "method": method, "params": params} | ({"sessionId": session} if session else {})
        os.write(self._to, json.dumps(command).encode() + b"\0")
        while number not in self._answers:
            self.receive()
        answer = self._answers.pop(number)
        assert "error" not in answer, f"{method}: {answer['error']}"
        result: dict[str, Any] = answer["result"]
        return result

    def receive(self) -> None:
        """Waits for messages of the browser and distributes them."""
        assert self._selector.select(ANSWER_LIMIT_S), "the browser says nothing"
        read = os.read(self._of, 1 << 20)
        assert read, "the browser is gone"
        *messages, self._unread = (self._unread + read).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self._answers[message["id"]] = message
            elif (tab := self._tabs.get(message.get("sessionId", ""))) is not None:
                tab.record(message["method"], message["params"])

    def close(self) -> None:
        self._selector.close()
        os.close(self._to)
        os.close(self._of)


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """Starts Chromium with a new profile in this folder, and kills it with all its children at the end."""
    assert CHROMIUM is not None
    browser_in, own_out = _pipe()
    own_in, browser_out = _pipe()
    pid = os.posix_spawn(
        CHROMIUM,
        [CHROMIUM, *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
        os.environ | {"HOME": str(profile), "DBUS_SESSION_BUS_ADDRESS": "disabled:"},
        file_actions=[
            (os.POSIX_SPAWN_DUP2, browser_in, 3),
            (os.POSIX_SPAWN_DUP2, browser_out, 4),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ],
        setpgroup=0,
    )
    os.close(browser_in)
    os.close(browser_out)
    running = Browser(own_out, own_in)
    try:
        yield running
    finally:
        running.close()
        os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _pipe() -> tuple[int, int]:
    """A pipe whose ends are not 3 or 4, the numbers that its ends get in the browser's process."""
    ends = os.pipe()
    moved = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 5) for end in ends]
    for end in ends:
        os.close(end)
    return moved[0], moved[1]
