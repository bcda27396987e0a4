"""Atlas on many machines, as tasks of Ray: `pip install 'swe-atlas[ray]'`.

    import swe_atlas.ray
    report = swe_atlas.ray.evaluate("dataset.jsonl", "predictions.jsonl", "first", out="runs", address="auto")

Ray places the tasks and moves their bytes; nothing here schedules. The report and its files are those of the function
of the same name on one machine. `docs/cluster.md` has the tutorial.
"""

from swe_atlas.ray._cluster import Resources
from swe_atlas.ray._evaluate import evaluate

__all__ = ["Resources", "evaluate"]
