"""The page's server: on this machine only, behind a token, with nothing from outside."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from html import escape
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pnulearn._extras import import_extra
from pnulearn.labeling._cells import RowReader, find_picture, picture_type
from pnulearn.labeling._journal import JournalLostError
from pnulearn.labeling._labeler import Labeler
from pnulearn.labeling._page_state import PageState, Refresher
from pnulearn.labeling._session import AlreadyAnsweredError

with import_extra("label", "The labelling page"):
    import uvicorn
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

HOST = "127.0.0.1"
PAGES = {
    "": ("page.html", "text/html; charset=utf-8"),
    "page.js": ("page.js", "text/javascript; charset=utf-8"),
    "chart.js": ("chart.js", "text/javascript; charset=utf-8"),
    "row.js": ("row.js", "text/javascript; charset=utf-8"),
    "icon.svg": ("icon.svg", "image/svg+xml"),
    "page.css": ("page.css", "text/css; charset=utf-8"),
}
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
MOST_DIGITS = 18  # of the number of a row or column
MOST_BYTES = 10_000  # of a request's body; an answer has a hundred


REDIRECT = """<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>pnulearn</title>
<meta http-equiv="refresh" content="0; url={address}">
<p><a href="{address}">To the labelling page</a></p></html>
"""


class Refused(Exception):
    """A request that is answered with a status and a sentence."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


