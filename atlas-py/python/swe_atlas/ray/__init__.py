"""Atlas on many machines, as tasks of Ray: `pip install 'swe-atlas[ray]'`.

    import swe_atlas.ray
    report = swe_atlas.ray.evaluate("dataset.jsonl", "predictions.jsonl", "first", out="runs", address="auto")

Ray places the tasks and moves their bytes; nothing here schedules. The reports and their files are those of the functions
of the same names on one machine. `docs/cluster.md` has the tutorial.
"""

from swe_atlas.ray._attempt import attempt
from swe_atlas.ray._cluster import Resources
from swe_atlas.ray._evaluate import evaluate
from swe_atlas.ray._make import make
from swe_atlas.ray._validate import validate

__all__ = ["Resources", "attempt", "evaluate", "make", "validate"]
