#!/usr/bin/env bash
# A plan by Slurm: slurm.sh PLAN.json SHARES [OPTIONS OF SBATCH, such as --mem=2500M --time=2:00:00].
# One array of jobs for each stage; a stage begins when the one before has ended well.
#
# Where a part fails, jobs that depend on its array stay pending for ever (squeue says DependencyNeverSatisfied). Then:
# scancel them, and run this again. What is marked is not done again. (Or give sbatch --kill-on-invalid-dep=yes.)
set -euo pipefail
plan=$(realpath "$1") shares=$2
shift 2
stages=$(rechunk run "$plan" --begin --json | grep -c '"stage":')
after=()
for stage in $(seq 0 $((stages - 1))); do
    job=$(sbatch --parsable --requeue --array=0-$((shares - 1)) "${after[@]}" "$@" --job-name="rechunk-$stage" \
        --wrap "rechunk run '$plan' --stage $stage --part \$SLURM_ARRAY_TASK_ID/$shares --quiet")
    after=(--dependency="afterok:${job%%;*}")
done
sbatch "${after[@]}" "$@" --job-name=rechunk-finish --wrap "rechunk run '$plan' --finish"
