/* A wave on a ring of blocks: each step exchanges edges with both neighbours, works, and finds the largest value. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 20000, EDGE = 8000, STEPS = 10 };

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double *cell = calloc(CELLS + 2 * EDGE, sizeof *cell), largest = 0, all;
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    cell[EDGE + rank % CELLS] = 1;
    for (int step = 0; step < STEPS; step++) {
        MPI_Request open[4];
        MPI_Irecv(cell, EDGE, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &open[0]);
        MPI_Irecv(cell + EDGE + CELLS, EDGE, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &open[1]);
        MPI_Isend(cell + CELLS, EDGE, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &open[2]);
        MPI_Isend(cell + EDGE, EDGE, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &open[3]);
        MPI_Waitall(4, open, MPI_STATUSES_IGNORE);
        for (int i = EDGE; i < EDGE + CELLS; i++) {
            cell[i] = 0.5 * cell[i] + 0.25 * (cell[i - 1] + cell[i + 1]);
            largest = cell[i] > largest ? cell[i] : largest;
        }
        MPI_Allreduce(&largest, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    free(cell);
    MPI_Finalize();
    return 0;
}
