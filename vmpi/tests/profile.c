/* A profiling library for a real MPI: what a program sends there, to hold vmpi's record against. Through MPI's own
 * profiling layer (PMPI), so that neither the program nor the MPI is changed; shared, and loaded before (LD_PRELOAD).
 *
 * Every rank writes the file $MPI_PROFILE.RANK, a line a call:
 *   message SOURCE DESTINATION BYTES    ranks of the world; two-sided and one-sided
 *   call NAME RANKS BYTES               a collective on a communicator of RANKS, to which this rank gives BYTES (what it
 *                                       gets of a broadcast or a scatter) */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_PERSISTENT = 1024 };

static FILE *file;
static int me;

static long bytes_of(int count, MPI_Datatype type)
{
    int size;
    PMPI_Type_size(type, &size);
    return (long)count * size;
}

static void open_profile(void)
{
    char path[4096];
    PMPI_Comm_rank(MPI_COMM_WORLD, &me);
    snprintf(path, sizeof path, "%s.%d", getenv("MPI_PROFILE"), me);
    file = fopen(path, "w");
    if (!file)
        PMPI_Abort(MPI_COMM_WORLD, 1);
}

int MPI_Init(int *argc, char ***argv)
{
    int status = PMPI_Init(argc, argv);
    open_profile();
    return status;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int status = PMPI_Init_thread(argc, argv, required, provided);
    open_profile();
    return status;
}

int MPI_Finalize(void)
{
    fclose(file);
    return PMPI_Finalize();
}

/* ---- messages ---- */

static int world_of(MPI_Group group, int rank)
{
    MPI_Group world;
    int there;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(group, 1, &rank, world, &there);
    PMPI_Group_free(&world);
    return there;
}

static void message(MPI_Comm comm, int destination, long bytes)
{
    MPI_Group group;
    if (destination == MPI_PROC_NULL)
        return;
    PMPI_Comm_group(comm, &group);
    fprintf(file, "message %d %d %ld\n", me, world_of(group, destination), bytes);
    PMPI_Group_free(&group);
}

#define SEND(Name)                                                                                                     \
    int MPI_##Name(const void *buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm)          \
    {                                                                                                                  \
        message(comm, destination, bytes_of(count, type));                                                             \
        return PMPI_##Name(buffer, count, type, destination, tag, comm);                                               \
    }
SEND(Send)
SEND(Ssend)
SEND(Bsend)
SEND(Rsend)

#define ISEND(Name)                                                                                                    \
    int MPI_##Name(const void *buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,          \
                   MPI_Request *request)                                                                               \
    {                                                                                                                  \
        message(comm, destination, bytes_of(count, type));                                                             \
        return PMPI_##Name(buffer, count, type, destination, tag, comm, request);                                      \
    }
ISEND(Isend)
ISEND(Issend)
ISEND(Ibsend)
ISEND(Irsend)

int MPI_Sendrecv(const void *send, int send_count, MPI_Datatype send_type, int destination, int send_tag, void *receive,
                 int receive_count, MPI_Datatype receive_type, int source, int receive_tag, MPI_Comm comm,
                 MPI_Status *status)
{
    message(comm, destination, bytes_of(send_count, send_type));
    return PMPI_Sendrecv(send, send_count, send_type, destination, send_tag, receive, receive_count, receive_type,
                         source, receive_tag, comm, status);
}

int MPI_Sendrecv_replace(void *buffer, int count, MPI_Datatype type, int destination, int send_tag, int source,
                         int receive_tag, MPI_Comm comm, MPI_Status *status)
{
    message(comm, destination, bytes_of(count, type));
    return PMPI_Sendrecv_replace(buffer, count, type, destination, send_tag, source, receive_tag, comm, status);
}

/* Persistent sends, which start again and again. */
static struct {
    MPI_Request request;
    MPI_Comm comm;
    int destination;
    long bytes;
} persistent[MOST_PERSISTENT];
static int persistent_sends;

