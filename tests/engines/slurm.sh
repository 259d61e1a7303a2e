#!/usr/bin/env bash
# Runs docs/engines/slurm.sh on a Slurm of its own, on this machine and loopback: a plan of a real array in two stages,
# as it should be, and with a part that is killed. Needs root, and Debian's slurm-wlm and munge. A minute.
#
#   slurm.sh [PROGRAM]     the rechunk that the jobs run [target/release/rechunk]
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
program=$(realpath "${1:-target/release/rechunk}")
for needed in slurmctld slurmd munged sbatch; do
    command -v "$needed" >/dev/null || PATH=$PATH:/usr/sbin
    command -v "$needed" >/dev/null || {
        echo "slurm.sh: there is no $needed: apt-get install --no-install-recommends slurm-wlm munge" >&2
        exit 2
    }
done
[ "$(id -u)" = 0 ] || { echo "slurm.sh: only root can start a Slurm" >&2; exit 2; }

here=$(mktemp -d)
export SLURM_CONF=$here/slurm.conf PATH=$here/bin:$PATH
mkdir -p "$here"/{bin,state,spool,log}
ln -s "$program" "$here/bin/rechunk"
host=$(hostname -s)

install -d -o munge -g munge -m 755 /run/munge
if ! [ -s /etc/munge/munge.key ]; then
    head -c 1024 /dev/urandom >/etc/munge/munge.key
    chown munge: /etc/munge/munge.key
    chmod 400 /etc/munge/munge.key
fi
munged=""
if ! munge -n >/dev/null 2>&1; then
    su -s /bin/sh munge -c "$(command -v munged) --force"
    munged=yes
fi
cat >"$SLURM_CONF" <<CONF
ClusterName=rechunk
SlurmctldHost=$host(127.0.0.1)
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser=root
SlurmdUser=root
AuthInfo=cred_expire=5
StateSaveLocation=$here/state
SlurmdSpoolDir=$here/spool
SlurmctldPidFile=$here/slurmctld.pid
SlurmdPidFile=$here/slurmd.pid
SlurmctldLogFile=$here/log/slurmctld.log
SlurmdLogFile=$here/log/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SchedulerParameters=sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
stop() {
    scancel -u root 2>/dev/null || true
    scontrol shutdown 2>/dev/null || true
    [ -z "$munged" ] || pkill -u munge munged || true
    sleep 1
    rm -rf "$here"
}
trap stop EXIT
slurmctld -c
slurmd -N "$host"
for _ in $(seq 60); do
    sinfo -h -o %T 2>/dev/null | grep -q idle && break
    sleep 1
done
sinfo -h -o %T | grep -q idle || { tail "$here"/log/*.log >&2; exit 1; }

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
