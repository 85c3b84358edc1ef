/* The trace of a run: lines (line.h) of every rank, in one file for all ranks, in each rank's order. The program
 * { name = "trace" } of an experiment replays it. `compute N` between calls is the rank's processor time, without the
 * time to read the clock. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "line.h"
#include "runtime.h"

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
    if (clock_ns > 0)
        return;
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
}

int vmpi_trace_is_open(void)
{
    return file != NULL;
}

/* ---- lines that are not in the file yet: a blocking call, in which a rank serves one-sided calls of others ---- */

static void release(vmpi_rank *rank)
{
    if (rank->held)
        fputs(rank->held, file);
    free(rank->held);
    rank->held = NULL;
}

static void hold(vmpi_rank *rank, line_place *at)
{
    static size_t bytes;
    at->file = open_memstream(&rank->held, &bytes);
    if (!at->file)
        vmpi_fail("out of memory");
}

/* ---- lines that must leave the file: messages that are cancelled never were ---- */

typedef struct {
    int rank;
    uint32_t post; /* number of the line among the rank's lines isend and irecv, from 1 */
} cancelled_line;

static cancelled_line *cancelled;
static size_t cancelled_count;

void vmpi_trace_cancel(MPI_Request request)
{
    if (!file || !request->traced)
        return;
    cancelled_line *more = realloc(cancelled, (cancelled_count + 1) * sizeof *cancelled);
    if (!more)
        vmpi_fail("out of memory");
    cancelled = more;
    cancelled[cancelled_count++] = (cancelled_line){request->owner->world, request->traced};
}

static int compare(const void *a, const void *b)
{
    const cancelled_line *x = a, *y = b;
    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank) : (x->post > y->post) - (x->post < y->post);
}

static void copy_without_cancelled(FILE *from, FILE *to)
{
    uint32_t *posts = vmpi_alloc((size_t)vmpi_world_size, sizeof *posts);
    char *text = NULL;
    size_t room = 0;
    qsort(cancelled, cancelled_count, sizeof *cancelled, compare);
    while (getline(&text, &room, from) > 0) {
        char *action;
        cancelled_line line = {(int)strtol(text, &action, 10), 0};
        if (strncmp(action, " isend ", 7) == 0 || strncmp(action, " irecv ", 7) == 0) {
            line.post = ++posts[line.rank];
            if (bsearch(&line, cancelled, cancelled_count, sizeof *cancelled, compare))
                continue;
        }
        fputs(text, to);
    }
    free(text);
    free(posts);
}

static void remove_cancelled(void)
{
    size_t bytes = strlen(file_path) + sizeof ".new";
    char *path = vmpi_alloc(bytes, 1);
    snprintf(path, bytes, "%s.new", file_path);
    FILE *from = fopen(file_path, "r"), *to = from ? fopen(path, "w") : NULL;
    if (to)
        copy_without_cancelled(from, to);
    if (!to || fclose(to) != 0 || rename(path, file_path) != 0)
        vmpi_fail("cannot write %s: %s", path, strerror(errno));
    fclose(from);
    free(path);
}

void vmpi_trace_close(void)
{
    for (int i = 0; file && i < vmpi_world_size && vmpi_rank_at(i); i++)
        release(vmpi_rank_at(i));
    FILE *closed = file;
    file = NULL;
    if (closed && fclose(closed) != 0)
        vmpi_fail("cannot write %s: %s", file_path, strerror(errno));
    if (closed && cancelled_count > 0)
        remove_cancelled();
}

static int times_work(void)
{
    return file || vmpi_record_is_open();
}

static void add_work(vmpi_rank *rank)
{
    if (rank->left_ns == 0)
        return;
    time_clock();
    int64_t worked = processor_ns() - rank->left_ns - clock_ns;
    worked = worked > 0 ? worked : 0;
    rank->worked_ns += worked;
    vmpi_record_work(rank, worked);
}

/* A rank runs without interruption from the end of one call to the start of the next: others run only inside calls. */
void vmpi_trace_entered(void)
{
    if (vmpi_current->depth++ == 0 && times_work())
        add_work(vmpi_current);
}

void vmpi_trace_left(const int *scope)
{
    (void)scope;
    if (--vmpi_current->depth == 0 && times_work())
        vmpi_current->left_ns = processor_ns();
}

void vmpi_trace_phase_ends(void)
{
    if (vmpi_current->depth > 0 || !times_work())
        return;
    add_work(vmpi_current);
    vmpi_current->left_ns = processor_ns();
}

static int is_traced(const vmpi_rank *rank)
{
    return file && rank->quiet == 0;
}

/* Communicators of one rank or made without a common one (inter-communicators) have no number in the trace; their ranks
 * have their numbers in the world. */
