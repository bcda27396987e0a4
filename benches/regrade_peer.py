"""Seconds that the swebench package takes to grade stored logs.

    regrade_peer.py DATASET LOGS

DATASET is JSON Lines of version 5; below LOGS stands INSTANCE/test_output.txt of each row. Prints three
numbers: wall seconds and processor seconds of the best of three rounds of reading the rows and
get_eval_report over all, with their gold patches as predictions, and how many instances are resolved.
"""

import json
import sys
import time

from swebench.harness.grading import get_eval_report
from swebench.harness.utils import make_test_spec

dataset, logs = sys.argv[1:]
wall = cpu = float("inf")
for _ in range(3):
    start, start_cpu = time.perf_counter(), time.process_time()
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
    wall = min(wall, time.perf_counter() - start)
    cpu = min(cpu, time.process_time() - start_cpu)
print(wall, cpu, resolved)
