/* Collectives with a count for each rank, and reductions of parts. */
#include <stdlib.h>

#include "runtime.h"

static void exchange_vectors(MPI_Comm comm)
{
    for (int i = 0; i < comm->size; i++)
        for (int j = 0; j < comm->size; j++) {
            vmpi_arrival *from = &comm->at[i], *to = &comm->at[j];
            vmpi_move(vmpi_at((void *)from->send, from->send_displacements[j], from->send_type), from->send_counts[j],
                      from->send_type, vmpi_at(to->receive, to->displacements[i], to->receive_type), to->counts[i],
                      to->receive_type);
        }
}

int MPI_Alltoallv(const void *send, const int send_counts[], const int send_displacements[], MPI_Datatype send_type,
                  void *receive, const int counts[], const int displacements[], MPI_Datatype receive_type,
                  MPI_Comm handle)
{
    VMPI_ENTER("MPI_Alltoallv");
    if (send == MPI_IN_PLACE)
        vmpi_fail("MPI_IN_PLACE is not supported here");
    vmpi_arrival mine = {.call = "MPI_Alltoallv", .send = send, .send_counts = send_counts,
                         .send_displacements = send_displacements, .send_type = send_type, .receive = receive,
                         .counts = counts, .displacements = displacements, .receive_type = receive_type};
    size_t bytes = 0;
    for (int i = 0; i < vmpi_comm(handle)->size; i++)
        bytes += vmpi_packed_bytes(send_type, send_counts[i]);
    return vmpi_exchange(mine, handle, bytes, exchange_vectors);
}

static void scatter_sums(MPI_Comm comm)
{
    vmpi_arrival *first = &comm->at[0];
    char *sums = vmpi_combine(comm, comm->size - 1);
    size_t done = 0;
    for (int i = 0; i < comm->size; i++) {
        int count = first->counts ? first->counts[i] : first->receive_count;
        size_t bytes = vmpi_packed_bytes(first->send_type, count);
        vmpi_unpack(sums + done, bytes, comm->at[i].receive, first->send_type);
        done += bytes;
    }
    free(sums);
}

static int reduce_scatter(const char *call, const void *send, void *receive, const int *counts, int count,
                          MPI_Datatype type, MPI_Op op, MPI_Comm handle)
{
    int total = 0, size = vmpi_comm(handle)->size;
    for (int i = 0; i < size; i++)
        total += counts ? counts[i] : count;
    vmpi_arrival mine = {.call = call, .send = send, .send_count = total, .send_type = type, .receive = receive,
                         .receive_count = count, .counts = counts, .op = op};
    return vmpi_exchange(mine, handle, vmpi_packed_bytes(type, total), scatter_sums);
}

int MPI_Reduce_scatter(const void *send, void *receive, const int counts[], MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm)
{
    VMPI_ENTER("MPI_Reduce_scatter");
    return reduce_scatter("MPI_Reduce_scatter", send, receive, counts, 0, type, op, comm);
}

int MPI_Reduce_scatter_block(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    VMPI_ENTER("MPI_Reduce_scatter_block");
    return reduce_scatter("MPI_Reduce_scatter_block", send, receive, NULL, count, type, op, comm);
}

/* Rank r gets the sum of those before it; rank 0's buffer is left as it is. From the last to the first, since a rank's
 * own part may lie in its result. */
static void scan_before(MPI_Comm comm)
{
    for (int i = comm->size - 1; i > 0; i--) {
        void *sum = vmpi_combine(comm, i - 1);
        vmpi_unpack(sum, vmpi_packed_bytes(comm->at[i].send_type, comm->at[i].send_count), comm->at[i].receive,
                    comm->at[i].send_type);
        free(sum);
    }
}

int MPI_Exscan(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm handle)
{
    VMPI_ENTER("MPI_Exscan");
    vmpi_arrival mine = {.call = "MPI_Exscan", .send = send, .send_count = count, .send_type = type,
                         .receive = receive, .op = op};
    return vmpi_exchange(mine, handle, vmpi_packed_bytes(type, count), scan_before);
}
