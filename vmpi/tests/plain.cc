// A C++ program as it is, with a main of its own form: a ring of messages and a count by nodes.
#include <mpi.h>

#include <cstdio>
#include <vector>

int main()
{
    MPI_Init(nullptr, nullptr);
    int rank, ranks, node;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm shared;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
    MPI_Comm_size(shared, &node);
    std::vector<int> token(10, rank);
    MPI_Sendrecv_replace(token.data(), 10, MPI_INT, (rank + 1) % ranks, 0, (rank + ranks - 1) % ranks, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int sum = 0;
    MPI_Reduce(&token[9], &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("%d ranks, %d on a node, sum %d\n", ranks, node, sum);
    MPI_Finalize();
    return 0;
}
