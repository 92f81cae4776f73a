#!/bin/sh
# LSF: `submit NAME CPUS MEGABYTES MINUTES SCRIPT` prints the number of the job, and
# `status NUMBER` prints running, success or failed, and why it failed where that is known.
logs=results/logs/cluster
if [ "$1" = submit ]; then
    mkdir -p "$logs"
    answer=$(bsub -J "$2" -n "$3" -R "span[hosts=1] rusage[mem=${4}MB]" -M "${4}MB" -W "$5" \
        -o "$logs/%J.log" "$6") || exit
    echo "$answer" | sed -n 's/^Job <\([0-9]*\)>.*/\1/p'
    exit
fi
answer=$(bjobs -noheader -o stat "$2" 2>&1)
case "$answer" in
DONE*) echo success ;;
EXIT* | *"is not found"*)
    echo "Job $2 of LSF: $(bjobs -noheader -o exit_reason "$2" 2>&1); see $logs/$2.log" >&2
    echo failed
    ;;
*) echo running ;; # a scheduler that does not answer has not lost the job
esac
