/* Every recorded call that has a form with large counts since MPI-4. With -DLARGE the calls have that form, and the
 * trace is the same. `large receive` also has a receive with room for 3 GiB, which no int can count. */
#include <mpi.h>

#ifdef LARGE
#define CALL(Name) MPI_##Name##_c
typedef MPI_Count count;
typedef MPI_Aint place;
#else
#define CALL(Name) MPI_##Name
typedef int count;
typedef int place;
#endif
enum { RANKS_MAX = 16, TAG = 7 };

static int rank, ranks, in[4 * RANKS_MAX], out[4 * RANKS_MAX];
static count ones[RANKS_MAX], rising[RANKS_MAX];
static place places[RANKS_MAX];
static MPI_Aint offsets[RANKS_MAX];
static MPI_Datatype types[RANKS_MAX];

static void wait_for(MPI_Request *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void messages(void)
{
    int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
    char space[1024];
    MPI_Request of[9];
    MPI_Message message;
    MPI_Buffer_attach(space, sizeof space);
    CALL(Irecv)(in, 1, MPI_INT, previous, TAG, MPI_COMM_WORLD, of);
    CALL(Send)(out, 1, MPI_INT, next, TAG, MPI_COMM_WORLD);
    wait_for(of);
    CALL(Irecv)(in, 2, MPI_INT, previous, TAG, MPI_COMM_WORLD, of);
    CALL(Ssend)(out, 2, MPI_INT, next, TAG, MPI_COMM_WORLD);
    wait_for(of);
    CALL(Irecv)(in, 3, MPI_INT, previous, TAG, MPI_COMM_WORLD, of);
    MPI_Barrier(MPI_COMM_WORLD);
    CALL(Rsend)(out, 3, MPI_INT, next, TAG, MPI_COMM_WORLD);
    wait_for(of);
    CALL(Bsend)(out, 4, MPI_INT, next, TAG, MPI_COMM_WORLD);
    CALL(Recv)(in, 4, MPI_INT, previous, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; i++)
        CALL(Irecv)(in + 5 * i, 5, MPI_INT, previous, TAG, MPI_COMM_WORLD, of + i);
    CALL(Recv_init)(in, 6, MPI_INT, previous, TAG, MPI_COMM_WORLD, of + 8);
    MPI_Barrier(MPI_COMM_WORLD);
    CALL(Isend)(out, 5, MPI_INT, next, TAG, MPI_COMM_WORLD, of + 4);
    CALL(Issend)(out, 5, MPI_INT, next, TAG, MPI_COMM_WORLD, of + 5);
    CALL(Ibsend)(out, 5, MPI_INT, next, TAG, MPI_COMM_WORLD, of + 6);
    CALL(Irsend)(out, 5, MPI_INT, next, TAG, MPI_COMM_WORLD, of + 7);
    MPI_Waitall(8, of, MPI_STATUSES_IGNORE);
    CALL(Send_init)(out, 6, MPI_INT, next, TAG, MPI_COMM_WORLD, of);
    CALL(Ssend_init)(out, 6, MPI_INT, next, TAG, MPI_COMM_WORLD, of + 1);
    CALL(Bsend_init)(out, 6, MPI_INT, next, TAG, MPI_COMM_WORLD, of + 2);
    CALL(Rsend_init)(out, 6, MPI_INT, next, TAG, MPI_COMM_WORLD, of + 3);
    for (int i = 0; i < 4; i++) {
        MPI_Start(of + 8);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Start(of + i);
        wait_for(of + 8);
        wait_for(of + i);
        MPI_Request_free(of + i);
    }
    MPI_Request_free(of + 8);
    CALL(Sendrecv)(out, 7, MPI_INT, next, TAG, in, 8, MPI_INT, previous, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CALL(Sendrecv_replace)(out, 9, MPI_INT, next, TAG, previous, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; i++) {
        CALL(Isend)(out, 10, MPI_INT, next, TAG, MPI_COMM_WORLD, of);
        MPI_Mprobe(previous, TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        if (i == 0)
            CALL(Mrecv)(in, 10, MPI_INT, &message, MPI_STATUS_IGNORE);
        else {
            CALL(Imrecv)(in, 10, MPI_INT, &message, of + 1);
            wait_for(of + 1);
        }
        wait_for(of);
    }
    int bytes;
    void *detached;
    MPI_Buffer_detach(&detached, &bytes);
}

/* A collective in both forms. */
#define TWICE(Name, IName, ...)                                                                                        \
    CALL(Name)(__VA_ARGS__, comm);                                                                                     \
    CALL(IName)(__VA_ARGS__, comm, &request);                                                                          \
    wait_for(&request)

static void collectives(MPI_Comm comm)
{
    MPI_Request request;
    TWICE(Bcast, Ibcast, in, 3, MPI_INT, 1);
    TWICE(Gather, Igather, out, 1, MPI_INT, in, 1, MPI_INT, 1);
    TWICE(Scatter, Iscatter, out, 1, MPI_INT, in, 1, MPI_INT, 1);
    TWICE(Gatherv, Igatherv, out, rank % 2 + 1, MPI_INT, in, rising, places, MPI_INT, 1);
    TWICE(Scatterv, Iscatterv, out, rising, places, MPI_INT, in, rank % 2 + 1, MPI_INT, 1);
    TWICE(Allgather, Iallgather, out, 1, MPI_INT, in, 1, MPI_INT);
    TWICE(Alltoall, Ialltoall, out, 1, MPI_INT, in, 1, MPI_INT);
    TWICE(Allgatherv, Iallgatherv, out, rank % 2 + 1, MPI_INT, in, rising, places, MPI_INT);
    TWICE(Alltoallv, Ialltoallv, out, ones, places, MPI_INT, in, ones, places, MPI_INT);
    TWICE(Reduce, Ireduce, out, in, 3, MPI_INT, MPI_SUM, 1);
    TWICE(Allreduce, Iallreduce, out, in, 3, MPI_INT, MPI_SUM);
    TWICE(Scan, Iscan, out, in, 3, MPI_INT, MPI_SUM);
    TWICE(Exscan, Iexscan, out, in, 3, MPI_INT, MPI_SUM);
    TWICE(Reduce_scatter, Ireduce_scatter, out, in, rising, MPI_INT, MPI_SUM);
    TWICE(Reduce_scatter_block, Ireduce_scatter_block, out, in, 2, MPI_INT, MPI_SUM);
#ifdef LARGE
    TWICE(Alltoallw, Ialltoallw, out, ones, offsets, types, in, ones, offsets, types);
#else
    int near[RANKS_MAX];
    for (int i = 0; i < ranks; i++)
        near[i] = (int)offsets[i];
    TWICE(Alltoallw, Ialltoallw, out, ones, near, types, in, ones, near, types);
#endif
}

static void neighbours(MPI_Comm comm)
{
    MPI_Request request;
    TWICE(Neighbor_allgather, Ineighbor_allgather, out, 2, MPI_INT, in, 2, MPI_INT);
    TWICE(Neighbor_allgatherv, Ineighbor_allgatherv, out, 1, MPI_INT, in, ones, places, MPI_INT);
    TWICE(Neighbor_alltoall, Ineighbor_alltoall, out, 2, MPI_INT, in, 2, MPI_INT);
    TWICE(Neighbor_alltoallv, Ineighbor_alltoallv, out, ones, places, MPI_INT, in, ones, places, MPI_INT);
    TWICE(Neighbor_alltoallw, Ineighbor_alltoallw, out, ones, offsets, types, in, ones, offsets, types);
}

int main(int argc, char **argv)
{
    int around = 1;
    MPI_Comm ring;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > RANKS_MAX)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < ranks; i++) {
        ones[i] = 1;
        rising[i] = i % 2 + 1;
        places[i] = 2 * i;
        offsets[i] = 8 * i;
        types[i] = MPI_INT;
    }
    messages();
    collectives(MPI_COMM_WORLD);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &around, 0, &ring);
    neighbours(ring);
#ifdef LARGE
    MPI_Request self;
    if (argc > 1) {
        MPI_Irecv_c(in, (MPI_Count)3 << 30, MPI_CHAR, rank, TAG, MPI_COMM_WORLD, &self);
        MPI_Send_c(out, 4, MPI_CHAR, rank, TAG, MPI_COMM_WORLD);
        wait_for(&self);
    }
#endif
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}
