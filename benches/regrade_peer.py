"""Wall seconds that the swebench package takes to grade stored logs.

    regrade_peer.py DATASET LOGS

DATASET is JSON Lines of version 5; below LOGS stands INSTANCE/test_output.txt of each row. Prints two
numbers: the best of three rounds of reading the rows and get_eval_report over all, with their gold
patches as predictions, and how many instances are resolved.
"""

import json
import sys
import time

from swebench.harness.grading import get_eval_report
from swebench.harness.utils import make_test_spec

dataset, logs = sys.argv[1:]
best = float("inf")
for _ in range(3):
    start = time.perf_counter()
    resolved = 0
    with open(dataset, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    for row in rows:
        name = row["instance_id"]
        prediction = {
            "instance_id": name,
            "model_name_or_path": "gold",
            "model_patch": row["patch"],
        }
        log = f"{logs}/{name}/test_output.txt"
        report = get_eval_report(make_test_spec(row), prediction, log, True)
        resolved += report[name]["resolved"]
    best = min(best, time.perf_counter() - start)
print(best, resolved)
