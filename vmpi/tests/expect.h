/* EXPECT(condition) stops the test with the place and the rank. */
#ifndef EXPECT_H
#define EXPECT_H
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            int expect_rank;                                                                                           \
            MPI_Comm_rank(MPI_COMM_WORLD, &expect_rank);                                                               \
            fprintf(stderr, "%s:%d: rank %d: not true: %s\n", __FILE__, __LINE__, expect_rank, #condition);            \
            MPI_Abort(MPI_COMM_WORLD, 9);                                                                              \
        }                                                                                                              \
    } while (0)
#endif
