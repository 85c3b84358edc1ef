/* The trace: calls of every rank in the format of SimGrid's time-independent traces. The program
 * { name = "trace" } of an experiment replays it. One file for all ranks has a line `RANK ACTION ARGUMENTS` per call, in
 * each rank's order.
 *
 * Communicators extend SimGrid's format. `comm_split NEW RANKS KEY` creates communicator NEW (a unique number) of RANKS
 * ranks, in which this rank is KEY. A rank that is in no new communicator has `comm_split 0 0 0`. `comm_free` frees.
 * Lines that end with `on NUMBER`, also of these calls, belong to that communicator and count ranks in it; all other
 * lines belong to the world. Amounts are bytes with type number 2 (one byte). `compute N` between calls means N
 * nanoseconds of the rank's processor time, without the time to read the clock. A trace counts operations: at the
 * default of 10^9 per second a replay takes the measured time. Calls that move no data are left out. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime.h"

enum { ANY_SOURCE = -333, ANY_TAG = -444, BYTE = 2 };

static FILE *file;
static const char *file_path;

static int64_t processor_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Time to read the clock: the minimum of many measurements. */
static int64_t clock_ns;

static void time_clock(void)
{
    clock_ns = INT64_MAX;
    for (int i = 0; i < 1000; i++) {
        int64_t before = processor_ns(), took = processor_ns() - before;
        clock_ns = took < clock_ns ? took : clock_ns;
    }
}

void vmpi_trace_open(const char *path)
{
    file_path = path;
    file = fopen(path, "w");
    if (!file)
        vmpi_fail("cannot create %s: %s", path, strerror(errno));
    setvbuf(file, NULL, _IOFBF, 1 << 20);
    time_clock();
}

int vmpi_trace_is_open(void)
{
    return file != NULL;
}

void vmpi_trace_close(void)
{
    FILE *closed = file;
    file = NULL;
    if (closed && fclose(closed) != 0)
        vmpi_fail("cannot write %s: %s", file_path, strerror(errno));
}

/* A rank runs without interruption from the end of one call to the start of the next: others run only inside calls. */
void vmpi_trace_entered(void)
{
    vmpi_rank *rank = vmpi_current;
    if (rank->depth++ > 0 || !file || rank->left_ns == 0)
        return;
    int64_t worked = processor_ns() - rank->left_ns - clock_ns;
    rank->worked_ns += worked > 0 ? worked : 0;
}

void vmpi_trace_left(const int *scope)
{
    (void)scope;
    if (--vmpi_current->depth == 0 && file)
        vmpi_current->left_ns = processor_ns();
}

/* Whether this call is traced; if so, the line starts here, after the preceding computation. */
static int begin_of(vmpi_rank *rank, const char *action)
{
    if (!file || rank->quiet > 0)
        return 0;
    if (rank->worked_ns > 0)
        fprintf(file, "%d compute %lld\n", rank->world, (long long)rank->worked_ns);
    rank->worked_ns = 0;
    fprintf(file, "%d %s", rank->world, action);
    return 1;
}

static int begin(const char *action)
{
    return begin_of(vmpi_current, action);
}

/* The end of a line: its communicator. Communicators of one rank or made without a common one (inter-communicators) have no number
 * in the trace; their ranks have their numbers in the world. */
static int is_named(MPI_Comm comm)
{
    return comm != MPI_COMM_WORLD && !comm->unnamed;
}

static void end(MPI_Comm comm)
{
    if (is_named(comm))
        fprintf(file, " on %d", comm->id);
    fputc('\n', file);
}

static int peer_in(MPI_Comm comm, int peer)
{
    if (peer == MPI_ANY_SOURCE)
        return ANY_SOURCE;
    return is_named(comm) ? peer : vmpi_peer_world(comm, peer);
}

static int mine_in(MPI_Comm comm, int world)
{
    return is_named(comm) ? vmpi_comm_rank_of(comm, world) : world;
}

void vmpi_trace_plain(const char *action)
{
    if (begin(action))
        fputc('\n', file);
}

