#!/bin/sh
# Small programs that users reported, from a folder outside this project: $ODONATA_SHARED/data/findings/vmpi. Without it
# they are skipped; process.sh and calls.c test the same things. Each runs plainly and with a trace. Argument: the build folder.
set -u
folder=${ODONATA_SHARED:-}/data/findings/vmpi
if [ ! -d "$folder" ]; then
    echo "skip the reported programs (ODONATA_SHARED is not set)"
    exit 0
fi
build=$(cd "$1" && pwd)
export VMPI_BUILD="$build"
. tests/report.sh
bin=$(pwd)/bin work=$build/findings
rm -rf "$work"
mkdir -p "$work"

# program NAME FILE [compiler's arguments]: compiles it.
program() {
    name=$1 source=$folder/$1/$2
    shift 2
    case $source in *.cc) compiler=vmpicxx ;; *.f90) compiler=vmpif90 ;; *) compiler=vmpicc ;; esac
    "$bin/$compiler" -g -w -o "$work/$name" "$source" "$@" 2>"$work/$name.log" || { report "$name compiles" 1; return 1; }
}

# shows NAME STATUS TEXT VMPIRUN'S-OPTIONS -- ARGUMENTS: plainly and with a trace, by the sorted lines that it prints.
shows() {
    name=$1 wanted=$2 text=$3 options=
    shift 3
    while [ $# -gt 0 ] && [ "$1" != -- ]; do options="$options $1"; shift; done
    [ $# -eq 0 ] || shift
    for trace in "" "-trace $work/$name.trace"; do
        # shellcheck disable=SC2086
        output=$(timeout 60 "$bin/vmpirun" $options $trace "$work/$name" "$@" 2>&1)
        status=$?
        case $(printf '%s' "$output" | sort | tr '\n' '|') in
        *"$text"*) [ $status -eq "$wanted" ] ;;
        *) false ;;
        esac || { echo "  status $status: $output"; false; }
        report "$name $*${trace:+, traced}" $?
    done
}

program accumulate-derived acc.c && shows accumulate-derived 0 "10 0 14 0" -n 2
program big-stack stack.c && shows big-stack 0 "rank 0: 4.99995e+09|rank 1: 5.00005e+09" -n 2
program cart-0d cart.c && shows cart-0d 0 "0-d: topology MPI_CART, 0 dimensions, 1 ranks" -n 3
program cxx-rethrow rethrow.cc && shows cxx-rethrow 0 "0 ranks" -n 4
program dims-create dims.c && shows dims-create 0 "72: 12 x 6" -n 1 && shows dims-create 0 "4608: 72 x 64; 18 x 16 x 16" -n 1 -dims mpich &&
    shows dims-create 0 "72: 9 x 8" -n 1 -dims mpich && shows dims-create 0 "504: 24 x 21" -n 1 -dims mpich
program dims-zero dims.c && shows dims-zero 0 "no dimensions" -n 1
program dist-graph-empty graph.c && shows dist-graph-empty 0 "weighted 1|general, MPI_UNWEIGHTED: weighted 0|general, MPI_WEIGHTS_EMPTY: weighted 1" -n 1
program environment setenv.c && shows environment 0 "rank 3 done" -n 4
program errors-return errors.c && shows errors-return 0 "class is MPI_ERR_RANK|handler is MPI_ERRORS_RETURN|text of MPI_ERR_TRUNCATE" -n 1
program exit-one-rank exit.c && {
    shows exit-one-rank 0 "rank 0 of 3: sum 3|rank 1 of 3: sum 3|rank 2 of 3: sum 3" -n 3 -- finalize-exit
    shows exit-one-rank 70 "rank 1 ended by exit(0)" -n 3 -- exit0
    shows exit-one-rank 3 "rank 1 ended by exit(3)" -n 3 -- exit3
    shows exit-one-rank 70 "rank 1 ended by _exit(0)" -n 3 -- _exit0
    shows exit-one-rank 70 "rank 1 ended by return(0)" -n 3 -- return0
    shows exit-one-rank 3 "rank 1 ended by return(3)" -n 3 -- return3
}
for which in 1 2 3 4 5 6 7 8; do
    program fortran-names tagub.f90 -cpp -DWHICH=$which && shows fortran-names 0 "" -n 1
