/* Collectives: the ranks meet, the last one to arrive moves everybody's data directly. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

static vmpi_rank *member(MPI_Comm comm, int rank)
{
    return vmpi_rank_at(vmpi_comm_world_of(comm, rank));
}

/* The first rank that is in this collective already, other than `mine`. */
static void check_same_call(MPI_Comm comm, int mine)
{
    for (int i = 0; i < comm->size; i++)
        if (i != mine && comm->at[i].call) {
            if (strcmp(comm->at[i].call, comm->at[mine].call) != 0 || comm->at[i].root != comm->at[mine].root)
                vmpi_fail("the ranks of communicator %d disagree: rank %d is in %s with root %d, this one in %s "
                          "with root %d",
                          comm->id, i, comm->at[i].call, comm->at[i].root, comm->at[mine].call, comm->at[mine].root);
            return;
        }
}

void vmpi_meet(MPI_Comm comm, vmpi_arrival *arrival, void (*action)(MPI_Comm))
{
    int mine = vmpi_comm_rank_of(comm, vmpi_current->world);
    if (mine < 0)
        vmpi_fail("the rank is not a member of communicator %d", comm->id);
    comm->at[mine] = *arrival;
    if (comm->arrived++ == 0) {
        for (int i = 0; i < comm->size; i++)
            if (i != mine)
                comm->at[i].call = NULL;
    } else if (comm->arrived == 2 || comm->arrived == comm->size) {
        check_same_call(comm, mine);
    }
    if (comm->arrived < comm->size) {
        snprintf(vmpi_current->detail, sizeof vmpi_current->detail, "on communicator %d (%d of %d ranks are there)",
                 comm->id, comm->arrived, comm->size);
        vmpi_block();
        return;
    }
    comm->arrived = 0;
    if (action)
        action(comm);
    for (int i = 0; i < comm->size; i++)
        if (i != mine)
            vmpi_wake(member(comm, i));
}

static void check_root(MPI_Comm comm, int root)
{
    if (root < 0 || root >= comm->size)
        vmpi_fail("root %d of a communicator of %d ranks", root, comm->size);
}

void vmpi_move(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count,
                 MPI_Datatype to_type)
{
    size_t bytes = vmpi_packed_bytes(from_type, from_count);
    if (bytes > vmpi_packed_bytes(to_type, to_count))
        vmpi_fail("%zu bytes sent, room for %zu", bytes, vmpi_packed_bytes(to_type, to_count));
    if (bytes == 0 || from == to)
        return;
    if (vmpi_is_contiguous(from_type)) {
        vmpi_unpack(from, bytes, to, to_type);
        return;
    }
    void *packed = vmpi_alloc(1, bytes);
    vmpi_pack(from, from_count, from_type, packed);
    vmpi_unpack(packed, bytes, to, to_type);
    free(packed);
}

void *vmpi_at(void *buffer, ptrdiff_t elements, MPI_Datatype type)
{
    return (char *)buffer + elements * type->extent;
}

int MPI_Barrier(MPI_Comm handle)
{
    VMPI_ENTER("MPI_Barrier");
    MPI_Comm comm = vmpi_comm(handle);
    vmpi_record_collective("MPI_Barrier", comm->id, comm->size, 0);
    vmpi_arrival mine = {.call = "MPI_Barrier"};
    vmpi_trace_collective(&mine, comm);
    vmpi_meet(comm, &mine, NULL);
    return MPI_SUCCESS;
}

static void broadcast(MPI_Comm comm)
{
    vmpi_arrival *root = &comm->at[comm->at[0].root];
    for (int i = 0; i < comm->size; i++)
        vmpi_move(root->receive, root->receive_count, root->receive_type, comm->at[i].receive,
             comm->at[i].receive_count, comm->at[i].receive_type);
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm handle)
{
    VMPI_ENTER("MPI_Bcast");
    MPI_Comm comm = vmpi_comm(handle);
    check_root(comm, root);
    vmpi_record_collective("MPI_Bcast", comm->id, comm->size, vmpi_packed_bytes(type, count));
    vmpi_arrival mine = {
        .call = "MPI_Bcast", .receive = buffer, .receive_count = count, .receive_type = type, .root = root};
    vmpi_trace_collective(&mine, comm);
    vmpi_meet(comm, &mine, broadcast);
    return MPI_SUCCESS;
}

static const void *contribution(const vmpi_arrival *a)
{
    return a->send == MPI_IN_PLACE ? a->receive : a->send;
}

void *vmpi_combine(MPI_Comm comm, int last)
{
    vmpi_arrival *first = &comm->at[0];
    size_t bytes = vmpi_packed_bytes(first->send_type, first->send_count);
    char *result = vmpi_alloc(1, bytes), *next = vmpi_alloc(1, bytes);
    vmpi_pack(contribution(&comm->at[last]), first->send_count, first->send_type, result);
    for (int i = last - 1; i >= 0; i--) { /* in = earlier rank, inout = later ones: non-commutative order holds */
        if (comm->at[i].send_count != first->send_count)
            vmpi_fail("rank %d reduces %d elements, rank 0 %d", i, comm->at[i].send_count, first->send_count);
        vmpi_pack(contribution(&comm->at[i]), first->send_count, first->send_type, next);
        vmpi_reduce(first->op, first->send_type, first->send_count, next, result);
    }
    free(next);
    return result;
}

