/* The trace: what every rank calls, in the words of SimGrid's time-independent traces, which `program = { name = "trace" }`
 * of an experiment replays. One file for all ranks, a line `RANK ACTION ARGUMENTS` for each call, in each rank's order.
 *
 * Ranks are those of the world; amounts are bytes, whose type is number 2 (one byte). Between calls stands `compute N`, N
 * nanoseconds of the rank's own processor time, which a trace calls operations: replayed at 10^9 a second, the
 * default, they are what was measured here. Calls that move nothing are left out. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "runtime.h"

enum { ANY_SOURCE = -333, ANY_TAG = -444, BYTE = 2 };

static FILE *file;
static const char *file_path;

void vmpi_trace_open(const char *path)
{
    file_path = path;
    file = fopen(path, "w");
    if (!file)
        vmpi_fail("cannot create %s: %s", path, strerror(errno));
    setvbuf(file, NULL, _IOFBF, 1 << 20);
}

void vmpi_trace_close(void)
{
    if (file && fclose(file) != 0) {
        fprintf(stderr, "vmpi: cannot write %s: %s\n", file_path, strerror(errno));
        _Exit(70);
    }
    file = NULL;
}

static int64_t processor_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* A rank runs without a break from the end of one call to the start of the next: others run only inside calls. */
void vmpi_trace_entered(void)
{
    vmpi_rank *rank = vmpi_current;
    if (rank->depth++ == 0 && file && rank->left_ns > 0)
        rank->worked_ns += processor_ns() - rank->left_ns;
}

void vmpi_trace_left(const int *scope)
{
    (void)scope;
    if (--vmpi_current->depth == 0 && file)
        vmpi_current->left_ns = processor_ns();
}

/* Whether this call is to be written; if so the line is begun, after what the rank computed. */
static int begin(const char *action)
{
    vmpi_rank *rank = vmpi_current;
    if (!file || rank->quiet > 0)
        return 0;
    if (rank->worked_ns > 0)
        fprintf(file, "%d compute %lld\n", rank->world, (long long)rank->worked_ns);
    rank->worked_ns = 0;
    fprintf(file, "%d %s", rank->world, action);
    return 1;
}

static int world_of(MPI_Comm comm, int peer)
{
    return peer == MPI_ANY_SOURCE ? ANY_SOURCE : vmpi_comm_world_of(comm, peer);
}

void vmpi_trace_plain(const char *action)
{
    if (begin(action))
        fputc('\n', file);
}

void vmpi_trace_message(const char *action, MPI_Comm comm, int peer, int tag, size_t bytes)
{
    if (peer != MPI_PROC_NULL && begin(action))
        fprintf(file, " %d %d %zu %d\n", world_of(comm, peer), tag == MPI_ANY_TAG ? ANY_TAG : tag, bytes, BYTE);
}

void vmpi_trace_sendrecv(MPI_Comm comm, int to, size_t sent, int from, size_t received)
{
    if (begin("sendRecv"))
        fprintf(file, " %zu %d %zu %d %d %d\n", sent, world_of(comm, to), received, world_of(comm, from), BYTE, BYTE);
}

/* A request is known by who sends to whom with which tag. */
void vmpi_trace_wait(MPI_Request request)
{
    if (request->peer == MPI_PROC_NULL || !begin("wait"))
        return;
    int me = request->owner->world, peer = world_of(request->comm, request->peer);
    int receives = request->kind == REQUEST_RECEIVE;
    fprintf(file, " %d %d %d\n", receives ? peer : me, receives ? me : peer,
            request->tag == MPI_ANY_TAG ? ANY_TAG : request->tag);
}

static void write_counts(const int *counts, MPI_Datatype type, int ranks)
{
    for (int i = 0; i < ranks; i++)
        fprintf(file, " %zu", counts ? vmpi_packed_bytes(type, counts[i]) : (size_t)0);
}

static size_t total(const int *counts, MPI_Datatype type, int ranks)
{
    size_t bytes = 0;
    for (int i = 0; i < ranks; i++)
        bytes += vmpi_packed_bytes(type, counts[i]);
    return bytes;
}

