/* What a program may do with its process, while its ranks share one: the first argument chooses. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks;

/* Both ranks look in vain far more often than others need to answer, and then answer each other. */
static void poll_and_work(void)
{
    int other = 1 - rank, flag = 0, mine = rank, got = -1;
    for (int i = 0; i < 1000; i++)
        MPI_Iprobe(other, 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Request request;
    MPI_Irecv(&got, 1, MPI_INT, other, 3, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 1000; i++)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    MPI_Send(&mine, 1, MPI_INT, other, 3, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("%d\n", got);
}

static void sleep_together(void)
{
    double start = MPI_Wtime();
    usleep(300000);
    MPI_Barrier(MPI_COMM_WORLD);
    double took = MPI_Wtime() - start;
    printf("%s\n", took > 0.29 && took < 0.9 ? "together" : "one after another");
}

static void use_environment(void)
{
    char mine[16], name[16];
    int wrong = 0;
    snprintf(mine, sizeof mine, "%d", rank);
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "V%d_%d", rank, i);
        setenv(name, mine, 1);
        setenv("MY_DEVICE", mine, 1);
        MPI_Barrier(MPI_COMM_WORLD);
        wrong += !getenv("MY_DEVICE") || atoi(getenv("MY_DEVICE")) != rank;
    }
    unsetenv("V0_3");
    printf("%s\n", wrong || getenv("V0_3") || !getenv("PATH") ? "wrong" : "own");
}

static int __attribute__((noinline)) overflow(void)
{
    volatile char deep[4 << 20];
    for (size_t i = sizeof deep; i > 0; i -= 256)
        deep[i - 1] = 1;
    return deep[0];
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int provided = -1, level = strcmp(what, "funneled") == 0 ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE;
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int last = rank == ranks - 1;
    if (strcmp(what, "poll") == 0)
        poll_and_work();
    else if (strcmp(what, "sleep") == 0)
        sleep_together();
    else if (strcmp(what, "environment") == 0)
        use_environment();
    else if (strcmp(what, "overflow") == 0)
        overflow();
    else if (strcmp(what, "exit") == 0 && last)
        exit(3);
    else if (strcmp(what, "_exit") == 0 && last)
        _exit(0);
    else if (strcmp(what, "return") == 0 && last)
        return 4;
    else if (strcmp(what, "fault") == 0) {
        printf("before\n");
        if (last)
            *(volatile int *)8 = 1;
    } else {
        printf("%d of %d, %s\n", rank, ranks, provided == MPI_THREAD_FUNNELED ? "funneled" : "serialized");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    exit(0);
}