static void reduce_to_all(MPI_Comm comm)
{
    void *result = vmpi_combine(comm, comm->size - 1);
    for (int i = 0; i < comm->size; i++)
        vmpi_unpack(result, vmpi_packed_bytes(comm->at[i].send_type, comm->at[i].send_count), comm->at[i].receive,
                    comm->at[i].send_type);
    free(result);
}

static void reduce_to_root(MPI_Comm comm)
{
    vmpi_arrival *root = &comm->at[comm->at[0].root];
    void *result = vmpi_combine(comm, comm->size - 1);
    vmpi_unpack(result, vmpi_packed_bytes(root->send_type, root->send_count), root->receive, root->send_type);
    free(result);
}

/* Prefix sums are combined left to right once, not anew for every rank: linear in the ranks. */
static void scan_all(MPI_Comm comm)
{
    vmpi_arrival *first = &comm->at[0];
    size_t bytes = vmpi_packed_bytes(first->send_type, first->send_count);
    char *running = vmpi_alloc(1, bytes), *next = vmpi_alloc(1, bytes);
    vmpi_pack(contribution(first), first->send_count, first->send_type, running);
    for (int i = 0; i < comm->size; i++) {
        if (i > 0) {
            vmpi_pack(contribution(&comm->at[i]), first->send_count, first->send_type, next);
            vmpi_reduce(first->op, first->send_type, first->send_count, running, next);
            memcpy(running, next, bytes);
        }
        vmpi_unpack(running, bytes, comm->at[i].receive, first->send_type);
    }
    free(running);
    free(next);
}

static int reduction(const char *call, const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                     int root, MPI_Comm handle, void (*action)(MPI_Comm))
{
    MPI_Comm comm = vmpi_comm(handle);
    check_root(comm, root);
    vmpi_record_collective(call, comm->id, comm->size, vmpi_packed_bytes(type, count));
    vmpi_arrival mine = {.call = call, .send = send, .receive = receive, .send_count = count, .send_type = type,
                         .op = op, .root = root};
    vmpi_trace_collective(&mine, comm);
    vmpi_meet(comm, &mine, action);
    return MPI_SUCCESS;
}

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    VMPI_ENTER("MPI_Allreduce");
    return reduction("MPI_Allreduce", send, receive, count, type, op, 0, comm, reduce_to_all);
}

int MPI_Reduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    VMPI_ENTER("MPI_Reduce");
    return reduction("MPI_Reduce", send, receive, count, type, op, root, comm, reduce_to_root);
}

int MPI_Scan(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    VMPI_ENTER("MPI_Scan");
    return reduction("MPI_Scan", send, receive, count, type, op, 0, comm, scan_all);
}

/* Gathers everybody's data into `to`, whose counts and displacements (elements) are given or uniform. */
static void gather_into(MPI_Comm comm, vmpi_arrival *to)
{
    for (int i = 0; i < comm->size; i++) {
        vmpi_arrival *from = &comm->at[i];
        int count = to->counts ? to->counts[i] : to->receive_count;
        ptrdiff_t offset = to->displacements ? to->displacements[i] : (ptrdiff_t)i * to->receive_count;
        if (from->send != MPI_IN_PLACE)
            vmpi_move(from->send, from->send_count, from->send_type, vmpi_at(to->receive, offset, to->receive_type), count,
                 to->receive_type);
        else if (from != to) /* all-gather in place: the data lies at the sender's own position of its result */
            vmpi_move(vmpi_at(from->receive, offset, to->receive_type), count, to->receive_type,
                 vmpi_at(to->receive, offset, to->receive_type), count, to->receive_type);
    }
}

static void gather_to_root(MPI_Comm comm)
{
    gather_into(comm, &comm->at[comm->at[0].root]);
}

static void gather_to_all(MPI_Comm comm)
{
    for (int i = 0; i < comm->size; i++)
        gather_into(comm, &comm->at[i]);
}

static void scatter_from_root(MPI_Comm comm)
{
    vmpi_arrival *root = &comm->at[comm->at[0].root];
    for (int i = 0; i < comm->size; i++) {
        vmpi_arrival *to = &comm->at[i];
        int count = root->counts ? root->counts[i] : root->send_count;
        ptrdiff_t offset = root->displacements ? root->displacements[i] : (ptrdiff_t)i * root->send_count;
        if (to->receive != MPI_IN_PLACE)
            vmpi_move(vmpi_at((void *)root->send, offset, root->send_type), count, root->send_type, to->receive,
                 to->receive_count, to->receive_type);
    }
}

