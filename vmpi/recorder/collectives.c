/* Collectives, in blocking and nonblocking form. */
#include "recorder.h"

/* The bytes of blocks of vector forms: two lists, for a call's two sides. */
static size_t *blocks(int side, int ranks, const int *counts, MPI_Datatype type, const MPI_Datatype *types)
{
    static size_t *list[2];
    static int room[2];
    if (ranks > room[side]) {
        room[side] = ranks;
        list[side] = recorder_alloc(list[side], (size_t)ranks, sizeof *list[side]);
    }
    for (int i = 0; i < ranks; i++)
        list[side][i] = counts ? recorder_bytes(types ? types[i] : type, counts[i]) : 0;
    return list[side];
}

static void write_call(const char *name, MPI_Comm comm, MPI_Request *handle, line_collective call)
{
    communicator *of = recorder_communicator(comm);
    int is_world = comm == MPI_COMM_WORLD;
    if ((of->size == 1 && !of->has_remote) || !(is_world || of->named)) {
        if (of->size > 1 || of->has_remote)
            recorder_miss(name);
        if (handle)
            recorder_request(*handle, NOTHING, NULL);
        return;
    }
    call.ranks = of->size;
    call.own = of->rank;
    call.nonblocking = handle != NULL;
    line_collective_call(recorder_place(of->number), &call);
    if (handle)
        recorder_request(*handle, COLLECTIVE, of)->number = of->begun++;
}

static int size_of(MPI_Comm comm)
{
    return recorder_communicator(comm)->size;
}

static int is_root(MPI_Comm comm, int root)
{
    return recorder_communicator(comm)->rank == root;
}

static void write_gather(const char *name, MPI_Comm comm, MPI_Request *handle, const void *send, int send_count,
                         MPI_Datatype send_type, int receive_count, MPI_Datatype receive_type, int root)
{
    write_call(name, comm, handle,
               (line_collective){.action = "gather",
                                 .root = root,
                                 .sent = send == MPI_IN_PLACE ? 0 : recorder_bytes(send_type, send_count),
                                 .received = is_root(comm, root) ? recorder_bytes(receive_type, receive_count) : 0});
}

static void write_scatter(const char *name, MPI_Comm comm, MPI_Request *handle, int send_count, MPI_Datatype send_type,
                          const void *receive, int receive_count, MPI_Datatype receive_type, int root)
{
    write_call(name, comm, handle,
               (line_collective){.action = "scatter",
                                 .root = root,
                                 .sent = is_root(comm, root) ? recorder_bytes(send_type, send_count) : 0,
                                 .received = receive == MPI_IN_PLACE ? 0 : recorder_bytes(receive_type, receive_count)});
}

static void write_gatherv(const char *name, MPI_Comm comm, MPI_Request *handle, const void *send, int send_count,
                          MPI_Datatype send_type, const int *counts, MPI_Datatype receive_type, int root)
{
    line_collective call = {.action = "gatherv", .root = root};
    if (is_root(comm, root))
        call.receive_blocks = blocks(1, size_of(comm), counts, receive_type, NULL);
    call.sent = send == MPI_IN_PLACE && call.receive_blocks ? call.receive_blocks[root]
                                                            : recorder_bytes(send_type, send_count);
    write_call(name, comm, handle, call);
}

static void write_scatterv(const char *name, MPI_Comm comm, MPI_Request *handle, const int *counts,
                           MPI_Datatype send_type, const void *receive, int receive_count, MPI_Datatype receive_type,
                           int root)
{
    line_collective call = {.action = "scatterv", .root = root};
    if (is_root(comm, root))
        call.send_blocks = blocks(0, size_of(comm), counts, send_type, NULL);
    call.received = receive == MPI_IN_PLACE ? 0 : recorder_bytes(receive_type, receive_count);
    write_call(name, comm, handle, call);
}

static void write_allgatherv(const char *name, MPI_Comm comm, MPI_Request *handle, const void *send, int send_count,
                             MPI_Datatype send_type, const int *counts, MPI_Datatype receive_type)
{
    line_collective call = {.action = "allgatherv"};
    call.receive_blocks = blocks(1, size_of(comm), counts, receive_type, NULL);
    call.sent = send == MPI_IN_PLACE ? call.receive_blocks[recorder_communicator(comm)->rank]
                                     : recorder_bytes(send_type, send_count);
    write_call(name, comm, handle, call);
}

static void write_alltoallv(const char *name, MPI_Comm comm, MPI_Request *handle, const void *send,
                            const int *send_counts, MPI_Datatype send_type, const MPI_Datatype *send_types,
                            const int *counts, MPI_Datatype type, const MPI_Datatype *types)
{
    line_collective call = {.action = "alltoallv"};
    int ranks = size_of(comm);
    call.receive_blocks = blocks(1, ranks, counts, type, types);
    call.send_blocks =
        send == MPI_IN_PLACE ? call.receive_blocks : blocks(0, ranks, send_counts, send_type, send_types);
    write_call(name, comm, handle, call);
}

