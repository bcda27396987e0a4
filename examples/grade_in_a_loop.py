#!/usr/bin/env python3
"""Let a solver try again until its patches are resolved, telling it each time what the verdict was.

    pip install swe-atlas
    python examples/grade_in_a_loop.py dataset.jsonl './my-agent --some-option' --attempts 3

The solver is a command. It gets `{"instance": …, "feedback": …}` on its standard input, the instance
without its solution and tests, and writes a patch. Feedback is null at first, then the last verdict.

Only what changed runs: a patch that was graded before, in any run, costs nothing, and so does the gold
patch's run that shows whether the place works at all. What is no fault of the solver (an image that is
gone, a machine that broke) is not told to it and not tried again.
"""

import argparse
import json
import shlex
import subprocess
import sys

import swe_atlas

# What a solver may see of an instance.
SHOWN = ["instance_id", "repo", "base_commit", "problem_statement", "hints_text", "language"]

# Failures that another patch may mend.
SOLVERS = {"model", "patch_format", "tampered"}


def solve(command, instance, feedback):
    """One try of the solver; its patch, or nothing if it gave up."""
    task = {"instance": {name: instance.get(name) for name in SHOWN}, "feedback": feedback}
    done = subprocess.run(command, input=json.dumps(task), capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{instance['instance_id']}: the solver: {done.stderr.strip()}", file=sys.stderr)
        return None
    return done.stdout


def told(verdict, patch):
    """What the solver learns: the verdict, and why a patch does not fit, as far as its text tells."""
    feedback = {name: verdict[name] for name in ["outcome", "reasons", "evidence", "guards"]}
    feedback["FAIL_TO_PASS"] = verdict["FAIL_TO_PASS"]
    feedback["PASS_TO_PASS"] = verdict["PASS_TO_PASS"]
    if verdict["outcome"] == "not_applied":
        feedback["faults"] = swe_atlas.examine_patch(patch)
    return feedback


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset")
    parser.add_argument("solver")
    parser.add_argument("--attempts", type=int, default=3)
    parser.add_argument("--name", default="solver", help="the model's name in reports")
    parser.add_argument("--repos", help="a clone or a folder of clones, for rows without an image")
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", default=".")
    parser.add_argument("--results")
    parser.add_argument("--config", help="an atlas.toml")
    parser.add_argument("--trust", action="store_true")
    arguments = parser.parse_args()
    command = shlex.split(arguments.solver)

    dataset = swe_atlas.read_dataset(arguments.dataset)
    for fault in dataset.faults:
        print(f"{fault['place']}: {fault['what']}; {fault['way_out']}", file=sys.stderr)
    feedback = {row.instance_id: None for row in dataset}
    reports, resolved = [], set()
    for attempt in range(1, arguments.attempts + 1):
        patches = {id: solve(command, dataset[id], said) for id, said in feedback.items()}
        report = swe_atlas.evaluate(
            arguments.dataset,
            [
                {"instance_id": id, "model_name_or_path": arguments.name, "model_patch": patch}
                for id, patch in patches.items()
            ],
            f"attempt-{attempt}",
            instance_ids=list(patches),
            repos=arguments.repos,
            engine=arguments.engine,
            jobs=arguments.jobs,
            out=arguments.out,
            results=arguments.results,
            config=arguments.config,
            trust=arguments.trust,
        )
        reports.append(report.reports[arguments.name])
        resolved.update(report.resolved_ids)
        feedback = {}
        for verdict in report.verdicts:
            id = verdict["instance_id"]
            why = "resolved" if verdict["resolved"] else f"not resolved [{verdict.get('cause')}]"
            print(f"attempt {attempt}: {id}: {why} {' '.join(verdict['reasons'][:1])}".rstrip())
            if verdict.get("cause") in SOLVERS and patches[id] is not None:
                feedback[id] = told(verdict, patches[id])
        if not feedback:
            break

    print(f"\n{len(resolved)} of {len(dataset)} resolved with feedback; the first attempts alone:\n")
    print(swe_atlas.leaderboard(dataset, {arguments.name: reports[:1]}).to_markdown())
    return 0 if len(resolved) == len(dataset) else 1


if __name__ == "__main__":
    sys.exit(main())