static int is_named(MPI_Comm comm)
{
    return comm != MPI_COMM_WORLD && !comm->unnamed;
}

/* The place of a line after the rank's computation, but before the call that it is in. */
static line_place place_beside(vmpi_rank *rank, MPI_Comm comm)
{
    line_place at = {file, rank->world, comm && is_named(comm) ? comm->id : 0};
    if (rank->worked_ns > 0)
        line_compute(at, rank->worked_ns);
    rank->worked_ns = 0;
    return at;
}

/* The place of a line after the rank's computation and calls. */
static line_place place_of(vmpi_rank *rank, MPI_Comm comm)
{
    release(rank);
    return place_beside(rank, comm);
}

static int peer_in(MPI_Comm comm, int peer)
{
    if (peer == MPI_ANY_SOURCE)
        return LINE_ANY_SOURCE;
    return is_named(comm) ? peer : vmpi_peer_world(comm, peer);
}

static int mine_in(MPI_Comm comm, int world)
{
    return is_named(comm) ? vmpi_comm_rank_of(comm, world) : world;
}

void vmpi_trace_plain(const char *action)
{
    if (is_traced(vmpi_current))
        line_plain(place_of(vmpi_current, NULL), action);
}

void vmpi_trace_note(const char *note)
{
    if (is_traced(vmpi_current))
        line_note(place_of(vmpi_current, NULL), note);
}

void vmpi_trace_split(int world, MPI_Comm parent, MPI_Comm made)
{
    vmpi_rank *rank = vmpi_rank_at(world);
    if (parent->unnamed || (made && made->unnamed) || !is_traced(rank))
        return;
    line_split(place_of(rank, parent), made ? made->id : 0, made ? made->size : 0,
               made ? vmpi_comm_rank_of(made, world) : 0);
}

/* At the call, though a request may still hold the communicator: all its ranks free it between the same collectives. */
void vmpi_trace_free(MPI_Comm comm)
{
    if (is_named(comm) && is_traced(vmpi_current))
        line_free(place_of(vmpi_current, comm));
}

static int tag_in(int tag)
{
    return tag == MPI_ANY_TAG ? LINE_ANY_TAG : tag;
}

/* Returns the number of the line among the rank's lines isend and irecv; 0: it is another, or not in the trace. */
uint32_t vmpi_trace_message(const char *action, MPI_Comm comm, int peer, int tag, size_t bytes)
{
    if (peer == MPI_PROC_NULL || !is_traced(vmpi_current))
        return 0;
    line_place at = place_of(vmpi_current, comm);
    int blocks = strcmp(action, "recv") == 0;
    if (blocks)
        hold(vmpi_current, &at);
    line_message(at, action, peer_in(comm, peer), tag_in(tag), bytes);
    if (blocks)
        fclose(at.file);
    return *action == 'i' ? ++vmpi_current->posts : 0;
}

void vmpi_trace_sendrecv(MPI_Comm comm, int to, size_t sent, int from, size_t received)
{
    if (!is_traced(vmpi_current))
        return;
    line_place at = place_of(vmpi_current, comm);
    hold(vmpi_current, &at);
    line_sendrecv(at, peer_in(comm, to), sent, peer_in(comm, from), received);
    fclose(at.file);
}

static void wait_for(vmpi_rank *rank, MPI_Comm comm, int peer, int receives, int tag)
{
    if (!is_traced(rank))
        return;
    int me = mine_in(comm, rank->world), other = peer_in(comm, peer);
    line_wait(place_of(rank, comm), receives ? other : me, receives ? me : other, tag_in(tag));
}

/* Source, destination and tag identify the request of a message. A test of a send is no wait: it succeeds here at once,
 * while on a network the program would go on and test again. */
void vmpi_trace_wait(MPI_Request request)
{
    int tested = strncmp(request->owner->call, "MPI_Test", strlen("MPI_Test")) == 0;
    int message = (request->kind == REQUEST_SEND && !tested) || request->kind == REQUEST_RECEIVE;
    if (message && request->peer != MPI_PROC_NULL && !request->status._cancelled)
        wait_for(request->owner, request->comm, request->peer, request->kind == REQUEST_RECEIVE, request->tag);
    if (request->kind != REQUEST_COLLECTIVE || !is_traced(request->owner))
        return;
    if (request->neighbours)
        vmpi_neighbours_trace_waits(request->comm, request->owner);
    else if (request->traced)
        line_wait_collective(place_of(request->owner, request->comm), request->traced - 1);
}

void vmpi_trace_one_sided(MPI_Comm comm, int from, int to, size_t bytes)
{
    for (int receives = 0; receives < 2; receives++) {
        vmpi_rank *rank = vmpi_rank_at(vmpi_comm_world_of(comm, receives ? to : from));
        if (!is_traced(rank))
            continue;
        line_message(rank == vmpi_current ? place_of(rank, comm) : place_beside(rank, comm),
                     receives ? "irecv" : "isend", peer_in(comm, receives ? from : to), LINE_ONE_SIDED, bytes);
        rank->posts++;
    }
}