static void keep(MPI_Request request, MPI_Comm comm, int destination, long bytes)
{
    if (persistent_sends == MOST_PERSISTENT)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    persistent[persistent_sends].request = request;
    persistent[persistent_sends].comm = comm;
    persistent[persistent_sends].destination = destination;
    persistent[persistent_sends++].bytes = bytes;
}

static void started(MPI_Request request)
{
    for (int i = persistent_sends - 1; i >= 0; i--) /* a request that was freed may have come back as another */
        if (persistent[i].request == request) {
            message(persistent[i].comm, persistent[i].destination, persistent[i].bytes);
            return;
        }
}

#define INIT(Name)                                                                                                     \
    int MPI_##Name(const void *buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,          \
                   MPI_Request *request)                                                                               \
    {                                                                                                                  \
        int status = PMPI_##Name(buffer, count, type, destination, tag, comm, request);                                \
        keep(*request, comm, destination, bytes_of(count, type));                                                      \
        return status;                                                                                                 \
    }
INIT(Send_init)
INIT(Ssend_init)
INIT(Bsend_init)
INIT(Rsend_init)

int MPI_Recv_init(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    int status = PMPI_Recv_init(buffer, count, type, source, tag, comm, request);
    keep(*request, comm, MPI_PROC_NULL, 0); /* its number may have belonged to a freed send */
    return status;
}

int MPI_Start(MPI_Request *request)
{
    started(*request);
    return PMPI_Start(request);
}

int MPI_Startall(int count, MPI_Request requests[])
{
    for (int i = 0; i < count; i++)
        started(requests[i]);
    return PMPI_Startall(count, requests);
}

static void one_sided(MPI_Win window, int target, long bytes, int fetches)
{
    MPI_Group group;
    if (target == MPI_PROC_NULL)
        return;
    PMPI_Win_get_group(window, &group);
    int there = world_of(group, target);
    fprintf(file, "message %d %d %ld\n", fetches ? there : me, fetches ? me : there, bytes);
    PMPI_Group_free(&group);
}

int MPI_Put(const void *origin, int origin_count, MPI_Datatype origin_type, int target, MPI_Aint displacement,
            int count, MPI_Datatype type, MPI_Win window)
{
    one_sided(window, target, bytes_of(origin_count, origin_type), 0);
    return PMPI_Put(origin, origin_count, origin_type, target, displacement, count, type, window);
}

int MPI_Get(void *origin, int origin_count, MPI_Datatype origin_type, int target, MPI_Aint displacement, int count,
            MPI_Datatype type, MPI_Win window)
{
    one_sided(window, target, bytes_of(count, type), 1);
    return PMPI_Get(origin, origin_count, origin_type, target, displacement, count, type, window);
}

int MPI_Accumulate(const void *origin, int origin_count, MPI_Datatype origin_type, int target, MPI_Aint displacement,
                   int count, MPI_Datatype type, MPI_Op op, MPI_Win window)
{
    one_sided(window, target, bytes_of(count, type), 0);
    return PMPI_Accumulate(origin, origin_count, origin_type, target, displacement, count, type, op, window);
}

int MPI_Fetch_and_op(const void *origin, void *result, MPI_Datatype type, int target, MPI_Aint displacement, MPI_Op op,
                     MPI_Win window)
{
    one_sided(window, target, bytes_of(1, type), 1);
    if (op != MPI_NO_OP)
        one_sided(window, target, bytes_of(1, type), 0);
    return PMPI_Fetch_and_op(origin, result, type, target, displacement, op, window);
}

/* ---- collectives ---- */

static void call(const char *name, MPI_Comm comm, long bytes)
{
    int ranks;
    PMPI_Comm_size(comm, &ranks);
    fprintf(file, "call %s %d %ld\n", name, ranks, bytes);
}

