/* Time per call of three calls that wait for nobody, with or without the recorder: MPI_Irecv and MPI_Isend to the rank
 * itself, and MPI_Waitall. Processor time, the least of 50 batches, the mean over ranks. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { BATCHES = 50, ROUNDS = 5000, CALLS = 3 };

static double processor_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    int rank, ranks, in, out = 1;
    double least = 1e30, sum;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int batch = 0; batch < BATCHES; batch++) {
        double start = processor_ns();
        for (int i = 0; i < ROUNDS; i++) {
            MPI_Irecv(&in, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &requests[0]);
            MPI_Isend(&out, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &requests[1]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        }
        double took = (processor_ns() - start) / (ROUNDS * CALLS);
        least = took < least ? took : least;
    }
    MPI_Reduce(&least, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.0f ns a call on %d ranks\n", sum / ranks, ranks);
    MPI_Finalize();
    return 0;
}
