#!/bin/sh
# Slurm: `submit NAME CPUS MEGABYTES MINUTES SCRIPT` prints the number of the job, and
# `status NUMBER` prints running, success or failed, and why it failed where that is known.
if [ "$1" = submit ]; then
    mkdir -p results/logs/cluster
    exec sbatch --parsable --no-requeue --output=results/logs/cluster/%j.log \
        --job-name="$2" --cpus-per-task="$3" --mem="$4" --time="$5" "$6"
fi
# A scheduler that does not answer has not lost the job.
answer=$(squeue --noheader --states=all --format=%T --jobs="$2" 2>&1) || case "$answer" in
*"Invalid job id"*) answer= ;;
*) answer=UNKNOWN ;;
esac
# A warning beside the state is left out.
state=$(echo "$answer" | grep -x '[A-Z_][A-Z_]*' | head -n 1)
if [ -z "$state" ]; then # squeue has forgotten the job
    state=$(sacct --noheader --allocations --parsable2 --format=State --jobs="$2" 2>/dev/null | head -n 1)
fi
case "$state" in
COMPLETED) echo success ;;
"" | BOOT_FAIL | CANCELLED* | DEADLINE | FAILED | NODE_FAIL | OUT_OF_MEMORY | PREEMPTED | REVOKED | TIMEOUT)
    echo "Job $2 of Slurm: ${state:-not known any more}; see results/logs/cluster/$2.log" >&2
    grep -h -i -E 'oom.kill|exceeded memory limit|DUE TO' "results/logs/cluster/$2.log" >&2 2>/dev/null
    echo failed
    ;;
*) echo running ;;
esac
