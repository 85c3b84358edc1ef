/* Collectives of neighbours on graph and Cartesian topologies, each blocking and not.
 *
 * Rank r's e-th block from s is the one that s sends along the same edge. In a Cartesian topology that is the block for
 * the opposite direction of the same dimension; in a graph, where s may send to r several times, the n-th edge from s
 * to r in r's list is the n-th in that of s. */
#include "runtime.h"

/* Two edges along each dimension: down, then up. */
static int cart_peer(MPI_Comm comm, int rank, int edge)
{
    return vmpi_cart_neighbour(comm, rank, edge / 2, edge % 2 ? 1 : -1);
}

static int sources(MPI_Comm comm, int rank)
{
    return comm->extent ? 2 * comm->dimensions : comm->edges[rank].sources;
}

static int destinations(MPI_Comm comm, int rank)
{
    return comm->extent ? 2 * comm->dimensions : comm->edges[rank].destinations;
}

static int source(MPI_Comm comm, int rank, int edge)
{
    return comm->extent ? cart_peer(comm, rank, edge) : comm->edges[rank].source[edge];
}

static int destination(MPI_Comm comm, int rank, int edge)
{
    return comm->extent ? cart_peer(comm, rank, edge) : comm->edges[rank].destination[edge];
}

/* Which of its source's outgoing edges the rank's incoming one is. */
static int outgoing(MPI_Comm comm, int rank, int edge)
{
    if (comm->extent)
        return edge ^ 1;
    const vmpi_edges *here = &comm->edges[rank], *there = &comm->edges[here->source[edge]];
    int before = 0;
    for (int e = 0; e < edge; e++)
        before += here->source[e] == here->source[edge];
    for (int e = 0; e < there->destinations; e++)
        if (there->destination[e] == rank && before-- == 0)
            return e;
    vmpi_fail("rank %d receives from rank %d, which does not send to it", rank, here->source[edge]);
}

static void exchange_neighbours(MPI_Comm comm)
{
    for (int i = 0; i < comm->size; i++)
        for (int e = 0; e < sources(comm, i); e++) {
            int from = source(comm, i, e);
            if (from == MPI_PROC_NULL)
                continue;
            vmpi_part sent = vmpi_sent_to(&comm->at[from], outgoing(comm, i, e)),
                      received = vmpi_received_from(&comm->at[i], e);
            vmpi_move(sent.at, sent.count, sent.type, received.at, received.count, received.type);
        }
}

static size_t part_bytes(vmpi_part part)
{
    return vmpi_packed_bytes(part.type, part.count);
}

/* In the trace they are messages, all waited for where they begin. */
static void trace(MPI_Comm comm, const vmpi_arrival *mine)
{
    int rank = vmpi_comm_rank_of(comm, vmpi_current->world);
    for (int wait = 0; wait < 2; wait++) {
        for (int e = 0; e < sources(comm, rank); e++)
            vmpi_trace_neighbour(comm, source(comm, rank, e), 1, wait, part_bytes(vmpi_received_from(mine, e)));
        for (int e = 0; e < destinations(comm, rank); e++)
            vmpi_trace_neighbour(comm, destination(comm, rank, e), 0, wait, part_bytes(vmpi_sent_to(mine, e)));
    }
}

static int exchange(vmpi_arrival mine, MPI_Comm handle, MPI_Request *request)
{
    MPI_Comm comm = vmpi_comm(handle);
    if (!comm->extent && !comm->edges)
        vmpi_fail("communicator %d has no topology", comm->id);
    int rank = vmpi_comm_rank_of(comm, vmpi_current->world);
    size_t bytes = 0;
    for (int e = 0; e < destinations(comm, rank); e++)
        bytes += part_bytes(vmpi_sent_to(&mine, e));
    trace(comm, &mine);
    return vmpi_exchange(mine, handle, bytes, exchange_neighbours, request);
}

static int neighbor_allgather(const char *call, const void *send, int send_count, MPI_Datatype send_type, void *receive,
                              int receive_count, MPI_Datatype receive_type, MPI_Comm comm, MPI_Request *request)
{
    vmpi_arrival mine = {.call = call,
                         .one_block = 1,
                         .send = send,
                         .send_count = send_count,
                         .send_type = send_type,
                         .receive = receive,
                         .receive_count = receive_count,
                         .receive_type = receive_type};
    return exchange(mine, comm, request);
}

int MPI_Neighbor_allgather(const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
                           MPI_Datatype receive_type, MPI_Comm comm)
{
    VMPI_ENTER("MPI_Neighbor_allgather");
    return neighbor_allgather("MPI_Neighbor_allgather", send, send_count, send_type, receive, receive_count,
                              receive_type, comm, NULL);
}

int MPI_Ineighbor_allgather(const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
                            MPI_Datatype receive_type, MPI_Comm comm, MPI_Request *request)
{
    VMPI_ENTER("MPI_Ineighbor_allgather");
    return neighbor_allgather("MPI_Ineighbor_allgather", send, send_count, send_type, receive, receive_count,
                              receive_type, comm, request);
}

static int neighbor_allgatherv(const char *call, const void *send, int send_count, MPI_Datatype send_type,
                               void *receive, const int counts[], const int displacements[], MPI_Datatype receive_type,
                               MPI_Comm comm, MPI_Request *request)
{
    vmpi_arrival mine = {.call = call,
                         .one_block = 1,
                         .send = send,
                         .send_count = send_count,
                         .send_type = send_type,
                         .receive = receive,
                         .counts = counts,
                         .displacements = displacements,
                         .receive_type = receive_type};
    return exchange(mine, comm, request);
}

