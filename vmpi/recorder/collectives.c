/* Collectives, in blocking and nonblocking form. */
#include "recorder.h"

/* Counts of a vector form, in either form of a call; NULL: none. */
typedef struct {
    const void *list;
    int is_large;
} count_list;
#define COUNTS(of) ((count_list){of, sizeof(COUNT) > sizeof(int)})
#define NO_COUNTS ((count_list){NULL, 0})

static MPI_Count count_at(count_list of, int place)
{
    return of.is_large ? ((const MPI_Count *)of.list)[place] : ((const int *)of.list)[place];
}

/* The bytes of blocks of vector forms: two lists, for a call's two sides. */
static size_t *blocks(int side, int ranks, count_list counts, MPI_Datatype type, const MPI_Datatype *types)
{
    static size_t *list[2];
    static int room[2];
    if (ranks > room[side]) {
        room[side] = ranks;
        list[side] = recorder_alloc(list[side], (size_t)ranks, sizeof *list[side]);
    }
    for (int i = 0; i < ranks; i++)
        list[side][i] = counts.list ? recorder_bytes(types ? types[i] : type, count_at(counts, i)) : 0;
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

static void write_gather(const char *name, MPI_Comm comm, MPI_Request *handle, const void *send, MPI_Count send_count,
                         MPI_Datatype send_type, MPI_Count receive_count, MPI_Datatype receive_type, int root)
{
    write_call(name, comm, handle,
               (line_collective){.action = "gather",
                                 .root = root,
                                 .sent = send == MPI_IN_PLACE ? 0 : recorder_bytes(send_type, send_count),
                                 .received = is_root(comm, root) ? recorder_bytes(receive_type, receive_count) : 0});
}

static void write_scatter(const char *name, MPI_Comm comm, MPI_Request *handle, MPI_Count send_count,
                          MPI_Datatype send_type, const void *receive, MPI_Count receive_count,
                          MPI_Datatype receive_type, int root)
{
    write_call(name, comm, handle,
               (line_collective){.action = "scatter",
                                 .root = root,
                                 .sent = is_root(comm, root) ? recorder_bytes(send_type, send_count) : 0,
                                 .received =
                                     receive == MPI_IN_PLACE ? 0 : recorder_bytes(receive_type, receive_count)});
}

static void write_gatherv(const char *name, MPI_Comm comm, MPI_Request *handle, const void *send, MPI_Count send_count,
                          MPI_Datatype send_type, count_list counts, MPI_Datatype receive_type, int root)
{
    line_collective call = {.action = "gatherv", .root = root};
    if (is_root(comm, root))
        call.receive_blocks = blocks(1, size_of(comm), counts, receive_type, NULL);
    call.sent = send == MPI_IN_PLACE && call.receive_blocks ? call.receive_blocks[root]
                                                            : recorder_bytes(send_type, send_count);
    write_call(name, comm, handle, call);
}

static void write_scatterv(const char *name, MPI_Comm comm, MPI_Request *handle, count_list counts,
                           MPI_Datatype send_type, const void *receive, MPI_Count receive_count,
                           MPI_Datatype receive_type, int root)
{
    line_collective call = {.action = "scatterv", .root = root};
    if (is_root(comm, root))
        call.send_blocks = blocks(0, size_of(comm), counts, send_type, NULL);
    call.received = receive == MPI_IN_PLACE ? 0 : recorder_bytes(receive_type, receive_count);
    write_call(name, comm, handle, call);
}

static void write_allgatherv(const char *name, MPI_Comm comm, MPI_Request *handle, const void *send,
                             MPI_Count send_count, MPI_Datatype send_type, count_list counts, MPI_Datatype receive_type)
{
    line_collective call = {.action = "allgatherv"};
    call.receive_blocks = blocks(1, size_of(comm), counts, receive_type, NULL);
    call.sent = send == MPI_IN_PLACE ? call.receive_blocks[recorder_communicator(comm)->rank]
                                     : recorder_bytes(send_type, send_count);
    write_call(name, comm, handle, call);
}

static void write_alltoallv(const char *name, MPI_Comm comm, MPI_Request *handle, const void *send,
                            count_list send_counts, MPI_Datatype send_type, const MPI_Datatype *send_types,
                            count_list counts, MPI_Datatype type, const MPI_Datatype *types)
{
    line_collective call = {.action = "alltoallv"};
    int ranks = size_of(comm);
    call.receive_blocks = blocks(1, ranks, counts, type, types);
    call.send_blocks =
        send == MPI_IN_PLACE ? call.receive_blocks : blocks(0, ranks, send_counts, send_type, send_types);
    write_call(name, comm, handle, call);
}

static void write_blocks(const char *name, MPI_Comm comm, MPI_Request *handle, const char *action, const void *receive,
                         MPI_Count count, MPI_Datatype type)
{
    (void)receive;
    write_call(name, comm, handle, (line_collective){.action = action, .received = recorder_bytes(type, count)});
}

static void write_reduction(const char *name, MPI_Comm comm, MPI_Request *handle, const char *action, MPI_Count count,
                            MPI_Datatype type, int root)
{
    write_call(name, comm, handle,
               (line_collective){.action = action, .root = root, .sent = recorder_bytes(type, count)});
}

/* NO_COUNTS: `count` for each rank. */
static void write_reduce_scatter(const char *name, MPI_Comm comm, MPI_Request *handle, count_list counts,
                                 MPI_Count count, MPI_Datatype type)
{
    int ranks = size_of(comm);
    size_t *bytes = blocks(0, ranks, counts, type, NULL);
    for (int i = 0; !counts.list && i < ranks; i++)
        bytes[i] = recorder_bytes(type, count);
    write_call(name, comm, handle, (line_collective){.action = "reducescatter", .send_blocks = bytes});
}

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
    MPI_Count count;
    count_list counts;
    MPI_Datatype type;
    const MPI_Datatype *types;
} part;

