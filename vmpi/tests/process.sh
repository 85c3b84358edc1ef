#!/bin/sh
# The compilers and the process as configure scripts, make, CMake and users meet them. Argument: the build folder.
set -u
build=$1
VMPI_BUILD=$(cd "$build" && pwd)
export VMPI_BUILD
. tests/report.sh
bin=$(pwd)/bin work=$build/process
rm -rf "$work"
mkdir -p "$work"
run="timeout 20 $bin/vmpirun"
lines() { sort -u | tr '\n' ' '; }

bin/vmpicc -g -o "$work/a" tests/process.c || exit 1
expect "without vmpirun a world of one rank" 0 "0 of 1, serialized" "$work/a"
expect "the program's own -stack without vmpirun" 0 "0 of 1" "$work/a" x -stack 5
expect "MPI_THREAD_FUNNELED is given" 0 "funneled" $run -n 2 "$work/a" funneled
[ "$($run -n 2 "$work/a" poll | lines)" = "0 1 " ]
report "unsuccessful polls are no deadlock" $?
[ "$($run -n 4 "$work/a" sleep | lines)" = "together " ]
report "ranks sleep at the same time" $?
[ "$($run -n 4 "$work/a" environment | lines)" = "own " ]
report "each rank has its own environment" $?
[ "$($run -n 3 "$work/a" all | wc -l)" -eq 3 ]
report "exit after MPI_Finalize ends one rank" $?
for case in "exit 3 exit(3)" "_exit 70 _exit(0)" "return 4 return(4)"; do
    set -- $case
    expect "$1 without MPI_Finalize is reported" "$2" "vmpi: rank 2 ended by $3 without MPI_Finalize" \
        $run -n 3 -trace "$work/trace" "$work/a" "$1"
    [ -s "$work/trace" ]
    report "and the trace is kept" $?
done
expect "a fault names rank and call" 139 "vmpi: rank 2 after MPI_Comm_size: SIGSEGV" $run -n 3 "$work/a" fault
[ "$($run -n 3 "$work/a" fault 2>/dev/null | wc -l)" -eq 3 ]
report "and keeps what was printed" $?
expect "the default stack takes a frame of 4 MiB" 0 "" $run -n 2 "$work/a" overflow
expect "a small stack names -stack" 139 "the stack of 512 KiB is too small: give a larger one with -stack KIB" \
    $run -n 2 -stack 512 "$work/a" overflow

printf '#include <mpi.h>\n#include <stdio.h>\nint main(void) { int d[3] = {0}, e[2] = {0}; MPI_Init(0, 0); MPI_Dims_create(4608, 3, d);\n' >"$work/dims.c"
printf 'MPI_Dims_create(72, 2, e); printf("%%d %%d %%d, %%d %%d", d[0], d[1], d[2], e[0], e[1]); MPI_Finalize(); return 0; }\n' >>"$work/dims.c"
bin/vmpicc -o "$work/dims" "$work/dims.c"
expect "MPI_Dims_create like Open MPI" 0 "24 16 12, 12 6" $run -n 2 "$work/dims"
expect "and like MPICH" 0 "18 16 16, 9 8" $run -n 2 -dims mpich -trace "$work/trace" "$work/dims"
grep -q "0 location MPI_Dims_create:mpich 0" "$work/trace"
report "the trace says which" $?

# make and CMake set CC to the wrapper.
cp tests/process.c "$work/b.c"
(cd "$work" && PATH=$bin:$PATH timeout 20 make -s CC=vmpicc b.o)
report "make CC=vmpicc does not recurse" $?
[ "$(bin/vmpicc -show -c x.c | cut -d' ' -f1)" = cc ] && bin/vmpicc -showme:link | grep -q -- -lvmpi &&
    bin/vmpicc -showme:compile | grep -q -- -I
report "-show and -showme" $?
# shellcheck disable=SC2046
cc $(bin/vmpicc -showme:compile) -o "$work/c" tests/process.c $(bin/vmpicc -showme:link) &&
    [ "$($run -n 4 "$work/c" environment | lines)" = "own " ]
report "another compiler with their flags" $?
printf '#include <mpi.h>\nint size(MPI_Comm c);\nint size(MPI_Comm c) { int n; MPI_Comm_size(c, &n); return n; }\n' >"$work/size.c"
printf '#include <mpi.h>\n__attribute__((constructor)) static void early(void) { int n; MPI_Initialized(&n); }\n' >>"$work/size.c"
printf '#include <mpi.h>\nint size(MPI_Comm);\nint main(void) { MPI_Init(0, 0); int n = size(MPI_COMM_WORLD); MPI_Finalize(); return n; }\n' >"$work/main.c"
bin/vmpicc -shared -fPIC -o "$work/libsize.so" "$work/size.c" &&
    bin/vmpicc -o "$work/main" "$work/main.c" -L"$work" -lsize -Wl,-rpath,"$(cd "$work" && pwd)"
expect "a shared library that asks MPI_Initialized before main" 5 "" $run -n 5 "$work/main"
if command -v cmake >/dev/null; then
    mkdir "$work/cmake"
    printf 'cmake_minimum_required(VERSION 3.13)\nproject(p C)\nfind_package(MPI REQUIRED)\nadd_executable(p main.c)\ntarget_link_libraries(p MPI::MPI_C)\n' >"$work/cmake/CMakeLists.txt"
    cp tests/process.c "$work/cmake/main.c"
    (cd "$work/cmake" && cmake -DMPI_C_COMPILER="$bin/vmpicc" . && make) >"$work/cmake.log" 2>&1
    expect "CMake finds MPI" 0 "0 of 1" "$work/cmake/p"
    (cd "$work/cmake" && rm -rf CMakeCache.txt CMakeFiles && timeout 60 cmake -DCMAKE_C_COMPILER="$bin/vmpicc" . && make) >"$work/cmake.log" 2>&1
    expect "CMake compiles with it" 0 "0 of 1" "$work/cmake/p"
else
    echo "skip CMake (not installed)"
fi
exit $((failures > 0))
