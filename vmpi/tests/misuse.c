/* Mistakes end the run with a message: the first argument chooses the mistake. */
#include <string.h>

#include "expect.h"

int main(int argc, char **argv)
{
    int rank, value = 0;
    const char *what = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(what, "deadlock") == 0) {
        /* 0 waits for 1, 1 waits for everybody. */
        if (rank == 0)
            MPI_Recv(&value, 1, MPI_INT, 1, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(what, "unsupported") == 0) {
        MPI_Comm children;
        MPI_Comm_spawn("child", argv, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    } else if (strcmp(what, "truncation") == 0) {
        int two[2] = {1, 2};
        if (rank == 1)
            MPI_Send(two, 2, MPI_INT, 0, 4, MPI_COMM_WORLD);
        else if (rank == 0)
            MPI_Recv(&value, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(what, "mismatch") == 0) {
        if (rank == 0)
            MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
        else
            MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(what, "peer") == 0) {
        MPI_Send(&value, 1, MPI_INT, 1000000, 4, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return value;
}