static void write_blocks(const char *name, MPI_Comm comm, MPI_Request *handle, const char *action, const void *receive,
                         int count, MPI_Datatype type)
{
    (void)receive;
    write_call(name, comm, handle, (line_collective){.action = action, .received = recorder_bytes(type, count)});
}

static void write_reduction(const char *name, MPI_Comm comm, MPI_Request *handle, const char *action, int count,
                            MPI_Datatype type, int root)
{
    write_call(name, comm, handle,
               (line_collective){.action = action, .root = root, .sent = recorder_bytes(type, count)});
}

/* `counts` NULL: `count` for each rank. */
static void write_reduce_scatter(const char *name, MPI_Comm comm, MPI_Request *handle, const int *counts, int count,
                                 MPI_Datatype type)
{
    int ranks = size_of(comm);
    size_t *bytes = blocks(0, ranks, counts, type, NULL);
    for (int i = 0; !counts && i < ranks; i++)
        bytes[i] = recorder_bytes(type, count);
    write_call(name, comm, handle, (line_collective){.action = "reducescatter", .send_blocks = bytes});
}

/* Both forms of a collective. `write` is the call that records it, with `name`, `comm` and `handle`. */
#define INSIDE(...) __VA_ARGS__
#define COLLECTIVE(Name, IName, parameters, arguments, write)                                                          \
    int MPI_##Name(INSIDE parameters, MPI_Comm comm)                                                                   \
    {                                                                                                                  \
        CALL;                                                                                                          \
        const char *name = "MPI_" #Name;                                                                               \
        MPI_Request *handle = NULL;                                                                                    \
        int error = REAL(Name)(INSIDE arguments, comm);                                                                \
        if (IS_RECORDED(error))                                                                                        \
            write;                                                                                                     \
        return error;                                                                                                  \
    }                                                                                                                  \
    TWO_NAMES(Name)                                                                                                    \
    int MPI_##IName(INSIDE parameters, MPI_Comm comm, MPI_Request *handle)                                             \
    {                                                                                                                  \
        CALL;                                                                                                          \
        const char *name = "MPI_" #IName;                                                                              \
        int error = REAL(IName)(INSIDE arguments, comm, handle);                                                       \
        if (IS_RECORDED(error))                                                                                        \
            write;                                                                                                     \
        return error;                                                                                                  \
    }                                                                                                                  \
    TWO_NAMES(IName)

#define SENT const void *send, int send_count, MPI_Datatype send_type
#define OF_SENT send, send_count, send_type
#define SENT_EACH const void *send, const int send_counts[], const int send_places[], MPI_Datatype send_type
#define OF_SENT_EACH send, send_counts, send_places, send_type
#define RECEIVED void *receive, int count, MPI_Datatype type
#define OF_RECEIVED receive, count, type
#define RECEIVED_EACH void *receive, const int counts[], const int places[], MPI_Datatype type
#define OF_RECEIVED_EACH receive, counts, places, type
#define REDUCED const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op
#define OF_REDUCED send, receive, count, type, op

COLLECTIVE(Bcast, Ibcast, (void *buffer, int count, MPI_Datatype type, int root), (buffer, count, type, root),
           write_call(name, comm, handle,
                      (line_collective){.action = "bcast", .root = root, .received = recorder_bytes(type, count)}))
COLLECTIVE(Gather, Igather, (SENT, RECEIVED, int root), (OF_SENT, OF_RECEIVED, root),
           write_gather(name, comm, handle, OF_SENT, count, type, root))
COLLECTIVE(Scatter, Iscatter, (SENT, RECEIVED, int root), (OF_SENT, OF_RECEIVED, root),
           write_scatter(name, comm, handle, send_count, send_type, OF_RECEIVED, root))
COLLECTIVE(Gatherv, Igatherv, (SENT, RECEIVED_EACH, int root), (OF_SENT, OF_RECEIVED_EACH, root),
           write_gatherv(name, comm, handle, OF_SENT, counts, type, root))
COLLECTIVE(Scatterv, Iscatterv, (SENT_EACH, RECEIVED, int root), (OF_SENT_EACH, OF_RECEIVED, root),
           write_scatterv(name, comm, handle, send_counts, send_type, OF_RECEIVED, root))
COLLECTIVE(Allgather, Iallgather, (SENT, RECEIVED), (OF_SENT, OF_RECEIVED),
           write_blocks(name, comm, handle, "allgather", OF_RECEIVED))
COLLECTIVE(Alltoall, Ialltoall, (SENT, RECEIVED), (OF_SENT, OF_RECEIVED),
           write_blocks(name, comm, handle, "alltoall", OF_RECEIVED))
COLLECTIVE(Allgatherv, Iallgatherv, (SENT, RECEIVED_EACH), (OF_SENT, OF_RECEIVED_EACH),
           write_allgatherv(name, comm, handle, OF_SENT, counts, type))
