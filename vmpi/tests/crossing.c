/* Receives into large variables while other ranks run. Their first and last pages hold other variables, too, and are
 * copied when another rank continues, while the pages between them are mapped. */
#include <mpi.h>
#include <stdio.h>

enum { NUMBERS = 100003 };
static char before[1001];
static double first[NUMBERS], second[NUMBERS];
static char after[1001];

static int wrong(const double *numbers, double expected)
{
    int count = 0;
    for (int i = 0; i < NUMBERS; i++)
        count += numbers[i] != expected + i;
    return count;
}

int main(int argc, char **argv)
{
    int rank, errors = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    before[1000] = after[0] = (char)rank;
    if (rank == 0) {
        MPI_Request requests[2];
        MPI_Irecv(first, NUMBERS, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(second, NUMBERS, MPI_DOUBLE, 2, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        errors = wrong(first, 1) + wrong(second, 2);
    } else {
        for (int i = 0; i < NUMBERS; i++)
            first[i] = rank + i;
        MPI_Send(first, NUMBERS, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    }
    if (errors || before[1000] != rank || after[0] != rank)
        printf("rank %d: %d numbers are wrong\n", rank, errors);
    MPI_Finalize();
    return errors != 0;
}