class LabelingApp:
    """The page and what it asks for, under `/TOKEN/`.

    Parameters
    ----------
    labeler : Labeler
        With `refit_every=0`.
    reader : RowReader
        Shows rows.
    title : str
        The table's name.
    label : str
        The column of labels.
    token : str, optional
        Without which nothing is answered; a new one by default.
    """

    def __init__(self, labeler: Labeler, reader: RowReader, title: str, label: str, token: str | None = None) -> None:
        self.labeler, self.reader = labeler, reader
        self.refresher = Refresher(labeler, self._lose)
        self.loss: JournalLostError | None = None
        self.state = PageState(labeler, reader, self.refresher, title, label)
        self.token = token or secrets.token_urlsafe(24)
        self.hosts: set[str] = set()
        self._server: Any = None
        calls = {"next": self.state.next, "answer": self.state.answer, "undo": self.state.undo}
        calls |= {"set": self.state.set, "answers": self.state.answers}
        self.app = Starlette(
            routes=[
                Route("/{token}/api/start", self._read(self.state.start)),
                Route("/{token}/api/progress", self._read(self.state.progress)),
                *(Route(f"/{{token}}/api/{name}", self._post(call), methods=["POST"]) for name, call in calls.items()),
                Route("/{token}/picture/{row}/{column}", self._picture),
                Route("/{token}/{name:path}", self._file),
            ]
        )

    def address(self, port: int) -> str:
        """Where the page is.

        Parameters
        ----------
        port : int
            That the server listens at.
        """
        self.hosts = {f"{HOST}:{port}", f"localhost:{port}"}
        return f"http://{HOST}:{port}/{self.token}/"

    def serve(self, listener: socket.socket) -> None:
        """Answer until the process is interrupted; raises `JournalError` if the journal was moved or replaced.

        Parameters
        ----------
        listener : socket
            Bound to this machine's own address.
        """
        config = uvicorn.Config(self.app, log_level="warning", access_log=False, server_header=False, lifespan="off")
        self._server = uvicorn.Server(config)
        self.refresher.start()
        try:
            self._server.run(sockets=[listener])
        finally:
            self.refresher.stop()
            self.labeler.close()
        if self.loss is not None:
            raise self.loss

    def stop(self) -> None:
        """End `serve`, which runs in another thread."""
        if self._server is not None:
            self._server.should_exit = True

    def _lose(self, error: JournalLostError) -> None:
        """End `serve`: nothing can be kept any more."""
        self.loss = error
        self.stop()

    def _check(self, request: Request) -> None:
        """Only pages that this server sent may ask, not other sites and not other users who guess."""
        if not secrets.compare_digest(request.path_params["token"].encode(), self.token.encode()):
            raise Refused(403, "The token is missing from this address. Use the address that `pnulearn label` printed.")
        if request.headers.get("host") not in self.hosts:
            raise Refused(403, "This server answers to 127.0.0.1 only.")
        origin = request.headers.get("origin")
        if origin is not None and origin.removeprefix("http://") not in self.hosts:
            raise Refused(403, "Another site asked.")

    def _read(self, call: Callable[[], dict[str, Any]]) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            return await self._answer(request, call)

        return endpoint

    def _post(self, call: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            if request.headers.get("content-type", "").partition(";")[0] != "application/json":
                return _refusal(Refused(415, "Requests are JSON."))
            raw = b""
            async for part in request.stream():
                raw += part
                if len(raw) > MOST_BYTES:
                    return _refusal(Refused(413, "This request is too long."))
            return await self._answer(request, lambda: call(self.state.read(raw)))

        return endpoint

    async def _answer(self, request: Request, call: Callable[[], dict[str, Any]]) -> Response:
        try:
            self._check(request)
            return JSONResponse(await run_in_threadpool(call), headers=HEADERS)
        except Refused as refused:
            return _refusal(refused)
        except AlreadyAnsweredError as error:
            return _refusal(Refused(409, str(error)))
        except JournalLostError as error:
            self._lose(error)
            return _refusal(Refused(410, f"{error} This answer was not kept, and labelling has ended."))
        except ValueError as error:
            return _refusal(Refused(400, str(error)))
        except OSError as error:  # a full disk: the answer is not kept, and the page must say so
            return _refusal(Refused(507, f"The journal cannot be written: {error}"))

    async def _file(self, request: Request) -> Response:
        try:
            self._check(request)
        except Refused as refused:
            return _refusal(refused)
        known = PAGES.get(request.path_params["name"])
        if known is None:
            return _refusal(Refused(404, "There is no such page."))
        content = (files("pnulearn.labeling") / "page" / known[0]).read_bytes()
        return Response(content, headers={**HEADERS, "Content-Type": known[1]})

    async def _picture(self, request: Request) -> Response:
        try:
            self._check(request)
            content, kind = await run_in_threadpool(self._read_picture, **request.path_params)
        except Refused as refused:
            return _refusal(refused)
        return Response(content, headers={**HEADERS, "Content-Type": kind})

    def _read_picture(self, row: str, column: str, token: str) -> tuple[bytes, str]:
        names = [part["name"] for part in self.reader.columns]
        k, j = (int(text) if text.isdecimal() and len(text) < MOST_DIGITS else -1 for text in (row, column))
        if 0 <= k < self.labeler.n_rows and 0 <= j < len(names) and self.reader.folder is not None:
            name = self.reader.picture(k, names[j])
            path = None if name is None else find_picture(name, self.reader.folder)
            content = b"" if path is None else path.read_bytes()
            kind = picture_type(content[:12])
            if kind is not None:
                return content, kind
        raise Refused(404, "There is no such picture.")


def listen(port: int = 0) -> socket.socket:
    """A socket at this machine's own address, which no other machine can reach; any free port by default.

    Parameters
    ----------
    port : int
        To listen at.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen(128)  # a browser that is opened before the server runs waits instead of failing
    except OSError as error:
        listener.close()
        raise OSError(f"Port {port} of this machine cannot be used ({error.strerror}). Choose another port.") from None
    return listener


@contextmanager
def redirect_page(address: str) -> Iterator[str]:
    """The address of a file that leads a browser to a page, and that only its owner can read.

    A browser's arguments are seen by every user of the machine; those of `file:` addresses hold no token.

    Parameters
    ----------
    address : str
        With the token.
    """
    with TemporaryDirectory(prefix="pnulearn-") as folder:  # which its owner alone can enter
        page = Path(folder) / "open.html"
        handle = os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(REDIRECT.format(address=escape(address, quote=True)))
        yield page.as_uri()


def _refusal(refused: Refused) -> Response:
    return JSONResponse({"trouble": str(refused)}, status_code=refused.status, headers=HEADERS)
