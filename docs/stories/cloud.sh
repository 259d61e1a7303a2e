#!/bin/sh
# A terabyte in a bucket: what memory and which plan, before a machine is rented. Nothing is read or
# written; the shapes are all that is needed.
#
#   docs/stories/cloud.sh [PROFILE.json]
#
# The prices and speeds of stores are built-in round figures, or those of a profile that `rechunk probe
# s3://BUCKET/prefix --out PROFILE.json` has measured.
set -eu
profile=${1:+--profile $1}

# Ten years of hourly fields, float32: 87 600 x 1 440 x 2 160 is 1 TB. Chunks of a day, wanted as series.
plan() {
    # shellcheck disable=SC2086 # an option and its value
    rechunk plan --shape 87600,1440,2160 --dtype float32 --source-chunks 24,720,1080 \
        --chunks 8760,24,24 --threads 8 --source-profile s3 --temp-profile s3 --target-profile s3 \
        $profile "$@"
}

echo "== With what memory does it get cheaper?"
for memory in 1GB 2GB 4GB 8GB 16GB 32GB; do
    printf '%5s  ' "$memory"
    plan --max-mem "$memory" --json | "${PYTHON:-python3}" -c '
import json, sys
report = json.load(sys.stdin)
plan, estimate = report["plan"], report["estimate"]
parts = [estimate[role] for role in ("source", "intermediate", "target")]
gets, puts = (sum(part[name] for part in parts) for name in ("get_requests", "put_requests"))
print("{:<10} {:>9,} GET {:>9,} PUT".format(plan["kind"], gets, puts))'
done

echo "== The plan with 8 GB, with its money and hours"
plan --max-mem 8GB
