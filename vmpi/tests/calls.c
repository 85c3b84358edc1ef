/* Calls that applications make: pairs, partial waits, vectors, topologies, pairs of values, packing. */
#include "expect.h"
#include <string.h>

static void check_pairs(int rank, int n)
{
    int right = (rank + 1) % n, left = (rank + n - 1) % n, got = -1, mine = 10 * rank;
    MPI_Status status;
    MPI_Sendrecv(&mine, 1, MPI_INT, right, 1, &got, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &status);
    EXPECT(got == 10 * left && status.MPI_SOURCE == left && status.MPI_TAG == 1);
    MPI_Sendrecv_replace(&mine, 1, MPI_INT, right, 2, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(mine == 10 * left);
    got = 7;
    MPI_Sendrecv(&mine, 1, MPI_INT, MPI_PROC_NULL, 1, &got, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
    EXPECT(got == 7);
    /* A synchronous and a buffered send that somebody waits for. */
    char room[1000 + MPI_BSEND_OVERHEAD];
    void *back;
    int size = 0;
    MPI_Request request;
    MPI_Buffer_attach(room, sizeof room);
    MPI_Irecv(&got, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &request);
    MPI_Ssend(&rank, 1, MPI_INT, right, 3, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(got == left);
    MPI_Bsend(&mine, 1, MPI_INT, right, 4, MPI_COMM_WORLD);
    MPI_Recv(&got, 1, MPI_INT, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&back, &size);
    EXPECT(back == room && size == (int)sizeof room);
    MPI_Issend(&rank, 1, MPI_INT, right, 5, MPI_COMM_WORLD, &request);
    MPI_Recv(&got, 1, MPI_INT, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(got == left);
    MPI_Send_init(&rank, 1, MPI_INT, right, 6, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&request);
        MPI_Recv(&got, 1, MPI_INT, left, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        EXPECT(got == left);
    }
    MPI_Request_free(&request);
}

/* Rank 0 takes what comes of everybody, some at a time. */
static void check_partial_waits(int rank, int n)
{
    enum { ROUNDS = 3 };
    if (rank > 0) {
        for (int i = 0; i < ROUNDS; i++)
            MPI_Send(&rank, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
        return;
    }
    MPI_Request *requests = malloc((size_t)n * sizeof *requests);
    int *values = calloc((size_t)n, sizeof *values), *indices = malloc((size_t)n * sizeof *indices), done, flag, index;
    MPI_Status *statuses = malloc((size_t)n * sizeof *statuses);
    for (int way = 0; way < ROUNDS; way++) {
        requests[0] = MPI_REQUEST_NULL;
        for (int i = 1; i < n; i++)
            MPI_Irecv(&values[i], 1, MPI_INT, i, way, MPI_COMM_WORLD, &requests[i]);
        for (int left = n - 1; left > 0;) {
            if (way == 0) {
                MPI_Waitsome(n, requests, &done, indices, statuses);
                EXPECT(done >= 1);
            } else if (way == 1) {
                MPI_Testsome(n, requests, &done, indices, statuses);
            } else {
                MPI_Testany(n, requests, &index, &flag, &statuses[0]);
                done = flag ? 1 : 0;
                indices[0] = index;
            }
            for (int i = 0; i < done; i++)
                EXPECT(values[indices[i]] == indices[i] && statuses[i].MPI_SOURCE == indices[i]);
            left -= done;
        }
        MPI_Waitsome(n, requests, &done, indices, statuses);
        EXPECT(done == MPI_UNDEFINED);
        MPI_Testany(n, requests, &index, &flag, &statuses[0]);
        EXPECT(flag && index == MPI_UNDEFINED);
    }
    free(requests);
    free(values);
    free(indices);
    free(statuses);
}

/* Messages of one sender are received in the order in which they were sent, whatever their tags; of all, each once. */
static void check_any_tag(int rank, int n)
{
    enum { EACH = 4 };
    MPI_Status status;
    MPI_Request request;
    int got = -1, flag;
    if (rank > 0) {
        for (int i = 0; i < EACH; i++) {
            int value = 100 * rank + i;
            MPI_Send(&value, 1, MPI_INT, 0, 10 + (i * 7) % EACH, MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Send(&rank, 1, MPI_INT, 0, 50 + rank, MPI_COMM_WORLD);
        return;
    }
    if (n > 1) { /* of one sender in order, those that are there and those that come */
        for (int i = 0; i < EACH; i++) {
            MPI_Recv(&got, 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            EXPECT(got == 100 + i && status.MPI_TAG == 10 + (i * 7) % EACH);
        }
    }
    int *next = calloc((size_t)n, sizeof *next);
    for (int i = 0; i < EACH * (n - 2); i++) {
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Recv(&got, 1, MPI_INT, status.MPI_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        EXPECT(got == 100 * status.MPI_SOURCE + next[status.MPI_SOURCE]++);
    }
    free(next);
    /* Posted before anything comes: one for a tag, then one for any. */
    int named = -1;
    MPI_Request early;
    MPI_Irecv(&named, 1, MPI_INT, MPI_ANY_SOURCE, 51, MPI_COMM_WORLD, &early);
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    if (n > 1)
        MPI_Wait(&early, MPI_STATUS_IGNORE);
    EXPECT(n == 1 || named == 1);
    for (int i = 2; i < n; i++) {
        MPI_Wait(&request, &status);
        EXPECT(got == status.MPI_SOURCE && status.MPI_TAG == 50 + got);
        if (i + 1 < n)
            MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    }
    if (n == 2) { /* nobody is left who would send */
        MPI_Send(&rank, 1, MPI_INT, 0, 99, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
        EXPECT(got == 0 && status.MPI_TAG == 99);
    }
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    EXPECT(!flag);
}

static void check_vectors(int rank, int n)
{
    /* Rank i sends i + 1 copies of i * n + j to j. */
    int *counts = calloc((size_t)n, sizeof(int)), *offsets = calloc((size_t)n, sizeof(int)),
        *from = calloc((size_t)n, sizeof(int)), *at = calloc((size_t)n, sizeof(int)),
        *send = calloc((size_t)(n * (rank + 1)), sizeof(int)), *got = calloc((size_t)(n * (n + 1)), sizeof(int));
    for (int j = 0, total = 0; j < n; j++) {
        counts[j] = rank + 1;
        offsets[j] = j * (rank + 1);
        for (int k = 0; k <= rank; k++)
            send[j * (rank + 1) + k] = rank * n + j;
        from[j] = j + 1;
        at[j] = total;
        total += j + 1;
    }
    MPI_Alltoallv(send, counts, offsets, MPI_INT, got, from, at, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        EXPECT(got[at[i]] == i * n + rank && got[at[i] + i] == i * n + rank);
    /* Everybody gives 1, 2, ..: rank r's part of the sum is n times its numbers. */
    long *numbers = calloc((size_t)(n * (n + 1) / 2 + n), sizeof(long)), part[300 + 1];
    for (int i = 0; i < n * (n + 1) / 2; i++)
        numbers[i] = i + 1;
    MPI_Reduce_scatter(numbers, part, from, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i <= rank; i++)
        EXPECT(part[i] == (long)n * (at[rank] + i + 1));
    MPI_Reduce_scatter_block(numbers, part, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    EXPECT(part[0] == rank + 1);
    long before = -5, one = rank + 1;
    MPI_Exscan(&one, &before, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(rank == 0 || before == (long)rank * (rank + 1) / 2);
    struct {
        double value;
        int place;
    } mine = {rank == n / 2 ? -1.0 : 1.0, rank}, best;
    MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
    EXPECT(best.value == -1.0 && best.place == n / 2);
    MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    EXPECT(n == 1 || (best.value == 1.0 && best.place == (n / 2 == 0 ? 1 : 0)));
    unsigned bits = 1u << (rank % 8), all = 0;
    MPI_Allreduce(&bits, &all, 1, MPI_UNSIGNED, MPI_BOR, MPI_COMM_WORLD);
    EXPECT(all == (1u << (n < 8 ? n : 8)) - 1);
    free(counts);
    free(offsets);
    free(from);
    free(at);
    free(send);
    free(got);
    free(numbers);
}

static void check_topology(int rank, int n)
{
    int extent[2] = {0, 0}, periodic[2] = {1, 0}, place[2], again, low, high;
    MPI_Comm grid, row;
    MPI_Dims_create(n, 2, extent);
    EXPECT(extent[0] * extent[1] == n && extent[0] >= extent[1]);
    int known[3] = {0, 2, 0};
    MPI_Dims_create(24, 3, known);
    EXPECT(known[0] == 4 && known[1] == 2 && known[2] == 3);
    MPI_Cart_create(MPI_COMM_WORLD, 2, extent, periodic, 0, &grid);
    MPI_Cart_coords(grid, rank, 2, place);
    EXPECT(place[0] == rank / extent[1] && place[1] == rank % extent[1]);
    MPI_Cart_rank(grid, place, &again);
    EXPECT(again == rank);
    MPI_Cart_shift(grid, 0, 1, &low, &high);
    EXPECT(high == (place[0] + 1) % extent[0] * extent[1] + place[1]);
    MPI_Cart_shift(grid, 1, 1, &low, &high);
    EXPECT(low == (place[1] == 0 ? MPI_PROC_NULL : rank - 1));
    EXPECT(high == (place[1] == extent[1] - 1 ? MPI_PROC_NULL : rank + 1));
    int keep[2] = {0, 1}, size;
    MPI_Cart_sub(grid, keep, &row);
    MPI_Comm_size(row, &size);
    MPI_Comm_rank(row, &again);
    EXPECT(size == extent[1] && again == place[1]);
    int dimensions, kind;
    MPI_Cartdim_get(row, &dimensions);
    MPI_Topo_test(row, &kind);
    EXPECT(dimensions == 1 && kind == MPI_CART);
    MPI_Comm_compare(grid, MPI_COMM_WORLD, &kind);
    EXPECT(kind == MPI_CONGRUENT);
    MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
}

static void check_packing(int rank)
{
    char room[64], name[MPI_MAX_PROCESSOR_NAME];
    int at = 0, number = rank + 3, got = 0, length;
    double value = 0.5 * rank, read = -1;
    MPI_Pack(&number, 1, MPI_INT, room, sizeof room, &at, MPI_COMM_WORLD);
    MPI_Pack(&value, 1, MPI_DOUBLE, room, sizeof room, &at, MPI_COMM_WORLD);
    at = 0;
    MPI_Unpack(room, sizeof room, &at, &got, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(room, sizeof room, &at, &read, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    EXPECT(got == number && read == value);
    MPI_Aint lower, extent;
    MPI_Type_get_extent(MPI_DOUBLE, &lower, &extent);
    EXPECT(lower == 0 && extent == 8);
    MPI_Get_processor_name(name, &length);
    EXPECT(length > 0 && name[length] == 0);
    MPI_Comm node;
    int size, n;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &size);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    EXPECT(size >= 1 && size <= n);
    MPI_Comm_free(&node);
}

int main(int argc, char **argv)
{
    int rank, n, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    check_pairs(rank, n);
    check_partial_waits(rank, n);
    check_any_tag(rank, n);
    check_vectors(rank, n);
    check_topology(rank, n);
    check_packing(rank);
    MPI_Finalize();
    return 0;
}