static void exchange_all(MPI_Comm comm)
{
    for (int i = 0; i < comm->size; i++)
        for (int j = 0; j < comm->size; j++) {
            vmpi_arrival *from = &comm->at[i], *to = &comm->at[j];
            vmpi_move(vmpi_at((void *)from->send, (ptrdiff_t)j * from->send_count, from->send_type), from->send_count,
                 from->send_type, vmpi_at(to->receive, (ptrdiff_t)i * to->receive_count, to->receive_type),
                 to->receive_count, to->receive_type);
        }
}

/* The common path of the calls that move data. `bytes` is what this rank contributes. */
int vmpi_exchange(vmpi_arrival mine, MPI_Comm handle, size_t bytes, void (*action)(MPI_Comm))
{
    MPI_Comm comm = vmpi_comm(handle);
    check_root(comm, mine.root);
    vmpi_record_collective(mine.call, comm->id, comm->size, bytes);
    vmpi_trace_collective(&mine, comm);
    vmpi_meet(comm, &mine, action);
    return MPI_SUCCESS;
}

static size_t bytes_sent(const void *send, MPI_Datatype type, int count)
{
    return send == MPI_IN_PLACE ? 0 : vmpi_packed_bytes(type, count);
}

int MPI_Gather(const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
               MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    VMPI_ENTER("MPI_Gather");
    vmpi_arrival mine = {.call = "MPI_Gather", .send = send, .send_count = send_count, .send_type = send_type,
                         .receive = receive, .receive_count = receive_count, .receive_type = receive_type,
                         .root = root};
    return vmpi_exchange(mine, comm, bytes_sent(send, send_type, send_count), gather_to_root);
}

int MPI_Gatherv(const void *send, int send_count, MPI_Datatype send_type, void *receive, const int counts[],
                const int displacements[], MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    VMPI_ENTER("MPI_Gatherv");
    vmpi_arrival mine = {.call = "MPI_Gatherv", .send = send, .send_count = send_count, .send_type = send_type,
                         .receive = receive, .counts = counts, .displacements = displacements,
                         .receive_type = receive_type, .root = root};
    return vmpi_exchange(mine, comm, bytes_sent(send, send_type, send_count), gather_to_root);
}

int MPI_Allgather(const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
                  MPI_Datatype receive_type, MPI_Comm comm)
{
    VMPI_ENTER("MPI_Allgather");
    vmpi_arrival mine = {.call = "MPI_Allgather", .send = send, .send_count = send_count, .send_type = send_type,
                         .receive = receive, .receive_count = receive_count, .receive_type = receive_type};
    return vmpi_exchange(mine, comm, bytes_sent(send, send_type, send_count), gather_to_all);
}

int MPI_Allgatherv(const void *send, int send_count, MPI_Datatype send_type, void *receive, const int counts[],
                   const int displacements[], MPI_Datatype receive_type, MPI_Comm comm)
{
    VMPI_ENTER("MPI_Allgatherv");
    vmpi_arrival mine = {.call = "MPI_Allgatherv", .send = send, .send_count = send_count, .send_type = send_type,
                         .receive = receive, .counts = counts, .displacements = displacements,
                         .receive_type = receive_type};
    return vmpi_exchange(mine, comm, bytes_sent(send, send_type, send_count), gather_to_all);
}

int MPI_Scatter(const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
                MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    VMPI_ENTER("MPI_Scatter");
    vmpi_arrival mine = {.call = "MPI_Scatter", .send = send, .send_count = send_count, .send_type = send_type,
                         .receive = receive, .receive_count = receive_count, .receive_type = receive_type,
                         .root = root};
    return vmpi_exchange(mine, comm, vmpi_packed_bytes(receive_type, receive_count), scatter_from_root);
}

int MPI_Scatterv(const void *send, const int counts[], const int displacements[], MPI_Datatype send_type,
                 void *receive, int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    VMPI_ENTER("MPI_Scatterv");
    vmpi_arrival mine = {.call = "MPI_Scatterv", .send = send, .counts = counts, .displacements = displacements,
                         .send_type = send_type, .receive = receive, .receive_count = receive_count,
                         .receive_type = receive_type, .root = root};
    return vmpi_exchange(mine, comm, vmpi_packed_bytes(receive_type, receive_count), scatter_from_root);
}

int MPI_Alltoall(const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
                 MPI_Datatype receive_type, MPI_Comm handle)
{
    VMPI_ENTER("MPI_Alltoall");
    vmpi_arrival mine = {.call = "MPI_Alltoall", .send = send, .send_count = send_count, .send_type = send_type,
                         .receive = receive, .receive_count = receive_count, .receive_type = receive_type};
    if (send == MPI_IN_PLACE)
        vmpi_fail("MPI_IN_PLACE is not supported here");
    return vmpi_exchange(mine, handle, bytes_sent(send, send_type, send_count), exchange_all);
}