void vmpi_trace_note(const char *note)
{
    if (begin("location"))
        fprintf(file, " %s 0\n", note);
}

void vmpi_trace_split(int world, MPI_Comm parent, MPI_Comm made)
{
    if (parent->unnamed || (made && made->unnamed) || !begin_of(vmpi_rank_at(world), "comm_split"))
        return;
    if (made)
        fprintf(file, " %d %d %d", made->id, made->size, vmpi_comm_rank_of(made, world));
    else
        fputs(" 0 0 0", file);
    end(parent);
}

void vmpi_trace_free(MPI_Comm comm, const vmpi_rank *rank)
{
    if (is_named(comm) && begin_of((vmpi_rank *)rank, "comm_free"))
        end(comm);
}

void vmpi_trace_message(const char *action, MPI_Comm comm, int peer, int tag, size_t bytes)
{
    if (peer == MPI_PROC_NULL || !begin(action))
        return;
    fprintf(file, " %d %d %zu %d", peer_in(comm, peer), tag == MPI_ANY_TAG ? ANY_TAG : tag, bytes, BYTE);
    end(comm);
}

void vmpi_trace_sendrecv(MPI_Comm comm, int to, size_t sent, int from, size_t received)
{
    if (!begin("sendRecv"))
        return;
    fprintf(file, " %zu %d %zu %d %d %d", sent, peer_in(comm, to), received, peer_in(comm, from), BYTE, BYTE);
    end(comm);
}

static void wait_for(vmpi_rank *rank, MPI_Comm comm, int peer, int receives, int tag)
{
    if (!begin_of(rank, "wait"))
        return;
    int me = mine_in(comm, rank->world), other = peer_in(comm, peer);
    fprintf(file, " %d %d %d", receives ? other : me, receives ? me : other, tag == MPI_ANY_TAG ? ANY_TAG : tag);
    end(comm);
}

/* Source, destination and tag identify a request. A nonblocking collective is replayed where it started. */
void vmpi_trace_wait(MPI_Request request)
{
    int message = request->kind == REQUEST_SEND || request->kind == REQUEST_RECEIVE;
    if (message && request->peer != MPI_PROC_NULL && !request->status._cancelled)
        wait_for(request->owner, request->comm, request->peer, request->kind == REQUEST_RECEIVE, request->tag);
}

/* Tags that programs are unlikely to use. */
enum { NEIGHBOUR = 2147480000, ONE_SIDED };

void vmpi_trace_one_sided(MPI_Comm comm, int from, int to, size_t bytes)
{
    for (int receives = 0; receives < 2; receives++) {
        vmpi_rank *rank = vmpi_rank_at(vmpi_comm_world_of(comm, receives ? to : from));
        if (!begin_of(rank, receives ? "irecv" : "isend"))
            continue;
        fprintf(file, " %d %d %zu %d", peer_in(comm, receives ? from : to), ONE_SIDED, bytes, BYTE);
        end(comm);
    }
}

void vmpi_trace_one_sided_wait(MPI_Comm comm, int peer, int receives)
{
    wait_for(vmpi_current, comm, peer, receives, ONE_SIDED);
}

void vmpi_trace_neighbour(MPI_Comm comm, int peer, int receives, int wait, size_t bytes)
{
    if (peer == MPI_PROC_NULL)
        return;
    if (wait)
        wait_for(vmpi_current, comm, peer, receives, NEIGHBOUR);
    else
        vmpi_trace_message(receives ? "irecv" : "isend", comm, peer, NEIGHBOUR, bytes);
}

static size_t block_bytes(const int *counts, MPI_Datatype type, const MPI_Datatype *types, int rank)
{
    return counts ? vmpi_packed_bytes(types ? types[rank] : type, counts[rank]) : 0;
}

static void write_counts(const int *counts, MPI_Datatype type, const MPI_Datatype *types, int ranks)
{
    for (int i = 0; i < ranks; i++)
        fprintf(file, " %zu", block_bytes(counts, type, types, i));
}

