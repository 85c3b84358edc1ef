/* Point to point: order per sender, choice by tag, any source, probes, persistent requests, derived types. */
#include <string.h>

#include "expect.h"

/* Messages with one tag from one sender arrive in the order sent, whatever is received in between. */
static void order_within_a_tag(int rank, int ranks)
{
    int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
    MPI_Request requests[6];
    int out[6];
    for (int i = 0; i < 6; i++) {
        out[i] = 100 * rank + i;
        MPI_Isend(&out[i], 1, MPI_INT, next, i % 2, MPI_COMM_WORLD, &requests[i]);
    }
    for (int tag = 1; tag >= 0; tag--)
        for (int i = tag; i < 6; i += 2) {
            int in = -1;
            MPI_Status status;
            MPI_Recv(&in, 1, MPI_INT, previous, tag, MPI_COMM_WORLD, &status);
            EXPECT(in == 100 * previous + i);
            EXPECT(status.MPI_SOURCE == previous && status.MPI_TAG == tag);
        }
    MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
}

/* Receives posted first: the one posted earlier gets the message, named or any-source alike. */
static void posted_order(int rank, int ranks)
{
    int a = -1, b = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Request requests[2];
        MPI_Irecv(&a, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&b, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &requests[1]);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Status statuses[2];
        MPI_Waitall(2, requests, statuses);
        EXPECT(a == 7 && b == 8);
        EXPECT(statuses[0].MPI_SOURCE == 1);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 7; rank == 1 && i < 9; i++)
            MPI_Send(&i, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    }
}

/* Every rank sends to 0, which learns sizes from probes. */
static void any_source_with_probe(int rank, int ranks)
{
    if (rank > 0) {
        int data[64] = {0};
        for (int i = 0; i < rank && i < 64; i++)
            data[i] = rank;
        MPI_Send(data, rank < 64 ? rank : 64, MPI_INT, 0, 9, MPI_COMM_WORLD);
        return;
    }
    int sum = 0;
    for (int i = 1; i < ranks; i++) {
        MPI_Status status;
        int flag = 0, count, data[64];
        if (i % 2)
            MPI_Probe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &status);
        else
            while (!flag)
                MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &flag, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        EXPECT(count == (status.MPI_SOURCE < 64 ? status.MPI_SOURCE : 64));
        MPI_Recv(data, count, MPI_INT, status.MPI_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EXPECT(data[0] == status.MPI_SOURCE);
        sum += status.MPI_SOURCE;
    }
    EXPECT(sum == ranks * (ranks - 1) / 2);
}

static void persistent_exchange(int rank, int ranks)
{
    int out = 0, in = -1, partner = rank ^ 1;
    if (partner >= ranks)
        partner = MPI_PROC_NULL;
    MPI_Request requests[2];
    MPI_Recv_init(&in, 1, MPI_INT, partner, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&out, 1, MPI_INT, partner, 3, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < 3; round++) {
        out = 10 * rank + round;
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        EXPECT(partner == MPI_PROC_NULL || in == 10 * partner + round);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    EXPECT(requests[0] == MPI_REQUEST_NULL);
}

static void wait_any_and_test(int rank, int ranks)
{
    int in[2] = {-1, -1}, out = rank;
    MPI_Request requests[3];
    MPI_Irecv(&in[0], 1, MPI_INT, (rank + 1) % ranks, 11, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, (rank + 2) % ranks, 12, MPI_COMM_WORLD, &requests[1]);
    MPI_Send(&out, 1, MPI_INT, (rank + ranks - 1) % ranks, 11, MPI_COMM_WORLD);
    MPI_Send(&out, 1, MPI_INT, (rank + 2 * ranks - 2) % ranks, 12, MPI_COMM_WORLD);
    int index, flag = 0;
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    EXPECT(index == 0 || index == 1);
    EXPECT(requests[index] == MPI_REQUEST_NULL && in[index] == (rank + 1 + index) % ranks);
    while (!flag)
        MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    EXPECT(in[0] == (rank + 1) % ranks && in[1] == (rank + 2) % ranks);
}

/* A column of a row-major 4 x 3 matrix, sent as a vector type and received as three plain numbers and back. */
static void derived_types(int rank, int ranks)
{
    double matrix[12], column[4] = {0}, copy[12] = {0};
    for (int i = 0; i < 12; i++)
        matrix[i] = 100.0 * rank + i;
    int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
    MPI_Datatype stride;
    MPI_Type_vector(4, 1, 3, MPI_DOUBLE, &stride);
    MPI_Type_commit(&stride);
    MPI_Request request;
    MPI_Isend(&matrix[1], 1, stride, next, 21, MPI_COMM_WORLD, &request);
    MPI_Recv(column, 4, MPI_DOUBLE, previous, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; i++)
        EXPECT(column[i] == 100.0 * previous + 1 + 3 * i);
    MPI_Isend(column, 4, MPI_DOUBLE, previous, 22, MPI_COMM_WORLD, &request);
    MPI_Recv(&copy[1], 1, stride, next, 22, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 12; i++)
        EXPECT(copy[i] == (i % 3 == 1 ? matrix[i] : 0.0));
    MPI_Type_free(&stride);

    struct {
        int a;
        double b[2];
    } pair = {rank, {1.5, 2.5 * rank}}, got;
    memset(&got, 0, sizeof got);
    int lengths[2] = {1, 2};
    MPI_Aint offsets[2], base;
    MPI_Get_address(&pair, &base);
    MPI_Get_address(&pair.a, &offsets[0]);
    MPI_Get_address(&pair.b, &offsets[1]);
    offsets[0] -= base;
    offsets[1] -= base;
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, record;
    MPI_Type_create_struct(2, lengths, offsets, types, &record);
    MPI_Type_commit(&record);
    MPI_Isend(&pair, 1, record, next, 23, MPI_COMM_WORLD, &request);
    MPI_Recv(&got, 1, record, previous, 23, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(got.a == previous && got.b[1] == 2.5 * previous);
    MPI_Type_free(&record);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    order_within_a_tag(rank, ranks);
    posted_order(rank, ranks);
    any_source_with_probe(rank, ranks);
    persistent_exchange(rank, ranks);
    wait_any_and_test(rank, ranks);
    derived_types(rank, ranks);
    MPI_Finalize();
    return 0;
}
