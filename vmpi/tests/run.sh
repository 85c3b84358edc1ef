#!/bin/sh
# Runs the tests of vmpi. Argument: the build folder. The same programs also run on Open MPI when mpicc is there, which
# shows that they test MPI and not vmpi.
set -u
build=$1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# Another MPI may come first under the plain names; Debian has Open MPI's under these, too.
for tool in mpicc mpicxx mpif90 mpirun; do
    if command -v $tool.openmpi >/dev/null; then eval "$tool() { $tool.openmpi \"\$@\"; }"; fi
done

# One-sided calls without single copies, which need rights that containers lack; Open MPI 5 has no pt2pt.
# Its version stands behind "(Open MPI)" or, where the program is called mpirun.openmpi, behind "(OpenRTE)".
case $(mpirun --version 2>/dev/null) in *") "[1-4].*) windows=pt2pt,sm ;; *) windows=rdma,sm ;; esac

. tests/report.sh

for test in messages collectives nonblocking neighbours types windows calls; do
    for ranks in 2 3 8 300; do
        "$build/test-$test" -np $ranks
        report "$test on $ranks virtual ranks" $?
    done
    if [ $test = windows ] && [ $windows = rdma,sm ]; then
        echo "skip $test on Open MPI 5 (on Debian 13 it does not end)"
    elif command -v mpicc >/dev/null && command -v mpirun >/dev/null; then
        mpicc -o "$build/openmpi-$test" "tests/$test.c" && \
            mpirun --oversubscribe --mca btl_vader_single_copy_mechanism none --mca osc $windows -np 5 "$build/openmpi-$test"
        report "$test on 5 Open MPI processes" $?
    else
        echo "skip $test on Open MPI (no mpicc)"
    fi
done

misuse() { # name, status, text
    expect "misuse $1" "$2" "$3" "$build/test-misuse" -np 3 "$1"
}
misuse deadlock 71 "rank 0 in MPI_Recv for a message from rank 1, tag 77, communicator 0"
misuse deadlock 71 "rank 1 in MPI_Barrier on communicator 0"
misuse unsupported 70 "rank 0 in MPI_Comm_spawn: vmpi does not support this call in "
misuse unsupported 70 "tests/misuse.c:20"
misuse truncation 70 "a message of 8 bytes from rank 1 with tag 4 exceeds a receive of 4 bytes by rank 0"
misuse mismatch 70 "rank 0 is in MPI_Bcast"
misuse peer 70 "rank 1000000 is not in a communicator of 3 ranks"

# Repeatable: two records of one run are the same bytes, and count what the program sends:
# collectives.c sends no point-to-point message, so the record is its 32-byte head and nothing else.
"$build/test-messages" -record "$build/a.record" -np 8 && "$build/test-messages" -record "$build/b.record" -np 8
cmp "$build/a.record" "$build/b.record"
report "the record is repeatable" $?
"$build/test-collectives" -record "$build/c.record" -np 8
[ "$(wc -c <"$build/c.record")" -eq 32 ]
report "collectives are not messages" $?

# Programs as they are, by vmpicc, vmpicxx and vmpirun.
VMPI_BUILD=$build
export VMPI_BUILD
bin/vmpicxx -o "$build/plain" tests/plain.cc
[ "$(bin/vmpirun -n 12 -per-node 4 "$build/plain")" = "12 ranks, 4 on a node, sum 66" ]
report "a C++ program as it is" $?
bin/vmpicc -c -o "$build/calls.o" tests/calls.c && bin/vmpicc -o "$build/calls" "$build/calls.o" && bin/vmpirun -n 7 "$build/calls"
report "a C program in two steps" $?
bin/vmpicc -g -o "$build/handles" tests/handles.c
for ranks in 2 3 8 300; do
    bin/vmpirun -n $ranks "$build/handles"
    report "handles on $ranks virtual ranks" $?
done
if command -v mpicc >/dev/null && command -v mpirun >/dev/null; then
    mpicc -o "$build/openmpi-handles" tests/handles.c && \
        mpirun --oversubscribe --mca btl_vader_single_copy_mechanism none --mca osc $windows -np 5 "$build/openmpi-handles"
    report "handles on 5 Open MPI processes" $?
