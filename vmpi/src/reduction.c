/* Collectives that combine values, in blocking and nonblocking form. Ranks are combined in rank order. */
#include <stdlib.h>
#include <string.h>

#include "collective.h"

static const void *contribution(const vmpi_arrival *a)
{
    return a->send == MPI_IN_PLACE ? a->receive : a->send;
}

/* Combines the contributions 0 to `last` into a new buffer, in rank order. */
static void *combine_ranks(vmpi_arrival *at, int last)
{
    vmpi_arrival *first = &at[0];
    size_t bytes = vmpi_packed_bytes(first->send_type, first->send_count);
    char *result = vmpi_alloc(1, bytes), *next = vmpi_alloc(1, bytes);
    vmpi_pack(contribution(&at[last]), first->send_count, first->send_type, result);
    for (int i = last - 1; i >= 0; i--) { /* in = earlier rank, inout = later ranks, as non-commutative operations need */
        if (at[i].send_count != first->send_count)
            vmpi_fail("rank %d reduces %d elements, but rank 0 reduces %d", i, at[i].send_count, first->send_count);
        vmpi_pack(contribution(&at[i]), first->send_count, first->send_type, next);
        vmpi_reduce(first->op, first->send_type, first->send_count, next, result);
    }
    free(next);
    return result;
}

static void reduce_to_all(const vmpi_sides *s)
{
    void *result = combine_ranks(s->from, s->senders - 1);
    for (int i = 0; i < s->receivers; i++)
        vmpi_unpack(result, vmpi_packed_bytes(s->to[i].send_type, s->to[i].send_count), s->to[i].receive,
                    s->to[i].send_type);
    free(result);
}

static void reduce_to_root(const vmpi_sides *s)
{
    vmpi_arrival *root = vmpi_root_in(s, s->to, s->receivers);
    if (!root)
        return;
    void *result = combine_ranks(s->from, s->senders - 1);
    vmpi_unpack(result, vmpi_packed_bytes(root->send_type, root->send_count), root->receive, root->send_type);
    free(result);
}

/* Combines prefix sums once from left to right, so the work is linear in the ranks. */
static void scan_all(const vmpi_sides *s)
{
    MPI_Comm comm = s->comm;
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

static void scatter_sums(const vmpi_sides *s)
{
    MPI_Datatype type = s->to->send_type;
    char *sums = combine_ranks(s->from, s->senders - 1);
    size_t done = 0;
    for (int i = 0; i < s->receivers; i++) {
        size_t bytes = vmpi_packed_bytes(type, s->to->counts ? s->to->counts[i] : s->to->receive_count);
        vmpi_unpack(sums + done, bytes, s->to[i].receive, type);
        done += bytes;
    }
    free(sums);
}

/* Rank r gets the sum of the ranks before it; rank 0's buffer is unchanged. Goes from the last rank to the first,
 * because a rank's own part may be in its result. */
static void scan_before(const vmpi_sides *s)
{
    MPI_Comm comm = s->comm;
    for (int i = comm->size - 1; i > 0; i--) {
        void *sum = combine_ranks(comm->at, i - 1);
        vmpi_unpack(sum, vmpi_packed_bytes(comm->at[i].send_type, comm->at[i].send_count), comm->at[i].receive,
                    comm->at[i].send_type);
        free(sum);
    }
}

#define REDUCED const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op
#define OF_REDUCED .send = send, .receive = receive, .send_count = count, .send_type = type, .op = op

static int combine(vmpi_arrival mine, MPI_Comm comm, MPI_Request *request, void (*move)(const vmpi_sides *))
{
    if (!mine.op || mine.op == MPI_OP_NULL)
        vmpi_error(MPI_ERR_OP, "MPI_OP_NULL is no operation");
    return vmpi_exchange(mine, comm, vmpi_packed_bytes(mine.send_type, mine.send_count), move, request);
}

static int reduce(vmpi_arrival mine, MPI_Comm comm, MPI_Request *request)
{
    return combine(mine, comm, request, reduce_to_root);
}

static int allreduce(vmpi_arrival mine, MPI_Comm comm, MPI_Request *request)
{
    return combine(mine, comm, request, reduce_to_all);
}

static int scan(vmpi_arrival mine, MPI_Comm comm, MPI_Request *request)
{
    return combine(mine, comm, request, scan_all);
}

static int exscan(vmpi_arrival mine, MPI_Comm comm, MPI_Request *request)
{
    return combine(mine, comm, request, scan_before);
}

/* With a count for each rank, or one for all. */
static int reduce_scatter(vmpi_arrival mine, MPI_Comm handle, MPI_Request *request)
{
    int size = vmpi_comm(handle)->size;
    for (int i = 0; i < size; i++)
        mine.send_count += mine.counts ? mine.counts[i] : mine.receive_count;
    return combine(mine, handle, request, scatter_sums);
}

VMPI_COLLECTIVE(Reduce, Ireduce, (REDUCED, int root), reduce, .action = "reduce", OF_REDUCED, .root = root)
VMPI_COLLECTIVE(Allreduce, Iallreduce, (REDUCED), allreduce, .action = "allreduce", OF_REDUCED)
VMPI_COLLECTIVE(Scan, Iscan, (REDUCED), scan, .action = "scan", OF_REDUCED)
VMPI_COLLECTIVE(Exscan, Iexscan, (REDUCED), exscan, .action = "scan", OF_REDUCED)
VMPI_COLLECTIVE(Reduce_scatter, Ireduce_scatter,
                (const void *send, void *receive, const int counts[], MPI_Datatype type, MPI_Op op), reduce_scatter,
                .action = "reducescatter", .send = send, .send_type = type, .receive = receive, .counts = counts,
                .op = op)
VMPI_COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, (REDUCED), reduce_scatter, .action = "reducescatter",
                .send = send, .send_type = type, .receive = receive, .receive_count = count, .op = op)

int MPI_Reduce_local(const void *in, void *inout, int count, MPI_Datatype type, MPI_Op op)
{
    VMPI_ENTER("MPI_Reduce_local");
    size_t bytes = vmpi_packed_bytes(type, count);
    char *first = vmpi_alloc(1, bytes), *result = vmpi_alloc(1, bytes);
    vmpi_pack(in, count, type, first);
    vmpi_pack(inout, count, type, result);
    vmpi_reduce(op, type, count, first, result);
    vmpi_unpack(result, bytes, inout, type);
    free(first);
    free(result);
    return MPI_SUCCESS;
}