done
program free-while-pending free.c && for what in type op comm icomm request; do
    shows free-while-pending 0 "$what: got" -n 3 -- $what
done
program group-empty empty.c && shows group-empty 0 "difference with itself: MPI_GROUP_EMPTY|excl of all: MPI_GROUP_EMPTY|incl of none: MPI_GROUP_EMPTY" -n 1
program init-thread thread.c && shows init-thread 0 "level 1 of asked 1" -n 2
"$bin/vmpicc" -shared -fPIC -o "$work/libie.so" "$folder/initialized-early/lib.c"
program initialized-early main.c -L"$work" -lie -Wl,-rpath,"$work" && shows initialized-early 0 "before main: 0" -n 2
(cp "$folder"/make-cc/* "$work" && cd "$work" && PATH=$bin:$PATH timeout 20 make -s CC=vmpicc hello.o)
report "make-cc" $?
program missing-calls missing.c && for call in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 19 20 21 22 23; do
    shows missing-calls 1 "call $call is there" -n 2 -- $call
done
shows missing-calls 70 "vmpi does not support this call" -n 2 -- 18
"$bin/vmpicc" -c -o "$work/sum.o" "$folder/mixed-fortran-c/sum.c"
program mixed-fortran-c main.f90 "$work/sum.o" && shows mixed-fortran-c 0 "sum 3" -n 3
program pmpi pmpi.c && shows pmpi 0 "rank 0 sent 1|rank 1 sent 0" -n 2
program poll-while-working poll.c && shows poll-while-working 0 "rank 0 got 1|rank 1 got 0" -n 2 -- iprobe &&
    shows poll-while-working 0 "rank 0 got 1|rank 1 got 0" -n 2 -- test
program probe-null probe.c && shows probe-null 0 "Iprobe: flag 1, source MPI_PROC_NULL|Probe: source MPI_PROC_NULL, tag MPI_ANY_TAG, count 0" -n 1
program rma-lock-loop lock.c && shows rma-lock-loop 0 "last 99" -n 2
program segfault seg.c && shows segfault 139 "vmpi: rank 1 after MPI_Comm_rank: SIGSEGV" -n 3
program self-attribute finalize.c && shows self-attribute 0 "clean-up of a library|end" -n 1
program sequential-sleep sleep.c && shows sequential-sleep 0 "1.0 s" -n 4
"$bin/vmpicc" -shared -fPIC -o "$work/libtotal.so" "$folder/shared-library/lib.c"
program shared-library main.c -L"$work" -ltotal -Wl,-rpath,"$work" && shows shared-library 0 "rank 2: sum 3" -n 3
program singleton hello.c && expect "singleton" 0 "a world of 1" "$work/singleton"
program trace-reduce-scatter rs.c && shows trace-reduce-scatter 0 "rank 3: 18, expected 18" -n 4
program trace-wait-after-free wait.c && shows trace-wait-after-free 0 "got 1" -n 2 && {
    grep -n wait "$work/trace-wait-after-free.trace" | tail -1 | cut -d: -f1 >"$work/wait"
    [ "$(cat "$work/wait")" -lt "$(grep -n "comm_free" "$work/trace-wait-after-free.trace" | tail -1 | cut -d: -f1)" ]
    report "trace-wait-after-free waits before the communicator is freed" $?
}
program type-free-null null.c && shows type-free-null 0 "group is MPI_GROUP_NULL|op is MPI_OP_NULL|type is MPI_DATATYPE_NULL" -n 1
program type-memory types.c && shows type-memory 0 "1 MB at most" -n 1 -- transpose && shows type-memory 0 "1 MB at most" -n 1 -- contiguous
exit $((failures > 0))
