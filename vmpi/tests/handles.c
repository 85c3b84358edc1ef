/* Handles: what lives on after it is freed, inter-communicators, matched probes, cancelled receives, error handlers, and
 * windows with post and start, locks and shared memory. */
#include <stdlib.h>
#include <string.h>

#include "expect.h"

static int rank, ranks;

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

/* A receive into a type, a reduction with an operation, on a communicator: all freed before they are done. */
static void check_lifetime(void)
{
    int got[4] = {0}, mine[2] = {rank + 1, rank + 2}, sum = 0, left = (rank + ranks - 1) % ranks;
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Request requests[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add, 1, &op);
    MPI_Irecv(got, 1, type, left, 0, comm, &requests[0]);
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, op, comm, &requests[1]);
    MPI_Type_free(&type);
    MPI_Op_free(&op);
    EXPECT(type == MPI_DATATYPE_NULL && op == MPI_OP_NULL);
    MPI_Send(mine, 2, MPI_INT, (rank + 1) % ranks, 0, comm);
    MPI_Comm_free(&comm);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    EXPECT(got[0] == left + 1 && got[1] == 0 && got[2] == left + 2 && sum == ranks * (ranks - 1) / 2);
}

/* Even and odd ranks. */
static void check_intercommunicator(void)
{
    int side = rank % 2, size, remote, got = -1, sum = -1, all, value = side;
    MPI_Comm half, inter, merged;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 7, &inter);
    MPI_Comm_size(inter, &size);
    MPI_Comm_remote_size(inter, &remote);
    EXPECT(size == (ranks + 1 - side) / 2 && remote == (ranks + side) / 2);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
    int expected = 0;
    for (int i = 1 - side; i < ranks; i += 2)
        expected += i;
    EXPECT(sum == expected);
    MPI_Bcast(&value, 1, MPI_INT, side ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    EXPECT(value == 0);
    int here;
    MPI_Comm_rank(inter, &here);
    if (here < remote && here < size) {
        MPI_Sendrecv(&rank, 1, MPI_INT, here, 1, &got, 1, MPI_INT, here, 1, inter, MPI_STATUS_IGNORE);
        EXPECT(got == (side ? rank - 1 : rank + 1));
    }
    MPI_Intercomm_merge(inter, side, &merged);
    MPI_Comm_rank(merged, &all);
    EXPECT(all == here + (side ? remote : 0));
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static void check_messages(void)
{
    int value = 17, got = 0, flag = 0;
    MPI_Message message;
    MPI_Status status;
    MPI_Request request;
    MPI_Isend(&value, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &request);
    MPI_Mprobe(rank, 3, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(&got, 1, MPI_INT, &message, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(got == 17 && message == MPI_MESSAGE_NULL);
    MPI_Irecv(&got, 1, MPI_INT, rank, 4, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    EXPECT(flag);
    MPI_Probe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
    EXPECT(status.MPI_SOURCE == MPI_PROC_NULL);
}

static void check_errors(void)
{
    int class = 0, code;
    MPI_Errhandler handler;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    EXPECT(handler == MPI_ERRORS_RETURN);
    code = MPI_Send(&class, 1, MPI_INT, ranks + 5, 0, MPI_COMM_WORLD);
    MPI_Error_class(code, &class);
    EXPECT(class == MPI_ERR_RANK);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void check_windows(void)
{
    int value = -1, one = 1, old = -1, next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks, *memory;
    MPI_Win window;
    MPI_Group world, to, from;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &next, &to);
    MPI_Group_incl(world, 1, &before, &from);
    MPI_Win_create(&value, sizeof value, sizeof value, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_post(from, 0, window);
    MPI_Win_start(to, 0, window);
    MPI_Put(&rank, 1, MPI_INT, next, 0, 1, MPI_INT, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    EXPECT(value == before);
    MPI_Win_free(&window);
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    *memory = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 40; i++) { /* more often than a deadlock would take polls */
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 0, MPI_SUM, window);
        MPI_Win_unlock(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Get_accumulate(NULL, 0, MPI_INT, &old, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, window);
    MPI_Win_unlock(0, window);
    EXPECT(old == 40 * ranks);
    MPI_Win_free(&window);
    MPI_Group_free(&world);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
}

static int deleted;
static int count_deletion(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int key;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_lifetime();
    check_intercommunicator();
    check_messages();
    check_errors();
    check_windows();
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_deletion, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    MPI_Finalize();
    return deleted != 1;
}