/* Of the calls with a count for each rank; whether it is one. */
static int write_vector(const vmpi_arrival *a, MPI_Comm comm, int root, size_t sent)
{
    int n = comm->size, here = vmpi_comm_rank_of(comm, vmpi_current->world) == a->root;
    if (strcmp(a->call, "MPI_Alltoallv") == 0) {
        if (begin("alltoallv")) {
            fprintf(file, " %zu", total(a->send_counts, a->send_type, n));
            write_counts(a->send_counts, a->send_type, n);
            fprintf(file, " %zu", total(a->counts, a->receive_type, n));
            write_counts(a->counts, a->receive_type, n);
            fprintf(file, " %d %d\n", BYTE, BYTE);
        }
    } else if (strcmp(a->call, "MPI_Allgatherv") == 0) {
        if (begin("allgatherv")) {
            fprintf(file, " %zu", sent);
            write_counts(a->counts, a->receive_type, n);
            fprintf(file, " %d %d\n", BYTE, BYTE);
        }
    } else if (strcmp(a->call, "MPI_Gatherv") == 0) {
        if (begin("gatherv")) {
            fprintf(file, " %zu", sent);
            write_counts(here ? a->counts : NULL, a->receive_type, n);
            fprintf(file, " %d %d %d\n", root, BYTE, BYTE);
        }
    } else if (strcmp(a->call, "MPI_Scatterv") == 0) {
        if (begin("scatterv")) {
            write_counts(here ? a->counts : NULL, a->send_type, n);
            fprintf(file, " %zu %d %d %d\n", vmpi_packed_bytes(a->receive_type, a->receive_count), root, BYTE, BYTE);
        }
    } else if (strncmp(a->call, "MPI_Reduce_scatter", 18) == 0) {
        if (begin("reducescatter")) {
            for (int i = 0; i < n; i++)
                fprintf(file, " %zu", vmpi_packed_bytes(a->send_type, a->counts ? a->counts[i] : a->receive_count));
            fprintf(file, " 0 %d\n", BYTE);
        }
    } else {
        return 0;
    }
    return 1;
}

void vmpi_trace_collective(const vmpi_arrival *a, MPI_Comm comm)
{
    if (!file || comm->size == 1)
        return;
    int root = vmpi_comm_world_of(comm, a->root);
    size_t sent = a->send_type && a->send != MPI_IN_PLACE ? vmpi_packed_bytes(a->send_type, a->send_count) : 0;
    size_t received = a->receive_type ? vmpi_packed_bytes(a->receive_type, a->receive_count) : 0;
    if (write_vector(a, comm, root, a->send == MPI_IN_PLACE && a->counts
                                        ? vmpi_packed_bytes(a->receive_type,
                                                            a->counts[vmpi_comm_rank_of(comm, vmpi_current->world)])
                                        : sent))
        return;
    size_t combined = a->send_type ? vmpi_packed_bytes(a->send_type, a->send_count) : 0;
    if (strcmp(a->call, "MPI_Barrier") == 0)
        vmpi_trace_plain("barrier");
    else if (strcmp(a->call, "MPI_Bcast") == 0 && begin("bcast"))
        fprintf(file, " %zu %d %d\n", received, root, BYTE);
    else if (strcmp(a->call, "MPI_Reduce") == 0 && begin("reduce"))
        fprintf(file, " %zu 0 %d %d\n", combined, root, BYTE);
    else if (strcmp(a->call, "MPI_Allreduce") == 0 && begin("allreduce"))
        fprintf(file, " %zu 0 %d\n", combined, BYTE);
    else if ((strcmp(a->call, "MPI_Scan") == 0 || strcmp(a->call, "MPI_Exscan") == 0) && begin("scan"))
        fprintf(file, " %zu 0 %d\n", combined, BYTE);
    else if (strcmp(a->call, "MPI_Alltoall") == 0 && begin("alltoall"))
        fprintf(file, " %zu %zu %d %d\n", sent, received, BYTE, BYTE);
    else if (strcmp(a->call, "MPI_Allgather") == 0 && begin("allgather"))
        fprintf(file, " %zu %zu %d %d\n", received, received, BYTE, BYTE);
    else if (strcmp(a->call, "MPI_Gather") == 0 && begin("gather"))
        fprintf(file, " %zu %zu %d %d %d\n", sent, received, root, BYTE, BYTE);
    else if (strcmp(a->call, "MPI_Scatter") == 0 && begin("scatter"))
        fprintf(file, " %zu %zu %d %d %d\n", sent, received, root, BYTE, BYTE);
}
