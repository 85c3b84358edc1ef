/* The process: vmpi's own options, start and end.
 *
 *   PROGRAM -np RANKS [-per-node RANKS] [-record FILE] [-trace FILE] [-stack KIB] [-dims openmpi|mpich] [--] ARGUMENTS
 *
 * Without -np all arguments are the program's, which is then a world of one rank: configure runs its programs so.
 * Exit status: the largest status of the ranks' mains; 70 for a misuse of MPI or an unsupported call, 71 for a deadlock. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

#define MOST_RANKS 1000000

static long number(const char *option, const char *text, long least, long most)
{
    char *end;
    long value = text ? strtol(text, &end, 10) : 0;
    if (!text || *end || value < least || value > most) {
        fprintf(stderr, "vmpi: %s expects an integer from %ld to %ld, got '%s'\n", option, least, most,
                text ? text : "");
        exit(2);
    }
    return value;
}

/* Large allocations have their own pages. So memory that a rank frees returns to the system, and unwritten zeros take no
 * memory. glibc would stop this after the first free: hypre's set-up of 27,000 unknowns on each of 64 ranks would take
 * 226 bytes per unknown instead of 202. Stacks also need mappings, two per rank, of the number that Linux allows a
 * process (vm.max_map_count). A larger threshold gives less memory back to the system. */
static void give_back_memory(int ranks)
{
#ifdef __GLIBC__
    enum { LARGE = 64 * 1024, PIECES = 60000 };
    mallopt(M_MMAP_THRESHOLD, LARGE);
    mallopt(M_MMAP_MAX, ranks < PIECES / 2 ? PIECES - 2 * ranks : 0);
#else
    (void)ranks;
#endif
}

static int has_ranks(int argc, char **argv)
{
    for (int i = 1; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0; i += 2)
        if (strcmp(argv[i], "-np") == 0)
            return 1;
    return 0;
}

int vmpi_start(int argc, char **argv)
{
    int ranks = 0, used = 1;
    long stack_kib = 8192; /* Linux's default; only what is touched takes memory */
    const char *record = NULL, *trace = NULL;
    while (used < argc && has_ranks(argc, argv)) {
        const char *value = used + 1 < argc ? argv[used + 1] : NULL;
        if (strcmp(argv[used], "-np") == 0)
            ranks = (int)number("-np", value, 1, MOST_RANKS);
        else if (strcmp(argv[used], "-stack") == 0)
            stack_kib = number("-stack", value, 64, 1 << 20);
        else if (strcmp(argv[used], "-per-node") == 0)
            vmpi_per_node = (int)number("-per-node", value, 1, MOST_RANKS);
        else if (strcmp(argv[used], "-record") == 0 && value)
            record = value;
        else if (strcmp(argv[used], "-trace") == 0 && value)
            trace = value;
        else if (strcmp(argv[used], "-dims") == 0 && value)
            vmpi_dims_choose(value);
        else
            break;
        used += 2;
    }
    if (ranks > 0 && used < argc && strcmp(argv[used], "--") == 0)
        used++;
    if (ranks == 0)
        ranks = 1;
    argv[used - 1] = argv[0];
    vmpi_process_start((size_t)stack_kib * 1024);
    give_back_memory(ranks);
    vmpi_communicators_start(ranks);
    if (record)
        vmpi_record_open(record, ranks);
    if (trace)
        vmpi_trace_open(trace);
    int status = vmpi_schedule(ranks, (size_t)stack_kib * 1024, argc - used + 1, argv + used - 1);
    vmpi_record_close();
    vmpi_trace_close();
    return status;
}
