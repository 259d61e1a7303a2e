#!/usr/bin/env bash
# Runs docs/engines/slurm.sh on a Slurm of its own, on this machine and loopback: a plan of a real array in two stages,
# as it should be, and with a part that is killed. Needs root, and Debian's slurm-wlm and munge. A minute.
#
#   slurm.sh [PROGRAM]     the rechunk that the jobs run [target/release/rechunk]
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
program=$(realpath "${1:-target/release/rechunk}")
[ -n "${SLURM_HERE:-}" ] || exec tests/engines/with_slurm.sh tests/engines/slurm.sh "$program"
here=$SLURM_HERE
ln -s "$program" "$here/bin/rechunk"

# Waits until for five seconds no job is left but those that wait for others.
settle() {
    local quiet=0
    for _ in $(seq 180); do
        if [ -n "$(squeue -h -o %r | grep -v Dependency)" ]; then quiet=0; else quiet=$((quiet + 1)); fi
        [ "$quiet" -lt 5 ] || return 0
        sleep 1
    done
    squeue >&2
    exit 1
}

# Plans the copy of a real array in two stages to a place here.
plan() {
    rechunk plan "$root/fixtures/ostia_monthly.zarr/surface_temperature" "$here/$1" --chunks=-1,6,6 --strategy push-pull \
        --max-mem 24MiB --workers 4 --out "$here/plan.json" --quiet
}
# Has Slurm do it, and waits.
run() {
    bash "$root/docs/engines/slurm.sh" "$here/plan.json" 4 --output="$here/log/%x-%a.txt" --chdir="$here"
    settle
}
check() { rechunk verify "$root/fixtures/ostia_monthly.zarr/surface_temperature" "$here/$1"; }

echo "--- every part does what it should"
plan t.zarr
run
check t.zarr

echo "--- a part is killed: what depends on it waits for ever, is cancelled, and all is begun again"
plan u.zarr
# Whoever is the first to do share 2 of stage 0 dies.
rm "$here/bin/rechunk"
cat >"$here/bin/rechunk" <<PROGRAM
#!/bin/sh
case "\$*" in *"--stage 0 --part 2/4"*) mkdir "$here/killed" 2>/dev/null && kill -9 \$\$ ;; esac
exec "$program" "\$@"
PROGRAM
chmod +x "$here/bin/rechunk"
run
[ -d "$here/killed" ] && squeue -h -o %r | grep -q DependencyNeverSatisfied
scancel -u root
settle
run
check u.zarr
echo "Slurm: all passed"
