#!/bin/sh
# How a job of Slurm stands, by its number: running, success or failed. Write the like for another
# scheduler, and name it in config.yaml.
state=$(squeue --noheader --states=all --format=%T --jobs="$1" 2>/dev/null | head -n 1)
if [ -z "$state" ]; then # squeue has forgotten the job
    state=$(sacct --noheader --allocations --parsable2 --format=State --jobs="$1" 2>/dev/null | head -n 1)
fi
case "$state" in
COMPLETED) echo success ;;
PENDING | CONFIGURING | RUNNING | COMPLETING | SUSPENDED | REQUEUED | RESIZING | STOPPED) echo running ;;
*) echo failed ;;
esac
