#!/usr/bin/env bash
# A plan by LSF: lsf.sh PLAN.json SHARES [OPTIONS OF BSUB, such as -M 2500]. Indices of LSF begin with 1.
set -euo pipefail
plan=$(realpath "$1") shares=$2
shift 2
stages=$(rechunk run "$plan" --begin --json | grep -c '"stage":')
name="rechunk$$" after=()
for stage in $(seq 0 $((stages - 1))); do
    bsub -J "$name-$stage[1-$shares]" "${after[@]}" "$@" \
        "rechunk run '$plan' --stage $stage --part \$((LSB_JOBINDEX - 1))/$shares --quiet"
    after=(-w "done($name-$stage[*])")
done
bsub -J "$name-finish" "${after[@]}" "$@" "rechunk run '$plan' --finish"
