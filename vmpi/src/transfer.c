/* One-sided transfers: they happen at once, so a request of one is done when it is returned. */
#include <stdlib.h>
#include <string.h>

#include "window.h"

/* A piece of a rank's window. */
typedef struct {
    int rank, count;
    MPI_Aint displacement;
    MPI_Datatype type;
    MPI_Win window;
} target;
/* A piece of the caller's memory. */
typedef struct {
    void *at;
    int count;
    MPI_Datatype type;
} origin;

static void check_data(int count, MPI_Datatype type)
{
    if (count < 0)
        vmpi_error(MPI_ERR_COUNT, "the count %d is negative", count);
    if (!type || type == MPI_DATATYPE_NULL)
        vmpi_error(MPI_ERR_TYPE, "MPI_DATATYPE_NULL is not a data type");
    if (!type->basic && type->references == 0)
        vmpi_error(MPI_ERR_TYPE, "the data type was freed");
}

/* Its address; checks that it is inside. NULL: there is nothing to do. */
static void *place(const target *t)
{
    MPI_Win window = t->window;
    (void)vmpi_window_rank(window);
    check_data(t->count, t->type);
    if (t->rank == MPI_PROC_NULL)
        return NULL;
    vmpi_window_check_target(window, t->rank);
    const vmpi_window_part *part = &window->part[t->rank];
    MPI_Aint first = t->displacement * part->unit, span = 0;
    if (t->count > 0)
        span = t->type->true_lower + t->type->true_extent + (t->count - 1) * (t->type->extent > 0 ? t->type->extent : 0);
    if (window->flavor != MPI_WIN_FLAVOR_DYNAMIC && (t->displacement < 0 || first + span > part->bytes))
        vmpi_error(MPI_ERR_RMA_RANGE, "bytes %lld to %lld are outside the window of rank %d, which has %lld", (long long)first,
                   (long long)first + span, t->rank, (long long)part->bytes);
    vmpi_window_notify(window, t->rank);
    return vmpi_address(vmpi_rank_at(vmpi_comm_world_of(window->comm, t->rank)), part->base + first);
}

/* To the target, or from it. */
static void record(const target *t, int to, size_t bytes)
{
    MPI_Comm comm = t->window->comm;
    int mine = vmpi_comm_rank_of(comm, vmpi_current->world), from = to ? mine : t->rank;
    vmpi_record_message(vmpi_comm_world_of(comm, from), vmpi_comm_world_of(comm, to ? t->rank : mine), bytes);
    vmpi_window_trace(t->window, from, to ? t->rank : mine, bytes);
}

static void put(origin o, target t)
{
    check_data(o.count, o.type);
    void *there = place(&t);
    if (!there && t.rank == MPI_PROC_NULL)
        return;
    record(&t, 1, vmpi_packed_bytes(o.type, o.count));
    vmpi_move(o.at, o.count, o.type, there, t.count, t.type);
}

static void get(origin o, target t)
{
    check_data(o.count, o.type);
    void *there = place(&t);
    if (!there && t.rank == MPI_PROC_NULL)
        return;
    record(&t, 0, vmpi_packed_bytes(t.type, t.count));
    vmpi_move(there, t.count, t.type, o.at, o.count, o.type);
}

static void accumulate(origin o, target t, MPI_Op op)
{
    if (!op || op == MPI_OP_NULL)
        vmpi_error(MPI_ERR_OP, "MPI_OP_NULL is no operation");
    void *there = place(&t);
    if (op == MPI_NO_OP || (!there && t.rank == MPI_PROC_NULL))
        return;
    check_data(o.count, o.type);
    size_t bytes = vmpi_packed_bytes(t.type, t.count);
    if (vmpi_packed_bytes(o.type, o.count) != bytes)
        vmpi_error(MPI_ERR_ARG, "%zu bytes are accumulated into %zu bytes", vmpi_packed_bytes(o.type, o.count), bytes);
    record(&t, 1, bytes);
    if (op == MPI_REPLACE) {
        vmpi_move(o.at, o.count, o.type, there, t.count, t.type);
        return;
    }
    if (bytes == 0)
        return;
    if (vmpi_is_contiguous(o.type) && vmpi_is_contiguous(t.type)) { /* all predefined operations commute */
        vmpi_reduce(op, t.type, t.count, o.at, there);
        return;
    }
    void *old = vmpi_alloc(1, bytes), *new = vmpi_alloc(1, bytes);
    vmpi_pack(there, t.count, t.type, old);
    vmpi_pack(o.at, o.count, o.type, new);
    vmpi_reduce(op, t.type, t.count, old, new);
    vmpi_unpack(new, bytes, there, t.type);
    free(old);
    free(new);
}

