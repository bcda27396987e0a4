"""`PatchVerdict`: a verdict that notebooks show."""

from __future__ import annotations

import json
from typing import Any

from swe_atlas._swe_atlas import _verdict_html


class PatchVerdict(dict[str, Any]):
    """The verdict on one patch, as `swe_atlas.types.EvalVerdict` describes it.

    A dict like any other: equal to one with the same items, pickled and written as JSON as one. Notebooks show what it
    comes to, why, and which tests do not pass.
    """

    def _repr_html_(self) -> str:
        return _verdict_html(json.dumps(self, default=str))