COLLECTIVE(Alltoallv, Ialltoallv, (SENT_EACH, RECEIVED_EACH), (OF_SENT_EACH, OF_RECEIVED_EACH),
           write_alltoallv(name, comm, handle, send, send_counts, send_type, NULL, counts, type, NULL))
COLLECTIVE(Alltoallw, Ialltoallw,
           (const void *send, const int send_counts[], const int send_places[], const MPI_Datatype send_types[],
            void *receive, const int counts[], const int places[], const MPI_Datatype types[]),
           (send, send_counts, send_places, send_types, receive, counts, places, types),
           write_alltoallv(name, comm, handle, send, send_counts, MPI_DATATYPE_NULL, send_types, counts,
                           MPI_DATATYPE_NULL, types))
COLLECTIVE(Reduce, Ireduce, (REDUCED, int root), (OF_REDUCED, root),
           write_reduction(name, comm, handle, "reduce", count, type, root))
COLLECTIVE(Allreduce, Iallreduce, (REDUCED), (OF_REDUCED), write_reduction(name, comm, handle, "allreduce", count, type, 0))
COLLECTIVE(Scan, Iscan, (REDUCED), (OF_REDUCED), write_reduction(name, comm, handle, "scan", count, type, 0))
COLLECTIVE(Exscan, Iexscan, (REDUCED), (OF_REDUCED), write_reduction(name, comm, handle, "scan", count, type, 0))
COLLECTIVE(Reduce_scatter, Ireduce_scatter,
           (const void *send, void *receive, const int counts[], MPI_Datatype type, MPI_Op op),
           (send, receive, counts, type, op), write_reduce_scatter(name, comm, handle, counts, 0, type))
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, (REDUCED), (OF_REDUCED),
           write_reduce_scatter(name, comm, handle, NULL, count, type))

int MPI_Barrier(MPI_Comm comm)
{
    CALL;
    int error = REAL(Barrier)(comm);
    if (IS_RECORDED(error))
        write_call("MPI_Barrier", comm, NULL, (line_collective){.action = "barrier"});
    return error;
}
TWO_NAMES(Barrier)

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *handle)
{
    CALL;
    int error = REAL(Ibarrier)(comm, handle);
    if (IS_RECORDED(error))
        write_call("MPI_Ibarrier", comm, handle, (line_collective){.action = "barrier"});
    return error;
}
TWO_NAMES(Ibarrier)

/* ---- between neighbours: messages ---- */

/* Bytes for or from a neighbour: a count for all or for each, a type for all or for each. */
typedef struct {
    int count;
    const int *counts;
    MPI_Datatype type;
    const MPI_Datatype *types;
} part;

static size_t part_bytes(part of, int neighbour)
{
    return recorder_bytes(of.types ? of.types[neighbour] : of.type, of.counts ? of.counts[neighbour] : of.count);
}

static void write_neighbours(MPI_Comm comm, MPI_Request *handle, part sent, part received)
{
    MPI_Request none = MPI_REQUEST_NULL;
    request *of = recorder_request(handle ? *handle : none, NEIGHBOURS, recorder_communicator(comm));
    recorder_find_neighbours(comm, of);
    for (int i = 0; i < of->sources; i++)
        recorder_message("irecv", comm, of->neighbour[i], LINE_NEIGHBOUR, part_bytes(received, i));
    for (int i = 0; i < of->others; i++)
        recorder_message("isend", comm, of->neighbour[of->sources + i], LINE_NEIGHBOUR, part_bytes(sent, i));
    if (!handle)
        recorder_waited(of);
}

COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, (SENT, RECEIVED), (OF_SENT, OF_RECEIVED),
           ((void)name, write_neighbours(comm, handle, (part){send_count, NULL, send_type, NULL},
                                         (part){count, NULL, type, NULL})))
COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv, (SENT, RECEIVED_EACH), (OF_SENT, OF_RECEIVED_EACH),
           ((void)name, write_neighbours(comm, handle, (part){send_count, NULL, send_type, NULL},
                                         (part){0, counts, type, NULL})))
COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, (SENT, RECEIVED), (OF_SENT, OF_RECEIVED),
           ((void)name, write_neighbours(comm, handle, (part){send_count, NULL, send_type, NULL},
                                         (part){count, NULL, type, NULL})))
COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv, (SENT_EACH, RECEIVED_EACH), (OF_SENT_EACH, OF_RECEIVED_EACH),
           ((void)name, write_neighbours(comm, handle, (part){0, send_counts, send_type, NULL},
                                         (part){0, counts, type, NULL})))
COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw,
           (const void *send, const int send_counts[], const MPI_Aint send_places[], const MPI_Datatype send_types[],
            void *receive, const int counts[], const MPI_Aint places[], const MPI_Datatype types[]),
           (send, send_counts, send_places, send_types, receive, counts, places, types),
           ((void)name, write_neighbours(comm, handle, (part){0, send_counts, MPI_DATATYPE_NULL, send_types},
                                         (part){0, counts, MPI_DATATYPE_NULL, types})))