/* The request of a transfer that is done. */
static int done(MPI_Win window, MPI_Request *request)
{
    MPI_Request r = *request = vmpi_request(REQUEST_SEND, window->comm, NULL);
    r->active = 1;
    r->peer = MPI_PROC_NULL;
    vmpi_complete(r, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    return MPI_SUCCESS;
}

#define ORIGIN const void *at, int at_count, MPI_Datatype at_type
#define RESULT void *result, int result_count, MPI_Datatype result_type
#define TARGET int rank, MPI_Aint displacement, int count, MPI_Datatype type
#define OF_ORIGIN ((origin){(void *)at, at_count, at_type})
#define OF_RESULT ((origin){result, result_count, result_type})
#define OF_TARGET ((target){rank, count, displacement, type, window})

int MPI_Put(ORIGIN, TARGET, MPI_Win window)
{
    VMPI_ENTER("MPI_Put");
    put(OF_ORIGIN, OF_TARGET);
    return MPI_SUCCESS;
}

int MPI_Rput(ORIGIN, TARGET, MPI_Win window, MPI_Request *request)
{
    VMPI_ENTER("MPI_Rput");
    put(OF_ORIGIN, OF_TARGET);
    return done(window, request);
}

int MPI_Get(RESULT, TARGET, MPI_Win window)
{
    VMPI_ENTER("MPI_Get");
    get(OF_RESULT, OF_TARGET);
    return MPI_SUCCESS;
}

int MPI_Rget(RESULT, TARGET, MPI_Win window, MPI_Request *request)
{
    VMPI_ENTER("MPI_Rget");
    get(OF_RESULT, OF_TARGET);
    return done(window, request);
}

int MPI_Accumulate(ORIGIN, TARGET, MPI_Op op, MPI_Win window)
{
    VMPI_ENTER("MPI_Accumulate");
    accumulate(OF_ORIGIN, OF_TARGET, op);
    return MPI_SUCCESS;
}

int MPI_Raccumulate(ORIGIN, TARGET, MPI_Op op, MPI_Win window, MPI_Request *request)
{
    VMPI_ENTER("MPI_Raccumulate");
    accumulate(OF_ORIGIN, OF_TARGET, op);
    return done(window, request);
}

int MPI_Get_accumulate(ORIGIN, RESULT, TARGET, MPI_Op op, MPI_Win window)
{
    VMPI_ENTER("MPI_Get_accumulate");
    get(OF_RESULT, OF_TARGET);
    accumulate(OF_ORIGIN, OF_TARGET, op);
    return MPI_SUCCESS;
}

int MPI_Rget_accumulate(ORIGIN, RESULT, TARGET, MPI_Op op, MPI_Win window, MPI_Request *request)
{
    VMPI_ENTER("MPI_Rget_accumulate");
    get(OF_RESULT, OF_TARGET);
    accumulate(OF_ORIGIN, OF_TARGET, op);
    return done(window, request);
}

int MPI_Fetch_and_op(const void *at, void *result, MPI_Datatype type, int rank, MPI_Aint displacement, MPI_Op op,
                     MPI_Win window)
{
    VMPI_ENTER("MPI_Fetch_and_op");
    const target t = {rank, 1, displacement, type, window};
    get((origin){result, 1, type}, t);
    accumulate((origin){(void *)at, 1, type}, t, op);
    return MPI_SUCCESS;
}

int MPI_Compare_and_swap(const void *at, const void *compared, void *result, MPI_Datatype type, int rank,
                         MPI_Aint displacement, MPI_Win window)
{
    VMPI_ENTER("MPI_Compare_and_swap");
    const target t = {rank, 1, displacement, type, window};
    get((origin){result, 1, type}, t);
    if (rank != MPI_PROC_NULL && memcmp(result, compared, type->size) == 0)
        put((origin){(void *)at, 1, type}, t);
    return MPI_SUCCESS;
}
