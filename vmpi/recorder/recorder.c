/* Files and times of the recorder. ODONATA_TRACE is the name of the trace (default "trace"): a list of the files
 * NAME.RANK. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "recorder.h"

FILE *recorder_file;
int recorder_rank, recorder_depth;

static const char *name;
static int64_t left_ns, worked_ns;
enum { MISSED_MAX = 32, NAME_MAX_BYTES = 4096 };
static struct {
    const char *call;
    long long count;
} missed[MISSED_MAX];

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static _Noreturn void fail(const char *what, const char *of)
{
    fprintf(stderr, "odonata: rank %d: %s %s: %s\n", recorder_rank, what, of, strerror(errno));
    PMPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

void *recorder_alloc(void *old, size_t count, size_t size)
{
    void *room = realloc(old, count > 0 ? count * size : 1);
    if (!room)
        fail("no memory for", name);
    return room;
}

/* The list of files, relative to its own folder, as the reader takes them. */
static void write_list(int ranks)
{
    FILE *list = fopen(name, "w");
    if (!list)
        fail("cannot create", name);
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    for (int i = 0; i < ranks; i++)
        fprintf(list, "%s.%d\n", base, i);
    if (fclose(list) != 0)
        fail("cannot write", name);
}

void recorder_open(void)
{
    char path[NAME_MAX_BYTES];
    int ranks;
    PMPI_Comm_rank(MPI_COMM_WORLD, &recorder_rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    name = getenv("ODONATA_TRACE");
    name = name && *name ? name : "trace";
    if (snprintf(path, sizeof path, "%s.%d", name, recorder_rank) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        fail("cannot create", name);
    }
    recorder_file = fopen(path, "w");
    if (!recorder_file)
        fail("cannot create", path);
    /* A larger buffer writes less often, but a run that is killed loses more. */
    setvbuf(recorder_file, NULL, _IOFBF, 1 << 20);
    if (recorder_rank == 0)
        write_list(ranks);
    line_plain(recorder_place(0), "init");
    left_ns = now_ns();
}

void recorder_close(void)
{
    FILE *closed = recorder_file;
    recorder_file = NULL;
    if (closed && fclose(closed) != 0)
        fail("cannot write", name);
    for (int i = 0; closed && i < MISSED_MAX && missed[i].call; i++)
        fprintf(stderr, "odonata: rank %d: %lld calls of %s are not in the trace\n", recorder_rank, missed[i].count,
                missed[i].call);
}

void recorder_miss(const char *call)
{
    int i = 0;
    while (i < MISSED_MAX - 1 && missed[i].call && strcmp(missed[i].call, call) != 0)
        i++;
    missed[i].call = missed[i].call ? missed[i].call : call;
    missed[i].count++;
}

void recorder_enter(void)
{
    if (recorder_depth++ > 0 || !recorder_file)
        return;
    worked_ns += now_ns() - left_ns;
}

void recorder_leave(const int *scope)
{
    (void)scope;
    if (--recorder_depth == 0 && recorder_file)
        left_ns = now_ns();
}

line_place recorder_place(int communicator)
{
    line_place at = {recorder_file, recorder_rank, communicator};
    if (worked_ns > 0)
        line_compute(at, worked_ns);
    worked_ns = 0;
    return at;
}

size_t recorder_bytes(MPI_Datatype type, MPI_Count count)
{
    MPI_Count size = 0;
    if (count > 0 && type != MPI_DATATYPE_NULL)
        PMPI_Type_size_x(type, &size);
    return (size_t)(count > 0 ? count : 0) * (size_t)size;
}

void *recorder_find_function(const char *of)
{
    void *found = dlsym(RTLD_NEXT, of);
    if (!found) {
        fprintf(stderr, "odonata: the MPI library has no %s\n", of);
        abort();
    }
    return found;
}