static long sum_of(int parts, const int counts[], MPI_Datatype type, const MPI_Datatype types[])
{
    long bytes = 0;
    for (int i = 0; i < parts; i++)
        bytes += bytes_of(counts[i], types ? types[i] : type);
    return bytes;
}

static int size_of(MPI_Comm comm)
{
    int ranks;
    PMPI_Comm_size(comm, &ranks);
    return ranks;
}

static long given(const void *send, int count, MPI_Datatype type)
{
    return send == MPI_IN_PLACE ? 0 : bytes_of(count, type);
}

/* Where its neighbours in a topology are, those that there are not among them: MPI_PROC_NULL at open ends of a grid. */
static int destinations(MPI_Comm comm, int ranks[], int most)
{
    int kind, count = 0, source, weighted, rank;
    PMPI_Topo_test(comm, &kind);
    if (kind == MPI_CART) {
        PMPI_Cartdim_get(comm, &count);
        for (int d = 0; d < count; d++)
            PMPI_Cart_shift(comm, d, 1, &ranks[2 * d], &ranks[2 * d + 1]);
        return 2 * count;
    }
    PMPI_Comm_rank(comm, &rank);
    if (kind == MPI_GRAPH) {
        PMPI_Graph_neighbors_count(comm, rank, &count);
        PMPI_Graph_neighbors(comm, rank, most, ranks);
        return count;
    }
    PMPI_Dist_graph_neighbors_count(comm, &source, &count, &weighted);
    int *sources = malloc(((size_t)source + 1) * 2 * sizeof *sources), *weights = malloc(((size_t)most + 1) * sizeof *weights);
    PMPI_Dist_graph_neighbors(comm, source, sources, sources + source, count, ranks, weights);
    free(sources);
    free(weights);
    return count;
}

/* What goes to neighbours: one block to each, one size of block, one size each, or a type each, too. */
static long to_neighbours(MPI_Comm comm, int count, const int counts[], MPI_Datatype type, const MPI_Datatype types[])
{
    enum { MOST = 1024 };
    int ranks[MOST], edges = destinations(comm, ranks, MOST);
    long bytes = 0;
    for (int e = 0; e < edges; e++)
        if (ranks[e] != MPI_PROC_NULL)
            bytes += bytes_of(counts ? counts[e] : count, types ? types[e] : type);
    return bytes;
}

