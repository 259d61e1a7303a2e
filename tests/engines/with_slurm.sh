#!/usr/bin/env bash
# Starts a Slurm of its own, on this machine and loopback, runs a command with it, and ends it. Needs root, and Debian's
# slurm-wlm and munge. The command has SLURM_CONF, and SLURM_HERE: a directory that is removed in the end, whose bin/ is
# the first on PATH.
#
#   with_slurm.sh COMMAND…
set -euo pipefail
for needed in slurmctld slurmd munged sbatch; do
    command -v "$needed" >/dev/null || PATH=$PATH:/usr/sbin
    command -v "$needed" >/dev/null || {
        echo "with_slurm.sh: there is no $needed: apt-get install --no-install-recommends slurm-wlm munge" >&2
        exit 2
    }
done
[ "$(id -u)" = 0 ] || { echo "with_slurm.sh: only root can start a Slurm" >&2; exit 2; }

here=$(mktemp -d)
export SLURM_CONF=$here/slurm.conf SLURM_HERE=$here PATH=$here/bin:$PATH
mkdir -p "$here"/{bin,state,spool,log}
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
    [ -z "$munged" ] || kill "$(cat /run/munge/munged.pid)" || true
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

"$@"
