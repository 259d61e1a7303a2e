#!/usr/bin/env bash
# A plan by GNU parallel: parallel.sh PLAN.json SHARES [OPTIONS OF PARALLEL, such as --sshloginfile nodes].
# A share that fails is tried three times; a stage begins when the one before is complete.
set -euo pipefail
plan=$1 shares=$2
shift 2
stages=$(rechunk run "$plan" --begin --json | grep -c '"stage":')
for stage in $(seq 0 $((stages - 1))); do
    seq 0 $((shares - 1)) | parallel --halt soon,fail=1 --retries 3 "$@" \
        rechunk run "$plan" --stage "$stage" --part {}/"$shares" --quiet
done
rechunk run "$plan" --finish