#define INSIDE(...) __VA_ARGS__
#define BOTH(Name, IName, arguments, passed, bytes)                                                                    \
    int MPI_##Name(INSIDE arguments, MPI_Comm comm)                                                                    \
    {                                                                                                                  \
        call("MPI_" #Name, comm, bytes);                                                                               \
        return PMPI_##Name(INSIDE passed, comm);                                                                       \
    }                                                                                                                  \
    int MPI_##IName(INSIDE arguments, MPI_Comm comm, MPI_Request *request)                                             \
    {                                                                                                                  \
        call("MPI_" #IName, comm, bytes);                                                                              \
        return PMPI_##IName(INSIDE passed, comm, request);                                                             \
    }
#define SENT const void *send, int sent, MPI_Datatype type
#define SENT_EACH const void *send, const int sent[], const int from[], MPI_Datatype type
#define GOT void *receive, int got, MPI_Datatype as
#define GOT_EACH void *receive, const int got[], const int to[], MPI_Datatype as
#define REDUCED const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op
#define TYPED(Place)                                                                                                   \
    const void *send, const int sent[], const Place from[], const MPI_Datatype types[], void *receive,                 \
        const int got[], const Place to[], const MPI_Datatype as[]

BOTH(Bcast, Ibcast, (void *buffer, int count, MPI_Datatype type, int root), (buffer, count, type, root),
     bytes_of(count, type))
BOTH(Gather, Igather, (SENT, GOT, int root), (send, sent, type, receive, got, as, root), given(send, sent, type))
BOTH(Gatherv, Igatherv, (SENT, GOT_EACH, int root), (send, sent, type, receive, got, to, as, root),
     given(send, sent, type))
BOTH(Scatter, Iscatter, (SENT, GOT, int root), (send, sent, type, receive, got, as, root), bytes_of(got, as))
BOTH(Scatterv, Iscatterv, (SENT_EACH, GOT, int root), (send, sent, from, type, receive, got, as, root),
     bytes_of(got, as))
BOTH(Allgather, Iallgather, (SENT, GOT), (send, sent, type, receive, got, as), given(send, sent, type))
BOTH(Allgatherv, Iallgatherv, (SENT, GOT_EACH), (send, sent, type, receive, got, to, as), given(send, sent, type))
BOTH(Alltoall, Ialltoall, (SENT, GOT), (send, sent, type, receive, got, as),
     size_of(comm) * (send == MPI_IN_PLACE ? bytes_of(got, as) : bytes_of(sent, type)))
BOTH(Alltoallv, Ialltoallv, (SENT_EACH, GOT_EACH), (send, sent, from, type, receive, got, to, as),
     send == MPI_IN_PLACE ? sum_of(size_of(comm), got, as, NULL) : sum_of(size_of(comm), sent, type, NULL))
BOTH(Alltoallw, Ialltoallw, (TYPED(int)), (send, sent, from, types, receive, got, to, as),
     send == MPI_IN_PLACE ? sum_of(size_of(comm), got, MPI_BYTE, as) : sum_of(size_of(comm), sent, MPI_BYTE, types))
BOTH(Reduce, Ireduce, (REDUCED, int root), (send, receive, count, type, op, root), bytes_of(count, type))
BOTH(Allreduce, Iallreduce, (REDUCED), (send, receive, count, type, op), bytes_of(count, type))
BOTH(Scan, Iscan, (REDUCED), (send, receive, count, type, op), bytes_of(count, type))
BOTH(Exscan, Iexscan, (REDUCED), (send, receive, count, type, op), bytes_of(count, type))
BOTH(Reduce_scatter, Ireduce_scatter,
     (const void *send, void *receive, const int counts[], MPI_Datatype type, MPI_Op op),
     (send, receive, counts, type, op), sum_of(size_of(comm), counts, type, NULL))
BOTH(Reduce_scatter_block, Ireduce_scatter_block, (REDUCED), (send, receive, count, type, op),
     size_of(comm) * bytes_of(count, type))
BOTH(Neighbor_allgather, Ineighbor_allgather, (SENT, GOT), (send, sent, type, receive, got, as),
     to_neighbours(comm, sent, NULL, type, NULL))
BOTH(Neighbor_allgatherv, Ineighbor_allgatherv, (SENT, GOT_EACH), (send, sent, type, receive, got, to, as),
     to_neighbours(comm, sent, NULL, type, NULL))
BOTH(Neighbor_alltoall, Ineighbor_alltoall, (SENT, GOT), (send, sent, type, receive, got, as),
     to_neighbours(comm, sent, NULL, type, NULL))
BOTH(Neighbor_alltoallv, Ineighbor_alltoallv, (SENT_EACH, GOT_EACH), (send, sent, from, type, receive, got, to, as),
     to_neighbours(comm, 0, sent, type, NULL))
BOTH(Neighbor_alltoallw, Ineighbor_alltoallw, (TYPED(MPI_Aint)), (send, sent, from, types, receive, got, to, as),
     to_neighbours(comm, 0, sent, MPI_BYTE, types))

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request)
{
    call("MPI_Comm_idup", comm, 0);
    return PMPI_Comm_idup(comm, made, request);
}

int MPI_Barrier(MPI_Comm comm)
{
    call("MPI_Barrier", comm, 0);
    return PMPI_Barrier(comm);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    call("MPI_Ibarrier", comm, 0);
    return PMPI_Ibarrier(comm, request);
}
