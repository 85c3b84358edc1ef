/* A program that counts in a variable outside functions: private to each rank, unless the user wants it shared; a
 * thread-local one, which would be shared, is refused. */
#include <mpi.h>
#include <stdio.h>

static int counted;
static const int fine = 3;
#ifdef THREAD
static __thread int counted_by_thread;
#define counted counted_by_thread
#endif

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    counted += fine;
    if (counted != 3)
        printf("shared: %d\n", counted);
    MPI_Finalize();
    return 0;
}
