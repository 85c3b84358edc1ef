/* A rank serves a one-sided call while it is in a barrier, and cancels a receive and a send. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, value = 7, got = 0, never;
    MPI_Win window;
    MPI_Request open[3];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(&value, sizeof value, sizeof value, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    if (rank == 1) {
        MPI_Irecv(&never, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &open[0]);
        MPI_Irecv(&got, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &open[1]);
        MPI_Isend(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &open[2]);
        MPI_Cancel(&open[0]);
        MPI_Cancel(&open[2]);
        MPI_Send(&value, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&got, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* until rank 1 is in the barrier */
        MPI_Send(&value, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
        MPI_Get(&got, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
        MPI_Win_unlock(1, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Waitall(3, open, MPI_STATUSES_IGNORE);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
