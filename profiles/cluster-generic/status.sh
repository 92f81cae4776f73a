#!/bin/sh
# How a job of Slurm stands, by its number: running, success or failed. Write the like for another
# scheduler, and name it in config.yaml. A scheduler that does not answer has not lost the job.
answer=$(squeue --noheader --states=all --format=%T --jobs="$1" 2>&1) || case "$answer" in
*"Invalid job id"*) answer= ;;
*) answer=UNKNOWN ;;
esac
# A warning beside the state is left out.
state=$(echo "$answer" | grep -x '[A-Z_][A-Z_]*' | head -n 1)
if [ -z "$state" ]; then # squeue has forgotten the job
    state=$(sacct --noheader --allocations --parsable2 --format=State --jobs="$1" 2>/dev/null | head -n 1)
fi
case "$state" in
COMPLETED) echo success ;;
"" | BOOT_FAIL | CANCELLED* | DEADLINE | FAILED | NODE_FAIL | OUT_OF_MEMORY | PREEMPTED | REVOKED | TIMEOUT) echo failed ;;
*) echo running ;;
esac