void vmpi_trace_one_sided_wait(MPI_Comm comm, int peer, int receives)
{
    wait_for(vmpi_current, comm, peer, receives, LINE_ONE_SIDED);
}

void vmpi_trace_neighbour(MPI_Comm comm, int peer, int receives, size_t bytes)
{
    vmpi_trace_message(receives ? "irecv" : "isend", comm, peer, LINE_NEIGHBOUR, bytes);
}

void vmpi_trace_neighbour_wait(MPI_Comm comm, vmpi_rank *rank, int peer, int receives)
{
    if (peer != MPI_PROC_NULL)
        wait_for(rank, comm, peer, receives, LINE_NEIGHBOUR);
}

static size_t block_bytes(const int *counts, MPI_Datatype type, const MPI_Datatype *types, int rank)
{
    return counts ? vmpi_packed_bytes(types ? types[rank] : type, counts[rank]) : 0;
}

/* Bytes of each block, in new memory. NULL: there are no counts. */
static size_t *blocks(const int *counts, MPI_Datatype type, const MPI_Datatype *types, int ranks)
{
    size_t *bytes = counts ? vmpi_alloc((size_t)ranks, sizeof *bytes) : NULL;
    for (int i = 0; counts && i < ranks; i++)
        bytes[i] = block_bytes(counts, type, types, i);
    return bytes;
}

/* The blocks of the vector forms. */
static void add_blocks(line_collective *call, const vmpi_arrival *a, size_t **sent, size_t **received)
{
    int n = call->ranks, in_place = a->send == MPI_IN_PLACE, here = a->root == call->own;
    if (strcmp(a->action, "alltoallv") == 0) {
        *received = blocks(a->counts, a->receive_type, a->receive_types, n);
        *sent = in_place ? blocks(a->counts, a->receive_type, a->receive_types, n)
                         : blocks(a->send_counts, a->send_type, a->send_types, n);
    } else if (strcmp(a->action, "allgatherv") == 0 || (strcmp(a->action, "gatherv") == 0 && here)) {
        *received = blocks(a->counts, a->receive_type, NULL, n);
    } else if (strcmp(a->action, "scatterv") == 0 && here) {
        *sent = blocks(a->counts, a->send_type, NULL, n);
    } else if (strcmp(a->action, "reducescatter") == 0) {
        *sent = vmpi_alloc((size_t)n, sizeof **sent);
        for (int i = 0; i < n; i++)
            (*sent)[i] = vmpi_packed_bytes(a->send_type, a->counts ? a->counts[i] : a->receive_count);
    }
    if (in_place && a->counts && (a->receive_type || a->receive_types))
        call->sent = block_bytes(a->counts, a->receive_type, a->receive_types, call->own);
}

static int reduces(const char *action)
{
    return strcmp(action, "reduce") == 0 || strcmp(action, "allreduce") == 0 || strcmp(action, "scan") == 0;
}

/* Returns the number of the nonblocking collective of this rank on the communicator, from 1; 0 if it has none. */
uint32_t vmpi_trace_collective(const vmpi_arrival *a, MPI_Comm comm, int nonblocking)
{
    if (!a->action || !is_traced(vmpi_current) || (comm->size == 1 && !comm->remote))
        return 0;
    if (comm->unnamed)
        vmpi_fail("a trace cannot contain collectives of inter-communicators, or of communicators made by some of the ranks alone");
    size_t *sent = NULL, *received = NULL;
    line_collective call = {a->action, nonblocking, comm->size, vmpi_comm_rank_of(comm, vmpi_current->world),
                            peer_in(comm, a->root), 0, 0, NULL, NULL};
    if (a->send_type && (a->send != MPI_IN_PLACE || reduces(a->action)))
        call.sent = vmpi_packed_bytes(a->send_type, a->send_count);
    if (a->receive_type && a->receive != MPI_IN_PLACE)
        call.received = vmpi_packed_bytes(a->receive_type, a->receive_count);
    add_blocks(&call, a, &sent, &received);
    call.send_blocks = sent;
    call.receive_blocks = received;
    line_place at = place_of(vmpi_current, comm);
    if (!nonblocking)
        hold(vmpi_current, &at);
    line_collective_call(at, &call);
    if (!nonblocking)
        fclose(at.file);
    free(sent);
    free(received);
    if (!nonblocking)
        return 0;
    if (!comm->traced)
        comm->traced = vmpi_alloc((size_t)comm->size, sizeof *comm->traced);
    return ++comm->traced[call.own];
}
