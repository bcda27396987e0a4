#!/usr/bin/env bash
# A run of Atlas on Slurm: `sbatch slurm.sh dataset.jsonl predictions.jsonl runs first`.
#
# Starts Ray on the nodes of the job, and the driver on the first. Needs swe-atlas[ray] in the Python of all nodes and an
# engine on each: Docker, or Podman's socket of this user (`systemctl --user start podman.socket`). Submitted again with the
# same arguments, the run goes on.
#SBATCH --job-name=atlas-eval
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --mem=64G
#SBATCH --time=08:00:00
#SBATCH --signal=B:INT@120
set -euo pipefail

dataset=$1 predictions=$2 out=$3 run_id=$4
port=6379
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
disk='{"atlas_disk": 100}'

if [ "$SLURM_JOB_NUM_NODES" -gt 1 ]; then workers=$((SLURM_JOB_NUM_NODES - 1)); else workers=0; fi

srun --nodes=1 --ntasks=1 --nodelist="$head" --overlap \
  ray start --head --port="$port" --num-cpus="$SLURM_CPUS_PER_TASK" --resources="$disk" \
  --labels=atlas-engine=docker --block &
ray_head=$!
ray_workers=
if [ "$workers" -gt 0 ]; then
  sleep 15
  srun --nodes="$workers" --ntasks="$workers" --exclude="$head" --overlap \
    ray start --address="$head:$port" --num-cpus="$SLURM_CPUS_PER_TASK" --resources="$disk" \
    --labels=atlas-engine=docker --block &
  ray_workers=$!
fi
sleep 15

# Two minutes before the job's time is over Slurm sends SIGINT here: the driver ends its runs in order.
srun --nodes=1 --ntasks=1 --nodelist="$head" --overlap python - "$dataset" "$predictions" "$out" "$run_id" "$head:$port" <<'PYTHON' &
import sys
import swe_atlas.ray as atlas

dataset, predictions, out, run_id, address = sys.argv[1:]
where = atlas.Resources(cpus=2, memory=6 << 30, disk=10 << 30, engine="docker")
report = atlas.evaluate(dataset, predictions, run_id, out=out, engine="docker", resources=where, address=address)
print(report)
PYTHON
driver=$!
trap 'kill -INT "$driver"' INT
code=0
# A signal that is trapped ends the first wait.
wait "$driver" || code=$?
wait "$driver" 2>/dev/null || true
kill "$ray_head" ${ray_workers:+"$ray_workers"} 2>/dev/null || true
exit "$code"
