/* Every supported collective against its closed form, on the world, on split communicators and on self. */
#include "expect.h"

static void check_on(MPI_Comm comm)
{
    int rank, n;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n);
    int *many = malloc((size_t)(n * n + n) * sizeof *many), *counts = malloc((size_t)n * sizeof *counts),
        *offsets = malloc((size_t)n * sizeof *offsets);

    int value = rank == n - 1 ? 42 : 0;
    MPI_Bcast(&value, 1, MPI_INT, n - 1, comm);
    EXPECT(value == 42);

    long in[2] = {rank + 1, -rank}, out[2] = {0, 0};
    MPI_Allreduce(in, out, 2, MPI_LONG, MPI_SUM, comm); /* n(n+1)/2 and -n(n-1)/2 */
    EXPECT(out[0] == (long)n * (n + 1) / 2 && out[1] == -(long)n * (n - 1) / 2);
    MPI_Allreduce(MPI_IN_PLACE, in, 2, MPI_LONG, MPI_MAX, comm);
    EXPECT(in[0] == n && in[1] == 0);
    double low = 1.0 / (rank + 1), least = 0;
    MPI_Reduce(&low, &least, 1, MPI_DOUBLE, MPI_MIN, 0, comm);
    EXPECT(rank != 0 || least == 1.0 / n);
    int one = rank == 0, any = 0, all = 1;
    MPI_Allreduce(&one, &any, 1, MPI_INT, MPI_LOR, comm);
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_LAND, comm);
    EXPECT(any == 1 && all == (n == 1));
    int prefix = 0, term = rank + 1;
    MPI_Scan(&term, &prefix, 1, MPI_INT, MPI_SUM, comm);
    EXPECT(prefix == (rank + 1) * (rank + 2) / 2);

    MPI_Allgather(&rank, 1, MPI_INT, many, 1, MPI_INT, comm);
    for (int i = 0; i < n; i++)
        EXPECT(many[i] == i);
    /* Rank i contributes i + 1 copies of i: it starts at i(i+1)/2. */
    int total = 0;
    for (int i = 0; i < n; i++) {
        counts[i] = i + 1;
        offsets[i] = total;
        total += i + 1;
    }
    int *mine = malloc((size_t)(rank + 1) * sizeof *mine);
    for (int i = 0; i <= rank; i++)
        mine[i] = rank;
    MPI_Allgatherv(mine, rank + 1, MPI_INT, many, counts, offsets, MPI_INT, comm);
    for (int i = 0; i < n; i++)
        EXPECT(many[offsets[i]] == i && many[offsets[i] + i] == i);
    for (int i = 0; i < total; i++)
        many[i] = -1;
    MPI_Gatherv(mine, rank + 1, MPI_INT, many, counts, offsets, MPI_INT, 0, comm);
    EXPECT(rank != 0 || many[total - 1] == n - 1);
    MPI_Scatterv(many, counts, offsets, MPI_INT, mine, rank + 1, MPI_INT, 0, comm);
    EXPECT(mine[0] == rank && mine[rank] == rank);
    int square = rank * rank, back = -1;
    MPI_Gather(&square, 1, MPI_INT, many, 1, MPI_INT, n / 2, comm);
    EXPECT(rank != n / 2 || many[n - 1] == (n - 1) * (n - 1));
    MPI_Scatter(many, 1, MPI_INT, &back, 1, MPI_INT, n / 2, comm);
    EXPECT(back == square);
    int *to = malloc((size_t)n * sizeof *to);
    for (int i = 0; i < n; i++)
        to[i] = 1000 * rank + i;
    MPI_Alltoall(to, 1, MPI_INT, many, 1, MPI_INT, comm);
    for (int i = 0; i < n; i++)
        EXPECT(many[i] == 1000 * i + rank);
    MPI_Barrier(comm);
    free(to);
    free(mine);
    free(many);
    free(counts);
    free(offsets);
}

int main(int argc, char **argv)
{
    int rank, ranks, size, position;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_on(MPI_COMM_WORLD);
    check_on(MPI_COMM_SELF);

    /* Thirds, in reverse order: the last rank of each colour becomes 0. */
    MPI_Comm third, twin, odd;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 3, -rank, &third);
    MPI_Comm_size(third, &size);
    MPI_Comm_rank(third, &position);
    EXPECT(size == (ranks - rank % 3 + 2) / 3);
    EXPECT(position == size - 1 - rank / 3);
    check_on(third);
    MPI_Comm_dup(third, &twin);
    check_on(twin);
    MPI_Comm_free(&twin);
    MPI_Comm_free(&third);
    EXPECT(third == MPI_COMM_NULL);

    MPI_Group all, half;
    int *members = malloc((size_t)ranks * sizeof *members), count = 0;
    for (int i = 1; i < ranks; i += 2)
        members[count++] = i;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, count, members, &half);
    MPI_Comm_create(MPI_COMM_WORLD, half, &odd);
    EXPECT((odd != MPI_COMM_NULL) == (rank % 2 == 1));
    if (odd != MPI_COMM_NULL) {
        MPI_Comm_rank(odd, &position);
        EXPECT(position == rank / 2);
        check_on(odd);
        MPI_Comm_free(&odd);
    }
    MPI_Group_free(&half);
    MPI_Group_free(&all);
    free(members);
    MPI_Finalize();
    return 0;
}
