"""Wall seconds that the swebench package takes to grade stored logs.

    regrade_peer.py DATASET LOGS

DATASET is JSON Lines of version 5; below LOGS stands INSTANCE/test_output.txt of each row. Prints two
numbers: the best of three rounds of get_eval_report over all rows, whose patches are their gold ones and
whose specifications were made before, and how many instances are resolved.
"""

import json
import sys
import time

from swebench.harness.grading import get_eval_report
from swebench.harness.utils import make_test_spec

dataset, logs = sys.argv[1:]
with open(dataset, encoding="utf-8") as file:
    rows = [json.loads(line) for line in file]
jobs = [
    (
        make_test_spec(row),
        {
            "instance_id": row["instance_id"],
            "model_name_or_path": "gold",
            "model_patch": row["patch"],
        },
        f"{logs}/{row['instance_id']}/test_output.txt",
    )
    for row in rows
]
best = float("inf")
for _ in range(3):
    start = time.perf_counter()
    reports = [get_eval_report(spec, prediction, log, True) for spec, prediction, log in jobs]
    best = min(best, time.perf_counter() - start)
resolved = sum(
    report[prediction["instance_id"]]["resolved"]
    for report, (_, prediction, _) in zip(reports, jobs)
)
print(best, resolved)
