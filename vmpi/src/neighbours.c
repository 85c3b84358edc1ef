/* Neighbourhood collectives on graph and Cartesian topologies, in blocking and nonblocking form.
 *
 * The e-th block that rank r receives from s is the block that s sends along the same edge. In a Cartesian topology it
 * is the block for the opposite direction of the same dimension. In a graph, s may send to r several times: the n-th
 * edge from s to r in the list of r is the n-th such edge in the list of s. */
#include "collective.h"

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

/* The index of the rank's incoming edge among the outgoing edges of its source. */
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

static void exchange_neighbours(const vmpi_sides *s)
{
    MPI_Comm comm = s->comm;
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

/* In the trace they are messages. */
static void trace(MPI_Comm comm, const vmpi_arrival *mine)
{
    int rank = vmpi_comm_rank_of(comm, vmpi_current->world);
    for (int e = 0; e < sources(comm, rank); e++)
        vmpi_trace_neighbour(comm, source(comm, rank, e), 1, part_bytes(vmpi_received_from(mine, e)));
    for (int e = 0; e < destinations(comm, rank); e++)
        vmpi_trace_neighbour(comm, destination(comm, rank, e), 0, part_bytes(vmpi_sent_to(mine, e)));
}

void vmpi_neighbours_trace_waits(MPI_Comm comm, vmpi_rank *owner)
{
    int rank = vmpi_comm_rank_of(comm, owner->world);
    for (int e = 0; e < sources(comm, rank); e++)
        vmpi_trace_neighbour_wait(comm, owner, source(comm, rank, e), 1);
    for (int e = 0; e < destinations(comm, rank); e++)
        vmpi_trace_neighbour_wait(comm, owner, destination(comm, rank, e), 0);
}

int vmpi_sources(MPI_Comm comm)
{
    return comm->extent || comm->edges ? sources(comm, vmpi_comm_rank_of(comm, vmpi_current->world)) : 0;
}

int vmpi_destinations(MPI_Comm comm)
{
    return comm->extent || comm->edges ? destinations(comm, vmpi_comm_rank_of(comm, vmpi_current->world)) : 0;
}

static int exchange(vmpi_arrival mine, MPI_Comm handle, MPI_Request *request)
{
    MPI_Comm comm = vmpi_comm(handle);
    if (!comm->extent && !comm->edges)
        vmpi_error(MPI_ERR_TOPOLOGY, "communicator %d has no topology", comm->id);
    int rank = vmpi_comm_rank_of(comm, vmpi_current->world);
    size_t bytes = 0;
    for (int e = 0; e < destinations(comm, rank); e++)
        if (destination(comm, rank, e) != MPI_PROC_NULL)
            bytes += part_bytes(vmpi_sent_to(&mine, e));
    trace(comm, &mine);
    if (!request)
        vmpi_neighbours_trace_waits(comm, vmpi_current);
    int error = vmpi_exchange(mine, handle, bytes, exchange_neighbours, request);
    if (request)
        (*request)->neighbours = 1;
    return error;
}

VMPI_COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, (VMPI_SENT, VMPI_RECEIVED), exchange, .one_block = 1,
                VMPI_OF_SENT, VMPI_OF_RECEIVED)
VMPI_COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv, (VMPI_SENT, VMPI_RECEIVED_EACH), exchange, .one_block = 1,
                VMPI_OF_SENT, VMPI_OF_RECEIVED_EACH)
VMPI_COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, (VMPI_SENT, VMPI_RECEIVED), exchange, VMPI_OF_SENT,
                VMPI_OF_RECEIVED)
VMPI_COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv, (VMPI_SENT_EACH, VMPI_RECEIVED_EACH), exchange,
                VMPI_OF_SENT_EACH, VMPI_OF_RECEIVED_EACH)
VMPI_COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw,
                (const void *send, const int send_counts[], const MPI_Aint send_offsets[],
                 const MPI_Datatype send_types[], void *receive, const int counts[], const MPI_Aint offsets[],
                 const MPI_Datatype receive_types[]),
                exchange, .send = send, .send_counts = send_counts, .send_offsets = send_offsets,
                .send_types = send_types, .receive = receive, .counts = counts, .offsets = offsets,
                .receive_types = receive_types)