static size_t part_bytes(part of, int neighbour)
{
    return recorder_bytes(of.types ? of.types[neighbour] : of.type,
                          of.counts.list ? count_at(of.counts, neighbour) : of.count);
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

/* Both forms of a collective. `write` is the call that records it, with `name`, `comm` and `handle`. */
#define INSIDE(...) __VA_ARGS__
#define COLLECTIVE(Name, IName, parameters, arguments, write)                                                          \
    int MPI_NAME(Name)(INSIDE parameters, MPI_Comm comm)                                                               \
    {                                                                                                                  \
        CALL;                                                                                                          \
        const char *name = "MPI_" STRING(FORM(Name));                                                                  \
        MPI_Request *handle = NULL;                                                                                    \
        int error = REAL(FORM(Name))(INSIDE arguments, comm);                                                          \
        if (IS_RECORDED(error))                                                                                        \
            write;                                                                                                     \
        return error;                                                                                                  \
    }                                                                                                                  \
    TWO_NAMES(FORM(Name))                                                                                              \
    int MPI_NAME(IName)(INSIDE parameters, MPI_Comm comm, MPI_Request *handle)                                         \
    {                                                                                                                  \
        CALL;                                                                                                          \
        const char *name = "MPI_" STRING(FORM(IName));                                                                 \
        int error = REAL(FORM(IName))(INSIDE arguments, comm, handle);                                                 \
        if (IS_RECORDED(error))                                                                                        \
            write;                                                                                                     \
        return error;                                                                                                  \
    }                                                                                                                  \
    TWO_NAMES(FORM(IName))

#define SENT const void *send, COUNT send_count, MPI_Datatype send_type
#define OF_SENT send, send_count, send_type
#define SENT_EACH const void *send, const COUNT send_counts[], const PLACE send_places[], MPI_Datatype send_type
#define OF_SENT_EACH send, send_counts, send_places, send_type
#define RECEIVED void *receive, COUNT count, MPI_Datatype type
#define OF_RECEIVED receive, count, type
#define RECEIVED_EACH void *receive, const COUNT counts[], const PLACE places[], MPI_Datatype type
#define OF_RECEIVED_EACH receive, counts, places, type
#define REDUCED const void *send, void *receive, COUNT count, MPI_Datatype type, MPI_Op op
#define OF_REDUCED send, receive, count, type, op

#define FORM(Name) Name
#define COUNT int
#define PLACE int
#include "collective_calls.h"
#if MPI_VERSION >= 4
#undef FORM
#undef COUNT
#undef PLACE
#define FORM(Name) Name##_c
#define COUNT MPI_Count
#define PLACE MPI_Aint
#include "collective_calls.h"
#endif
