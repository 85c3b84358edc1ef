/* A program that counts in a variable outside functions: on virtual ranks it would be wrong, so vmpicc refuses it. */
#include <mpi.h>
#include <stdio.h>

static int counted;
static const int fine = 3;

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    counted += fine;
    if (counted != 3)
        printf("shared: %d\n", counted);
    MPI_Finalize();
    return 0;
}
