"""Still pictures, made in a separate process.

The engine is a browser's. It reserves tens of gigabytes of addresses; where these are limited, or a chart is too large,
it ends the process that it runs in.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache, lru_cache
from typing import IO, Literal

from karatage.errors import DataError, PictureError
from karatage.memory import find_limit
from karatage.text import shorten

PATIENCE = 120  # seconds for one picture
HEADER = struct.Struct(">?Q")  # whether it went well, and the bytes that follow
SMALLEST = '{"mark": "point", "data": {"values": [{}]}}'
Kind = Literal["svg", "png"]


def prepare_pictures() -> None:
    """Start the process, which takes a second, while there is other work."""
    _painter(os.getpid()).prepare()


def render_picture(spec: str, kind: Kind, **options: object) -> Future[bytes]:
    """A chart, given as Vega-Lite, as a picture; PictureError where this machine cannot make it.

    Args:
        spec: The chart.
        kind: The picture's format.
        options: Passed on to vl-convert.
    """
    return _painter(os.getpid()).render(json.dumps([kind, spec, options]).encode())


@cache
def bundle_vega() -> str:
    """The library with which a browser shows charts, as one script; this needs no engine."""
    import vl_convert

    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;").replace("</script", "<\\/script")


@lru_cache(maxsize=1)
def _painter(_: int) -> _Painter:
    """The painter of this process; a forked process must not use its parent's."""
    return _Painter()


class _Painter:
    """A process that makes one picture after the other, and a thread that exchanges data with it.

    If it fails at the smallest picture, it is not used again. If it fails at another, the next gets a new process.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "karatage-pictures")
        self._process: subprocess.Popen[bytes] | None = None
        self._hopeless: str | None = None

    def prepare(self) -> None:
        with suppress(RuntimeError):  # the error is raised when a picture is asked for
            self._thread.submit(self._start)

    def render(self, request: bytes) -> Future[bytes]:
        try:
            return self._thread.submit(self._render, request)
        except RuntimeError as problem:  # no room for another thread
            failed: Future[bytes] = Future()
            failed.set_exception(PictureError(str(problem)))
            return failed

    def _start(self) -> subprocess.Popen[bytes]:
        """A process that has made its first picture."""
        if self._hopeless is not None:
            raise PictureError(self._hopeless)
        if self._process is None:
            code = "import sys; sys.path[:] = sys.argv[1:]; from karatage.views.pictures import serve; serve()"
            program = [sys.executable or "", "-I", "-c", code, *sys.path]
            try:
                process = subprocess.Popen(
                    program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
                )
            except (OSError, ValueError) as problem:
                self._hopeless = f"the process that makes pictures cannot be started: {problem}"
                raise PictureError(self._hopeless) from None
            weakref.finalize(self, _end, process)
            self._process = process
            try:
                self._ask(process, json.dumps(["svg", SMALLEST, {}]).encode())
            except (PictureError, DataError) as problem:
                self._hopeless = str(problem)
                raise PictureError(self._hopeless) from None
        return self._process

    def _render(self, request: bytes) -> bytes:
        return self._ask(self._start(), request)

    def _ask(self, process: subprocess.Popen[bytes], request: bytes) -> bytes:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            _send(process.stdin, True, request)
            answer = _receive(process.stdout)
        except OSError:  # it has ended
            answer = None
        if answer is None:
            self._process = None
            raise PictureError(_explain(_end(process)))
        fine, content = answer
        if not fine:
            raise DataError(f"the chart cannot be made into a picture: {shorten(content.decode(), 200)}")
        return content


def _end(process: subprocess.Popen[bytes]) -> int:
    """End the process, and return its exit code."""
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            if pipe is not None:
                pipe.close()
    try:
        return process.wait(1)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _explain(status: int) -> str:
    """Why there is no picture, from how the process ended."""
    if hasattr(signal, "SIGALRM") and status == -signal.SIGALRM:
        return f"a picture took longer than {PATIENCE} seconds"
    names = {-known.value: known.name for known in signal.Signals}
    ended = f"the process that makes pictures ended with {names.get(status, f'exit code {status}')}"
    limit = find_limit()
    if limit is None:
        return f"{ended}, perhaps for lack of memory"
    return f"{ended}, as address space is limited to {limit / 2**30:.3g} GB (ulimit -v)"


def _send(pipe: IO[bytes], fine: bool, content: bytes) -> None:
    pipe.write(HEADER.pack(fine, len(content)))
    pipe.write(content)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> tuple[bool, bytes] | None:
    """The next message; None at the end."""
    header = pipe.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    fine, size = HEADER.unpack(header)
    content = pipe.read(size)
    return (fine, content) if len(content) == size else None


def serve() -> None:
    """The work of the process: make pictures until the input ends."""
    source, target = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # anything else that is printed is not an answer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to end
    has_alarm = hasattr(signal, "SIGALRM")
    if has_alarm:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process at any point
        signal.alarm(PATIENCE)
    import vl_convert

    draw: dict[Kind, Callable[..., str | bytes]] = {
        "svg": vl_convert.vegalite_to_svg,
        "png": vl_convert.vegalite_to_png,
    }
    while (message := _receive(source)) is not None:
        kind, spec, options = json.loads(message[1])
        if has_alarm:
            signal.alarm(PATIENCE)
        try:
            drawn = draw[kind](spec, **options)
            answer = True, drawn.encode() if isinstance(drawn, str) else drawn
        except ValueError as problem:
            answer = False, str(problem).encode(errors="replace")
        if has_alarm:
            signal.alarm(0)
        with suppress(BrokenPipeError):
            _send(target, *answer)