fi
bin/vmpicxx -g -o "$build/private" tests/private.cc
for ranks in 2 7 300; do
    bin/vmpirun -n $ranks "$build/private" -a -b 5
    report "variables are private to each of $ranks ranks" $?
done
bin/vmpicc -o "$build/crossing" tests/crossing.c && [ -z "$(bin/vmpirun -n 3 "$build/crossing")" ]
report "messages into large variables of a rank that waits" $?
bin/vmpicc -o "$build/shared" tests/shared.c && [ -z "$(bin/vmpirun -n 2 "$build/shared")" ] &&
    VMPI_GLOBALS=shared bin/vmpicc -o "$build/shared" tests/shared.c && [ "$(bin/vmpirun -n 2 "$build/shared")" = "shared: 6" ]
report "and shared if the user says so" $?
bin/vmpicc -DTHREAD -o "$build/shared" tests/shared.c 2>"$build/shared.txt"
[ $? -eq 1 ] && [ ! -e "$build/shared" ] && grep -q '^    counted_by_thread$' "$build/shared.txt"
report "thread-local variables are refused by name" $?
bin/vmpicc -g -o "$build/misuse" tests/misuse.c 2>"$build/missing.txt"
grep -q 'tests/misuse.c:[0-9]*:.* warning: vmpi does not support MPI_Comm_spawn' "$build/missing.txt"
report "the linker names the line of a missing call" $?

# What LULESH, HPCG and miniAMR do between ranks, in programs of our own: all bits as on Open MPI.
for app in shock.cc gradients.cc blocks.c; do
    name=${app%.*}
    case $app in *.cc) compiler=mpicxx ours=bin/vmpicxx ;; *) compiler=mpicc ours=bin/vmpicc ;; esac
    "$ours" -O1 -g -o "$build/$name" "tests/apps/$app" && virtual=$(bin/vmpirun -n 8 "$build/$name")
    report "$name on 8 virtual ranks: $virtual" $?
    if command -v "$compiler" >/dev/null && command -v mpirun >/dev/null; then
        "$compiler" -O1 -DOMPI_SKIP_MPICXX -o "$build/openmpi-$name" "tests/apps/$app" && real=$(mpirun --oversubscribe --mca btl_vader_single_copy_mechanism none -np 8 \
            "$build/openmpi-$name") && [ "$real" = "$virtual" ]
        report "$name has the same bits on Open MPI" $?
    fi
done

# Fortran: the same program on both, by the module mpi; mpif.h in fixed form.
bin/vmpif90 -g -J "$build" -o "$build/conjugate" tests/conjugate.f90
for ranks in 1 2 5 100; do
    bin/vmpirun -n $ranks "$build/conjugate" >/dev/null
    report "Fortran on $ranks virtual ranks" $?
done
if command -v mpif90 >/dev/null && command -v mpirun >/dev/null; then
    mpif90 -J "$build" -o "$build/openmpi-conjugate" tests/conjugate.f90 && mpirun --oversubscribe --mca btl_vader_single_copy_mechanism none -np 5 \
        "$build/openmpi-conjugate" >/dev/null
    report "Fortran on 5 Open MPI processes" $?
fi
bin/vmpif90 -o "$build/fixed" tests/fixed.f && [ "$(bin/vmpirun -n 7 "$build/fixed")" = "sum 210" ]
report "Fortran with mpif.h" $?
# Ranks draw in turns; each has the numbers of a process of its own.
bin/vmpif90 -o "$build/random" tests/random.f90 && bin/vmpirun -n 5 "$build/random" | sort >"$build/random.txt" &&
    for rank in 0 1 2 3 4; do bin/vmpirun -n 1 "$build/random" $rank; done | sort | diff "$build/random.txt" -
report "Fortran's random numbers are each rank's own" $?
if command -v mpif90 >/dev/null && command -v mpirun >/dev/null; then
    mpif90 -o "$build/openmpi-random" tests/random.f90 && mpirun --oversubscribe --mca btl_vader_single_copy_mechanism none -np 5 \
        "$build/openmpi-random" | sort | diff "$build/random.txt" -
    report "and those of Open MPI's processes" $?
