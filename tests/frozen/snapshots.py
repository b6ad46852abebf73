"""The snapshots by name, each with the function that makes it anew."""

from collections.abc import Callable
from functools import partial
from typing import Any

from .commands import SESSIONS, run_session
from .estimators import fits
from .names import command_options, public_names
from .pages import demo_report, evaluation_page

SNAPSHOTS: dict[str, Callable[[], dict[str, Any]]] = {
    "public_names": public_names,
    "command_options": command_options,
    **{f"commands_{name}": partial(run_session, name) for name in SESSIONS},
    "estimators": fits,
    "demo_report": demo_report,
    "evaluation_page": evaluation_page,
}
