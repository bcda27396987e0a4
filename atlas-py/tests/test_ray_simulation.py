"""The simulation of clusters in `scripts/`, and the files for KubeRay and Slurm in `examples/cluster`."""

import importlib
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def simulation(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return importlib.import_module("ray_simulation")


def test_it_agrees_with_what_can_be_counted(simulation: Any) -> None:
    free = simulation.Costs(submit=0.0, start=0.0, take_up=0.0, wait=0.0)
    groups = [[5.0, 1.0, 1.0]] * 8
    alone = simulation.simulate(groups, 1, 1, free)
    assert alone.seconds == 56.0 and alone.busy == 1.0 and alone.driver == 0.0
    # Followers stay with the first, so a group is done one after the other where there is one slot.
    assert simulation.simulate(groups, 8, 1, free).seconds == 7.0
    assert simulation.simulate(groups, 4, 2, free).seconds == 7.0
    assert simulation.simulate(groups, 100, 1, free).seconds == 7.0
    # And beside each other where there are two.
    assert simulation.simulate([[5.0, 1.0, 1.0]], 1, 2, free).seconds == 6.0

    # A driver that takes longer than the steps is the limit, however many nodes there are.
    slow = simulation.Costs(submit=0.5, start=0.0, take_up=0.5, wait=0.0)
    found = simulation.simulate([[0.1]] * 100, 50, 1, slow)
    assert found.seconds == pytest.approx(100, rel=0.02) and found.driver > 0.97
    started = simulation.Costs(submit=0.0, start=0.25, take_up=0.0, wait=0.0)
    assert simulation.simulate([[1.0]] * 4, 2, 1, started).seconds == 2.5


def test_groups_are_drawn_alike(simulation: Any) -> None:
    measured = [[1.0], [2.0, 3.0]]
    drawn = simulation.drawn(measured, 50)
    assert drawn == simulation.drawn(measured, 50) and {len(group) for group in drawn} == {1, 2}


def test_the_job_of_kuberay_is_yaml_and_its_program_python() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML, which Ray brings, is not installed")
    job = yaml.safe_load((ROOT / "examples/cluster/rayjob.yaml").read_text())
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    program = job["spec"]["entrypoint"].removeprefix("python -c '").removesuffix("'")
    compile(program, "entrypoint", "exec")
    cluster = job["spec"]["rayClusterSpec"]
    (workers,) = cluster["workerGroupSpecs"]
    assert cluster["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
    assert workers["labels"] == {"atlas-engine": "docker"} and "atlas_disk" in workers["rayStartParams"]["resources"]
    for pod in (cluster["headGroupSpec"]["template"]["spec"], workers["template"]["spec"]):
        volumes = {volume["name"] for volume in pod["volumes"]}
        mounted = {mount["name"] for container in pod["containers"] for mount in container["volumeMounts"]}
        assert mounted == volumes


def test_the_script_of_slurm_is_clean() -> None:
    script = ROOT / "examples/cluster/slurm.sh"
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
    program = script.read_text().split("<<'PYTHON' &\n")[1].split("\nPYTHON\n")[0]
    compile(program, "slurm.sh", "exec")
    if not (shellcheck := shutil.which("shellcheck")):
        pytest.skip("shellcheck is not installed")
    found = subprocess.run([shellcheck, script], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout


def test_the_examples_name_what_there_is() -> None:
    import swe_atlas.ray

    for name in ("rayjob.yaml", "slurm.sh"):
        text = (ROOT / "examples/cluster" / name).read_text()
        used = set(re.findall(r"\batlas\.(\w+)\(", text))
        assert used == {"Resources", "evaluate"} and used <= set(swe_atlas.ray.__all__)
