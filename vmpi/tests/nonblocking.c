/* Every collective that does not block, several at a time on one communicator, against closed forms; the places of data
 * in MPI_Alltoall(v/w), in place and not. */
#include "expect.h"

static void several_at_once(MPI_Comm comm)
{
    int rank, n;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n);
    enum { CALLS = 13 };
    MPI_Request request[CALLS];
    int root = n / 2, value = rank == root ? 7 : 0, sum = 0, prefix = 0, before = -1, least = -1, part = 0, share = 0;
    int *all = calloc((size_t)n, sizeof(int)), *got = calloc((size_t)n, sizeof(int)), *to = calloc((size_t)n, sizeof(int));
    int *from = calloc((size_t)n, sizeof(int)), *ones = calloc((size_t)n, sizeof(int)), *terms = calloc((size_t)n, sizeof(int));
    int term = rank + 1, dealt = -1, *cards = calloc((size_t)n, sizeof(int)), *at = calloc((size_t)n, sizeof(int));
    int *many = calloc((size_t)n, sizeof(int)), one_card = -1;
    for (int i = 0; i < n; i++) {
        to[i] = 100 * rank + i;
        ones[i] = 1;
        terms[i] = rank + i;
        cards[i] = 10 * i;
        at[i] = n - 1 - i;
    }
    MPI_Ibarrier(comm, &request[0]);
    MPI_Ibcast(&value, 1, MPI_INT, root, comm, &request[1]);
    MPI_Iallreduce(&term, &sum, 1, MPI_INT, MPI_SUM, comm, &request[2]);
    MPI_Iallgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm, &request[3]);
    MPI_Igather(&term, 1, MPI_INT, got, 1, MPI_INT, root, comm, &request[4]);
    MPI_Ialltoall(to, 1, MPI_INT, from, 1, MPI_INT, comm, &request[5]);
    MPI_Iscan(&term, &prefix, 1, MPI_INT, MPI_SUM, comm, &request[6]);
    MPI_Iexscan(&term, &before, 1, MPI_INT, MPI_SUM, comm, &request[7]);
    MPI_Ireduce(&term, &least, 1, MPI_INT, MPI_MIN, root, comm, &request[8]);
    MPI_Ireduce_scatter_block(terms, &part, 1, MPI_INT, MPI_SUM, comm, &request[9]);
    MPI_Iscatter(cards, 1, MPI_INT, &dealt, 1, MPI_INT, root, comm, &request[10]);
    MPI_Iscatterv(cards, ones, at, MPI_INT, &one_card, 1, MPI_INT, root, comm, &request[11]);
    MPI_Igatherv(&term, 1, MPI_INT, many, ones, at, MPI_INT, root, comm, &request[12]);
    int again = 0;
    MPI_Allreduce(&term, &again, 1, MPI_INT, MPI_MAX, comm); /* a blocking call while they are in flight */
    EXPECT(again == n);
    int left = CALLS;
    while (left > CALLS / 2) { /* half of them one by one, by asking, the others at once */
        int index, flag;
        MPI_Testany(CALLS, request, &index, &flag, MPI_STATUS_IGNORE);
        left -= flag;
    }
    MPI_Waitall(CALLS, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < CALLS; i++)
        EXPECT(request[i] == MPI_REQUEST_NULL);
    EXPECT(value == 7 && sum == n * (n + 1) / 2 && prefix == (rank + 1) * (rank + 2) / 2);
    EXPECT(rank == 0 || before == rank * (rank + 1) / 2);
    EXPECT(rank != root || least == 1);
    EXPECT(part == n * (n - 1) / 2 + n * rank); /* sum over r of r + rank */
    EXPECT(dealt == 10 * rank && one_card == 10 * (n - 1 - rank));
    for (int i = 0; i < n; i++) {
        EXPECT(all[i] == i && from[i] == 100 * i + rank);
        EXPECT(rank != root || (got[i] == i + 1 && many[n - 1 - i] == i + 1));
    }
    MPI_Ireduce_scatter(terms, &share, ones, MPI_INT, MPI_SUM, comm, &request[0]);
    MPI_Iallgatherv(&term, 1, MPI_INT, many, ones, at, MPI_INT, comm, &request[1]);
    MPI_Ialltoallv(to, ones, at, MPI_INT, from, ones, at, MPI_INT, comm, &request[2]);
    MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
    EXPECT(share == part);
    for (int i = 0; i < n; i++) /* rank i's block for me is its element n - 1 - rank, and lies at n - 1 - i */
        EXPECT(many[n - 1 - i] == i + 1 && from[n - 1 - i] == 100 * i + n - 1 - rank);
    free(all), free(got), free(to), free(from), free(ones), free(terms), free(cards), free(at), free(many);
}

/* Rank r gives p a double, r + p / 1000, and r + 1 ints; with a type for each rank both lie in one buffer. */
static void types_for_each(void)
{
    int rank, n;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    int *counts = malloc(sizeof(int) * (size_t)n), *at = malloc(sizeof(int) * (size_t)n);
    MPI_Datatype *types = malloc(sizeof(MPI_Datatype) * (size_t)n);
    double *out = malloc(sizeof(double) * (size_t)n), *in = calloc((size_t)n, sizeof(double));
    for (int i = 0; i < n; i++) { /* even distances as doubles, odd ones as eight bytes */
        int even = (i + rank) % 2 == 0;
        counts[i] = even ? 1 : 8;
        types[i] = even ? MPI_DOUBLE : MPI_BYTE;
        at[i] = 8 * i;
        out[i] = rank + i / 1000.0;
    }
    MPI_Alltoallw(out, counts, at, types, in, counts, at, types, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        EXPECT(in[i] == i + rank / 1000.0);
    MPI_Request request;
    MPI_Ialltoallw(in, counts, at, types, out, counts, at, types, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++)
        EXPECT(out[i] == rank + i / 1000.0);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        EXPECT(out[i] == i + rank / 1000.0);
    free(counts), free(at), free(types), free(out), free(in);
}

static void later_communicators(void)
{
    int rank, flag = 0;
    MPI_Comm half, twin;
    MPI_Request request;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    several_at_once(half);
    MPI_Comm_idup(half, &twin, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    several_at_once(twin);
    MPI_Ibarrier(twin, &request);
    while (!flag)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    MPI_Comm_free(&twin);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    several_at_once(MPI_COMM_WORLD);
    several_at_once(MPI_COMM_SELF);
    types_for_each();
    later_communicators();
    MPI_Finalize();
    return 0;
}
