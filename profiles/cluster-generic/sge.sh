#!/bin/sh
# Grid Engine: `submit NAME CPUS MEGABYTES MINUTES SCRIPT` prints the number of the job, and
# `status NUMBER` prints running, success or failed, and why it failed where that is known.
# `smp` is the parallel environment of one machine: `qconf -spl` lists those of your cluster.
logs=results/logs/cluster
if [ "$1" = submit ]; then
    mkdir -p "$logs"
    # The limit of memory is that of each processor.
    exec qsub -terse -cwd -V -S /bin/sh -j y -o "$logs/\$JOB_ID.log" -N "$2" -pe smp "$3" \
        -l "h_vmem=$(($4 / $3 + 1))M" -l "h_rt=$(($5 * 60))" "$6"
fi
if answer=$(qstat -j "$2" 2>&1); then
    case "$answer" in # a job that could not be started stays, in the state of an error
    *"error reason"*) echo "Job $2 of Grid Engine: $answer" | grep -E 'Job|error reason' >&2 && echo failed ;;
    *) echo running ;;
    esac
    exit
fi
case "$answer" in
*"do not exist"*) ;;
*) echo running && exit ;; # a scheduler that does not answer has not lost the job
esac
# The accounts tell how it ended, some time after its end.
if ! account=$(qacct -j "$2" 2>/dev/null); then
    touch -a "$logs/$2.asked"
    if [ -z "$(find "$logs/$2.asked" -mmin +5)" ]; then
        echo running
    else
        rm -f "$logs/$2.asked"
        echo "Job $2 of Grid Engine is not known any more; see $logs/$2.log" >&2
        echo failed
    fi
    exit
fi
rm -f "$logs/$2.asked"
if echo "$account" | grep -q -E '^failed +0( |$)' && echo "$account" | grep -q -E '^exit_status +0( |$)'; then
    echo success
else
    echo "Job $2 of Grid Engine failed; it had asked for what h_vmem and h_rt say; see $logs/$2.log:" >&2
    echo "$account" | grep -E '^(failed|exit_status|maxvmem|ru_wallclock|category)' >&2
    echo failed
fi