/* The sum, then each value. */
static void write_blocks(const int *counts, MPI_Datatype type, const MPI_Datatype *types, int ranks)
{
    size_t bytes = 0;
    for (int i = 0; i < ranks; i++)
        bytes += block_bytes(counts, type, types, i);
    fprintf(file, " %zu", bytes);
    write_counts(counts, type, types, ranks);
}

/* Calls with a count per rank; returns whether this is one. */
static int write_vector(const vmpi_arrival *a, MPI_Comm comm, int root, size_t sent, size_t received)
{
    int n = comm->size, mine = vmpi_comm_rank_of(comm, vmpi_current->world), here = mine == a->root;
    if (a->send == MPI_IN_PLACE && a->counts && (a->receive_type || a->receive_types))
        sent = block_bytes(a->counts, a->receive_type, a->receive_types, mine);
    if (strcmp(a->action, "alltoallv") == 0) {
        if (a->send == MPI_IN_PLACE)
            write_blocks(a->counts, a->receive_type, a->receive_types, n);
        else
            write_blocks(a->send_counts, a->send_type, a->send_types, n);
        write_blocks(a->counts, a->receive_type, a->receive_types, n);
        fprintf(file, " %d %d", BYTE, BYTE);
    } else if (strcmp(a->action, "allgatherv") == 0) {
        fprintf(file, " %zu", sent);
        write_counts(a->counts, a->receive_type, NULL, n);
        fprintf(file, " %d %d", BYTE, BYTE);
    } else if (strcmp(a->action, "gatherv") == 0) {
        fprintf(file, " %zu", sent);
        write_counts(here ? a->counts : NULL, a->receive_type, NULL, n);
        fprintf(file, " %d %d %d", root, BYTE, BYTE);
    } else if (strcmp(a->action, "scatterv") == 0) {
        write_counts(here ? a->counts : NULL, a->send_type, NULL, n);
        fprintf(file, " %zu %d %d %d", received, root, BYTE, BYTE);
    } else if (strcmp(a->action, "reducescatter") == 0) {
        for (int i = 0; i < n; i++)
            fprintf(file, " %zu", vmpi_packed_bytes(a->send_type, a->counts ? a->counts[i] : a->receive_count));
        fprintf(file, " 0 %d", BYTE);
    } else {
        return 0;
    }
    return 1;
}

static void write_plain(const vmpi_arrival *a, int root, size_t sent, size_t received)
{
    size_t combined = a->send_type ? vmpi_packed_bytes(a->send_type, a->send_count) : 0;
    if (strcmp(a->action, "barrier") == 0)
        return;
    if (strcmp(a->action, "bcast") == 0)
        fprintf(file, " %zu %d %d", received, root, BYTE);
    else if (strcmp(a->action, "reduce") == 0)
        fprintf(file, " %zu 0 %d %d", combined, root, BYTE);
    else if (strcmp(a->action, "allreduce") == 0 || strcmp(a->action, "scan") == 0)
        fprintf(file, " %zu 0 %d", combined, BYTE);
    else if (strcmp(a->action, "alltoall") == 0 || strcmp(a->action, "allgather") == 0)
        fprintf(file, " %zu %zu %d %d", received, received, BYTE, BYTE);
    else /* gather, scatter */
        fprintf(file, " %zu %zu %d %d %d", sent, received, root, BYTE, BYTE);
}

void vmpi_trace_collective(const vmpi_arrival *a, MPI_Comm comm)
{
    if (!file || !a->action || vmpi_current->quiet > 0 || (comm->size == 1 && !comm->remote))
        return;
    if (comm->unnamed)
        vmpi_fail("a trace cannot contain collectives of inter-communicators, or of communicators made by some of the ranks alone");
    begin(a->action);
    int root = peer_in(comm, a->root);
    size_t sent = 0, received = 0;
    if (a->send_type && a->send != MPI_IN_PLACE)
        sent = vmpi_packed_bytes(a->send_type, a->send_count);
    if (a->receive_type && a->receive != MPI_IN_PLACE)
        received = vmpi_packed_bytes(a->receive_type, a->receive_count);
    if (!write_vector(a, comm, root, sent, received))
        write_plain(a, root, sent, received);
    end(comm);
}
