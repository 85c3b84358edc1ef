/* Calls of every kind that a time-independent trace has, on four ranks, twice.
 * smpicc calls.c -o calls && smpirun -n 4 -platform P -hostfile H -trace-ti --cfg=tracing/filename:calls.trace ./calls */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, n;
    MPI_Request q[4];
    MPI_Status status;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &n);
    char *b = calloc(1, 1 << 20);
    double in[64] = {0}, out[512];
    int next = (rank + 1) % n, last = (rank + n - 1) % n;
    int counts[4] = {1, 2, 3, 4}, places[4] = {0, 1, 3, 6}, own[4], from[4];
    for (int i = 0; i < 4; i++) {
        own[i] = rank + 1;
        from[i] = i * (rank + 1);
    }
    for (int round = 0; round < 2; round++) {
        MPI_Irecv(b, 1000, MPI_CHAR, last, 7, world, q);
        MPI_Irecv(b + 2000, 10, MPI_DOUBLE, next, 8, world, q + 1);
        MPI_Isend(b + 4000, 1000, MPI_CHAR, next, 7, world, q + 2);
        MPI_Isend(b + 6000, 10, MPI_DOUBLE, last, 8, world, q + 3);
        if (round == 0)
            MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
        else
            for (int i = 0; i < 4; i++)
                MPI_Wait(q + i, &status);
        MPI_Allreduce(in, out, 5, MPI_DOUBLE, MPI_SUM, world);
        MPI_Reduce(in, out, 3, MPI_INT, MPI_SUM, 1, world);
        MPI_Bcast(in, 4, MPI_DOUBLE, 2, world);
        MPI_Alltoall(in, 2, MPI_DOUBLE, out, 2, MPI_DOUBLE, world);
        MPI_Allgather(in, 2, MPI_DOUBLE, out, 2, MPI_DOUBLE, world);
        MPI_Gather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, 3, world);
        MPI_Scatter(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, 0, world);
        MPI_Alltoallv(in, counts, places, MPI_DOUBLE, out, own, from, MPI_DOUBLE, world);
        MPI_Allgatherv(in, rank + 1, MPI_DOUBLE, out, counts, places, MPI_DOUBLE, world);
        MPI_Gatherv(in, rank + 1, MPI_DOUBLE, out, counts, places, MPI_DOUBLE, 0, world);
        MPI_Scatterv(in, counts, places, MPI_DOUBLE, out, rank + 1, MPI_DOUBLE, 0, world);
        MPI_Reduce_scatter(in, out, counts, MPI_DOUBLE, MPI_SUM, world);
        MPI_Scan(in, out, 4, MPI_DOUBLE, MPI_SUM, world);
        MPI_Iallreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, world, q);
        MPI_Wait(q, &status);
        MPI_Barrier(world);
        if (rank == 0)
            MPI_Send(b, 20000, MPI_CHAR, 1, 3, world);
        if (rank == 1)
            MPI_Recv(b, 30000, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status);
        MPI_Sendrecv(b, 100, MPI_CHAR, next, 1, b + 50000, 100, MPI_CHAR, last, 1, world, &status);
        MPI_Irecv(b, 10, MPI_CHAR, last, 5, world, q);
        MPI_Irecv(b + 200, 10, MPI_CHAR, last, 6, world, q + 1);
        MPI_Send(b + 100, 10, MPI_CHAR, next, 5, world);
        MPI_Send(b + 100, 10, MPI_CHAR, next, 6, world);
        int which, done = 0;
        MPI_Waitany(2, q, &which, &status);
        while (!done)
            MPI_Test(q + 1 - which, &done, &status);
    }
    MPI_Finalize();
}
