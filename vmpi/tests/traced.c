/* Known calls on communicators of the program's own; rank 1's trace is traced.txt. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, in[2] = {0, 0}, out[2] = {1, 2}, other[2] = {3, 4}, all[3], extent[1] = {4}, around[1] = {1};
    MPI_Comm half, ring;
    MPI_Request request, open[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half); /* rank 1 is the second of 3 and 1 */
    MPI_Bcast(in, 2, MPI_INT, 1, half);
    if (rank == 1)
        MPI_Send(out, 1, MPI_INT, 0, 5, half);
    if (rank == 3)
        MPI_Recv(in, 2, MPI_INT, 1, 5, half, MPI_STATUS_IGNORE);
    MPI_Allgatherv(out, 1 + (rank < 2), MPI_INT, all, (int[]){1, 2}, (int[]){0, 1}, MPI_INT, half);
    MPI_Comm_free(&half);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 1 ? MPI_UNDEFINED : 0, 0, &half); /* not in it */
    if (half != MPI_COMM_NULL)
        MPI_Barrier(half);
    MPI_Cart_create(MPI_COMM_WORLD, 1, extent, around, 0, &ring);
    MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Iallreduce(out, in, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    /* Two are open on one communicator, which is freed before the waits. */
    MPI_Comm_dup(MPI_COMM_WORLD, &ring);
    MPI_Ibcast(other, 2, MPI_INT, 0, ring, &open[0]);
    MPI_Iallreduce(out, in, 2, MPI_INT, MPI_SUM, ring, &open[1]);
    if (argc > 1) /* Open MPI 4.1 crashes */
        MPI_Comm_free(&ring);
    MPI_Wait(&open[1], MPI_STATUS_IGNORE);
    MPI_Wait(&open[0], MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