fi

# The trace of a program of known calls, but for the times.
bin/vmpicc -o "$build/traced" tests/traced.c && bin/vmpirun -n 4 -trace "$build/traced.trace" "$build/traced" free &&
    grep '^1 ' "$build/traced.trace" | grep -v compute | cut -d' ' -f2- | diff - tests/traced.txt
report "a trace names communicators" $?
# What a rank serves in a barrier stands before the barrier, since its partner waits for it. What is cancelled is not there.
bin/vmpicc -o "$build/served" tests/served.c && bin/vmpirun -n 2 -trace "$build/served.trace" "$build/served" &&
    printf '1 %s\n' init 'irecv 0 4 4 2' 'send 0 6 4 2' 'isend 0 2147480001 4 2' barrier 'wait 0 1 4' 'wait 1 0 2147480001' \
        finalize >"$build/served.txt" && grep '^1 ' "$build/served.trace" | grep -v compute | diff - "$build/served.txt"
report "a trace has one-sided calls where they are served, and nothing that is cancelled" $?

# The recorder on Open MPI writes the same calls as vmpi. Where messages of any rank or the first finished request are
# taken, the order may differ.
same() { # name, ranks, order
    bin/vmpicc -o "$build/$1" "tests/$1.c" 2>/dev/null &&
        bin/vmpirun -n "$2" -per-node "$2" -trace "$build/$1.trace" "$build/$1" >/dev/null && mpicc -o "$build/openmpi-$1" "tests/$1.c" &&
        mpirun --oversubscribe --mca btl_vader_single_copy_mechanism none --mca osc $windows -np "$2" \
            -x LD_PRELOAD="$preload" -x ODONATA_TRACE="$build/$1.recorded" "$build/openmpi-$1" &&
        python3 tests/same_calls.py "$build/$1.trace" "$build/$1.recorded" ${3-}
    report "the recorder writes the calls of $1 on $2 ranks" $?
}
preload=$(cd "$build" && pwd)/libodonata-pmpi.so
if command -v mpicc >/dev/null && command -v mpirun >/dev/null && make -s recorder BUILD="$build"; then
    same traced 4
    for test in collectives types; do same $test 5; done
    for test in messages nonblocking neighbours calls; do same $test 5 free; done
    if command -v mpif90 >/dev/null; then
        bin/vmpirun -n 5 -trace "$build/conjugate.trace" "$build/conjugate" >/dev/null &&
            mpirun --oversubscribe --mca btl_vader_single_copy_mechanism none -np 5 -x LD_PRELOAD="$preload" \
                -x ODONATA_TRACE="$build/conjugate.recorded" "$build/openmpi-conjugate" >/dev/null &&
            python3 tests/same_calls.py "$build/conjugate.trace" "$build/conjugate.recorded"
        report "the recorder writes the calls of a Fortran program" $?
    fi
else
    echo "skip the recorder (no mpicc)"
fi

# Both forms of a call have the same trace. MPI4=FOLDER: an MPI-4 like MPICH's (pip install mpich), with its bin/mpicc.
large() { # name, compiler's options, arguments
    "$MPI4/bin/mpicc" $2 -o "$build/large-$1" tests/large.c &&
        "$MPI4/bin/mpiexec" -n 5 -genv LD_PRELOAD "$here/libodonata-pmpi-4.so" -genv ODONATA_TRACE "$build/$1.recorded" \
            "$build/large-$1" ${3-}
}
if [ -n "${MPI4-}" ]; then
    here=$(cd "$build" && pwd)
    make -s "$build/libodonata-pmpi-4.so" BUILD="$build" MPICC="$MPI4/bin/mpicc" && large int "" && large count -DLARGE &&
        python3 tests/same_calls.py "$build/int.recorded" "$build/count.recorded"
    report "the recorder writes the calls with large counts" $?
    large count -DLARGE receive && grep -q '^1 irecv 1 7 3221225472 2$' "$build/count.recorded.1"
    report "the recorder counts 3 GiB" $?
else
    echo "skip calls with large counts (MPI4=FOLDER of an MPI-4)"
fi
exit $((failures > 0))
