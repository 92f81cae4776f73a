#!/bin/sh
# How a job of Slurm stands, by its number: running, success or failed. Write the like for another
# scheduler, and name it in config.yaml. A scheduler that does not answer has not lost the job.
state=$(squeue --noheader --states=all --format=%T --jobs="$1" 2>&1) || case "$state" in
*"Invalid job id"*) state= ;;
*) state=UNKNOWN ;;
esac
if [ -z "$state" ]; then # squeue has forgotten the job
    state=$(sacct --noheader --allocations --parsable2 --format=State --jobs="$1" 2>/dev/null | head -n 1)
fi
case "$state" in
COMPLETED) echo success ;;
"" | BOOT_FAIL | CANCELLED* | DEADLINE | FAILED | NODE_FAIL | OUT_OF_MEMORY | PREEMPTED | REVOKED | TIMEOUT) echo failed ;;
*) echo running ;;
esac
