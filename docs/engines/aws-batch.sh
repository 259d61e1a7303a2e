#!/usr/bin/env bash
# A plan by AWS Batch: aws-batch.sh s3://BUCKET/plan.json SHARES QUEUE DEFINITION. The definition's image has `rechunk` and
# `aws` in its PATH, and its role may read the plan and use the stores. SHARES from 2 to 10000.
set -euo pipefail
plan=$1 shares=$2 queue=$3 definition=$4
local=$(mktemp)
trap 'rm -f "$local"' EXIT
aws s3 cp --quiet "$plan" "$local"
stages=$(rechunk run "$local" --begin --json | grep -c '"stage":')
submit() { # NAME COMMAND [OPTIONS]
    local name=$1 command=$2
    shift 2
    aws batch submit-job --job-name "$name" --job-queue "$queue" --job-definition "$definition" \
        --retry-strategy attempts=5 --query jobId --output text "$@" \
        --container-overrides "{\"command\": [\"sh\", \"-c\", \"aws s3 cp --quiet $plan plan.json && $command\"]}"
}
after=()
for stage in $(seq 0 $((stages - 1))); do
    job=$(submit "rechunk-$stage" "rechunk run plan.json --stage $stage --part \$AWS_BATCH_JOB_ARRAY_INDEX/$shares --quiet" \
        --array-properties "size=$shares" "${after[@]}")
    after=(--depends-on "jobId=$job")
done
submit rechunk-finish "rechunk run plan.json --finish" "${after[@]}"