int MPI_Neighbor_allgatherv(const void *send, int send_count, MPI_Datatype send_type, void *receive, const int counts[],
                            const int displacements[], MPI_Datatype receive_type, MPI_Comm comm)
{
    VMPI_ENTER("MPI_Neighbor_allgatherv");
    return neighbor_allgatherv("MPI_Neighbor_allgatherv", send, send_count, send_type, receive, counts, displacements,
                               receive_type, comm, NULL);
}

int MPI_Ineighbor_allgatherv(const void *send, int send_count, MPI_Datatype send_type, void *receive,
                             const int counts[], const int displacements[], MPI_Datatype receive_type, MPI_Comm comm,
                             MPI_Request *request)
{
    VMPI_ENTER("MPI_Ineighbor_allgatherv");
    return neighbor_allgatherv("MPI_Ineighbor_allgatherv", send, send_count, send_type, receive, counts, displacements,
                               receive_type, comm, request);
}

static int neighbor_alltoall(const char *call, const void *send, int send_count, MPI_Datatype send_type, void *receive,
                             int receive_count, MPI_Datatype receive_type, MPI_Comm comm, MPI_Request *request)
{
    vmpi_arrival mine = {.call = call,
                         .send = send,
                         .send_count = send_count,
                         .send_type = send_type,
                         .receive = receive,
                         .receive_count = receive_count,
                         .receive_type = receive_type};
    return exchange(mine, comm, request);
}

int MPI_Neighbor_alltoall(const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
                          MPI_Datatype receive_type, MPI_Comm comm)
{
    VMPI_ENTER("MPI_Neighbor_alltoall");
    return neighbor_alltoall("MPI_Neighbor_alltoall", send, send_count, send_type, receive, receive_count, receive_type,
                             comm, NULL);
}

int MPI_Ineighbor_alltoall(const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
                           MPI_Datatype receive_type, MPI_Comm comm, MPI_Request *request)
{
    VMPI_ENTER("MPI_Ineighbor_alltoall");
    return neighbor_alltoall("MPI_Ineighbor_alltoall", send, send_count, send_type, receive, receive_count,
                             receive_type, comm, request);
}

static int neighbor_alltoallv(const char *call, const void *send, const int send_counts[],
                              const int send_displacements[], MPI_Datatype send_type, void *receive, const int counts[],
                              const int displacements[], MPI_Datatype receive_type, MPI_Comm comm, MPI_Request *request)
{
    vmpi_arrival mine = {.call = call,
                         .send = send,
                         .send_counts = send_counts,
                         .send_displacements = send_displacements,
                         .send_type = send_type,
                         .receive = receive,
                         .counts = counts,
                         .displacements = displacements,
                         .receive_type = receive_type};
    return exchange(mine, comm, request);
}

int MPI_Neighbor_alltoallv(const void *send, const int send_counts[], const int send_displacements[],
                           MPI_Datatype send_type, void *receive, const int counts[], const int displacements[],
                           MPI_Datatype receive_type, MPI_Comm comm)
{
    VMPI_ENTER("MPI_Neighbor_alltoallv");
    return neighbor_alltoallv("MPI_Neighbor_alltoallv", send, send_counts, send_displacements, send_type, receive,
                              counts, displacements, receive_type, comm, NULL);
}

int MPI_Ineighbor_alltoallv(const void *send, const int send_counts[], const int send_displacements[],
                            MPI_Datatype send_type, void *receive, const int counts[], const int displacements[],
                            MPI_Datatype receive_type, MPI_Comm comm, MPI_Request *request)
{
    VMPI_ENTER("MPI_Ineighbor_alltoallv");
    return neighbor_alltoallv("MPI_Ineighbor_alltoallv", send, send_counts, send_displacements, send_type, receive,
                              counts, displacements, receive_type, comm, request);
}

static int neighbor_alltoallw(const char *call, const void *send, const int send_counts[],
                              const MPI_Aint send_offsets[], const MPI_Datatype send_types[], void *receive,
                              const int counts[], const MPI_Aint offsets[], const MPI_Datatype receive_types[],
                              MPI_Comm comm, MPI_Request *request)
{
    vmpi_arrival mine = {.call = call,
                         .send = send,
                         .send_counts = send_counts,
                         .send_offsets = send_offsets,
                         .send_types = send_types,
                         .receive = receive,
                         .counts = counts,
                         .offsets = offsets,
                         .receive_types = receive_types};
    return exchange(mine, comm, request);
}

int MPI_Neighbor_alltoallw(const void *send, const int send_counts[], const MPI_Aint send_offsets[],
                           const MPI_Datatype send_types[], void *receive, const int counts[], const MPI_Aint offsets[],
                           const MPI_Datatype receive_types[], MPI_Comm comm)
{
    VMPI_ENTER("MPI_Neighbor_alltoallw");
    return neighbor_alltoallw("MPI_Neighbor_alltoallw", send, send_counts, send_offsets, send_types, receive, counts,
                              offsets, receive_types, comm, NULL);
}

int MPI_Ineighbor_alltoallw(const void *send, const int send_counts[], const MPI_Aint send_offsets[],
                            const MPI_Datatype send_types[], void *receive, const int counts[],
                            const MPI_Aint offsets[], const MPI_Datatype receive_types[], MPI_Comm comm,
                            MPI_Request *request)
{
    VMPI_ENTER("MPI_Ineighbor_alltoallw");
    return neighbor_alltoallw("MPI_Ineighbor_alltoallw", send, send_counts, send_offsets, send_types, receive, counts,
                              offsets, receive_types, comm, request);
}
