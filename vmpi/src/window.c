/* One-sided calls: a window is the memory of every rank, and transfers happen at once.
 *
 * So a fence is a meeting, and a flush or unlock waits for nothing. Each lets other ranks run, because programs use them to
 * poll. Between a lock and its unlock only other blocking calls of the program wait, so locks are respected.
 * A trace cannot contain one-sided transfers, so tracing them is an error. */
#include <stdio.h>
#include <stdlib.h>

#include "runtime.h"

struct ompi_win_t {
    MPI_Comm comm;
    int references;
    struct part {
        char *base;
        MPI_Aint bytes;
        int unit, holder; /* the rank that holds the exclusive lock, or -1 */
        int own;          /* allocated by MPI_Win_allocate */
    } *part;
};
struct ompi_predefined_win_t {
    struct ompi_win_t window;
};
struct ompi_predefined_win_t ompi_mpi_win_null;

static void make(MPI_Comm comm)
{
    MPI_Win window = vmpi_alloc(1, sizeof *window);
    window->part = vmpi_alloc((size_t)comm->size, sizeof *window->part);
    window->references = comm->size;
    for (int i = 0; i < comm->size; i++)
        *(MPI_Win *)comm->at[i].receive = window;
}

static void create(void *base, MPI_Aint bytes, int unit, int own, MPI_Comm handle, MPI_Win *out)
{
    if (vmpi_trace_is_open())
        vmpi_fail("a trace cannot contain one-sided calls");
    MPI_Comm comm = vmpi_comm(handle);
    vmpi_arrival mine = {.call = "MPI_Win_create", .receive = out};
    vmpi_meet(comm, &mine, make);
    (*out)->comm = comm;
    (*out)->part[vmpi_comm_rank_of(comm, vmpi_current->world)] = (struct part){base, bytes, unit, -1, own};
    vmpi_meet(comm, &mine, NULL);
}

int MPI_Win_create(void *base, MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *window)
{
    VMPI_ENTER("MPI_Win_create");
    (void)info;
    create(base, bytes, unit, 0, comm, window);
    return MPI_SUCCESS;
}

int MPI_Win_allocate(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *window)
{
    VMPI_ENTER("MPI_Win_allocate");
    (void)info;
    void *memory = *(void **)base = vmpi_alloc(1, (size_t)bytes);
    create(memory, bytes, unit, 1, comm, window);
    return MPI_SUCCESS;
}

int MPI_Win_free(MPI_Win *window)
{
    VMPI_ENTER("MPI_Win_free");
    MPI_Win w = *window;
    vmpi_arrival mine = {.call = "MPI_Win_free"};
    vmpi_meet(w->comm, &mine, NULL);
    struct part *part = &w->part[vmpi_comm_rank_of(w->comm, vmpi_current->world)];
    if (part->own)
        free(part->base);
    if (--w->references == 0) {
        free(w->part);
        free(w);
    }
    *window = MPI_WIN_NULL;
    return MPI_SUCCESS;
}

/* The address of `count` elements at a displacement of a rank's window; checks that they are inside. */
static void *place(MPI_Win window, int rank, MPI_Aint displacement, int count, MPI_Datatype type)
{
    if (rank < 0 || rank >= window->comm->size)
        vmpi_fail("rank %d is not in a window of %d ranks", rank, window->comm->size);
    struct part *part = &window->part[rank];
    MPI_Aint first = displacement * part->unit, last = first + (count > 0 ? type->lower + count * type->extent : 0);
    if (displacement < 0 || last > part->bytes)
        vmpi_fail("bytes %lld to %lld are outside the window of rank %d, which has %lld", (long long)first, (long long)last,
                  rank, (long long)part->bytes);
    vmpi_rank *target = vmpi_rank_at(vmpi_comm_world_of(window->comm, rank));
    if (target->state == RANK_POLLING)
        vmpi_wake(target);
    return vmpi_address(target, part->base + first);
}

int MPI_Put(const void *origin, int origin_count, MPI_Datatype origin_type, int target, MPI_Aint displacement,
            int count, MPI_Datatype type, MPI_Win window)
{
    VMPI_ENTER("MPI_Put");
    if (target == MPI_PROC_NULL)
        return MPI_SUCCESS;
    void *there = place(window, target, displacement, count, type);
    vmpi_record_message(vmpi_current->world, vmpi_comm_world_of(window->comm, target),
                        vmpi_packed_bytes(origin_type, origin_count), window->comm->id);
    vmpi_move(origin, origin_count, origin_type, there, count, type);
    return MPI_SUCCESS;
}

int MPI_Get(void *origin, int origin_count, MPI_Datatype origin_type, int target, MPI_Aint displacement, int count,
            MPI_Datatype type, MPI_Win window)
{
    VMPI_ENTER("MPI_Get");
    if (target == MPI_PROC_NULL)
        return MPI_SUCCESS;
    void *there = place(window, target, displacement, count, type);
    vmpi_record_message(vmpi_comm_world_of(window->comm, target), vmpi_current->world, vmpi_packed_bytes(type, count),
                        window->comm->id);
    vmpi_move(there, count, type, origin, origin_count, origin_type);
    return MPI_SUCCESS;
}

int MPI_Accumulate(const void *origin, int origin_count, MPI_Datatype origin_type, int target, MPI_Aint displacement,
                   int count, MPI_Datatype type, MPI_Op op, MPI_Win window)
{
    if (op == MPI_REPLACE)
        return MPI_Put(origin, origin_count, origin_type, target, displacement, count, type, window);
    VMPI_ENTER("MPI_Accumulate");
    if (target == MPI_PROC_NULL || op == MPI_NO_OP)
        return MPI_SUCCESS;
    void *there = place(window, target, displacement, count, type);
    size_t bytes = vmpi_packed_bytes(type, count);
    if (vmpi_packed_bytes(origin_type, origin_count) != bytes)
        vmpi_fail("%zu bytes are accumulated into %zu bytes", vmpi_packed_bytes(origin_type, origin_count), bytes);
    vmpi_record_message(vmpi_current->world, vmpi_comm_world_of(window->comm, target), bytes, window->comm->id);
    void *old = vmpi_alloc(1, bytes), *new = vmpi_alloc(1, bytes);
    vmpi_pack(there, count, type, old);
    vmpi_pack(origin, origin_count, origin_type, new);
    vmpi_reduce(op, type, count, old, new);
    vmpi_unpack(new, bytes, there, type);
    free(old);
    free(new);
    return MPI_SUCCESS;
}

int MPI_Fetch_and_op(const void *origin, void *result, MPI_Datatype type, int target, MPI_Aint displacement, MPI_Op op,
                     MPI_Win window)
{
    MPI_Get(result, 1, type, target, displacement, 1, type, window);
    return op == MPI_NO_OP ? MPI_SUCCESS : MPI_Accumulate(origin, 1, type, target, displacement, 1, type, op, window);
}

/* ---- synchronisation ---- */

int MPI_Win_fence(int assertion, MPI_Win window)
{
    VMPI_ENTER("MPI_Win_fence");
    (void)assertion;
    vmpi_record_collective("MPI_Win_fence", window->comm->id, window->comm->size, 0);
    vmpi_arrival mine = {.call = "MPI_Win_fence"};
    vmpi_meet(window->comm, &mine, NULL);
    return MPI_SUCCESS;
}

int MPI_Win_lock(int kind, int rank, int assertion, MPI_Win window)
{
    VMPI_ENTER("MPI_Win_lock");
    (void)assertion;
    (void)place(window, rank, 0, 0, MPI_BYTE);
    int *holder = &window->part[rank].holder;
    while (*holder >= 0) {
        snprintf(vmpi_current->detail, sizeof vmpi_current->detail, "for the lock of rank %d, which rank %d holds", rank,
                 *holder);
        vmpi_poll();
    }
    if (kind == MPI_LOCK_EXCLUSIVE)
        *holder = vmpi_comm_rank_of(window->comm, vmpi_current->world);
    return MPI_SUCCESS;
}

int MPI_Win_unlock(int rank, MPI_Win window)
{
    VMPI_ENTER("MPI_Win_unlock");
    (void)place(window, rank, 0, 0, MPI_BYTE);
    if (window->part[rank].holder == vmpi_comm_rank_of(window->comm, vmpi_current->world))
        window->part[rank].holder = -1;
    vmpi_poll();
    return MPI_SUCCESS;
}

int MPI_Win_lock_all(int assertion, MPI_Win window)
{
    VMPI_ENTER("MPI_Win_lock_all");
    (void)assertion;
    (void)window;
    return MPI_SUCCESS;
}

#define LETS_OTHERS_RUN(name, ...)                                                                                     \
    int name(__VA_ARGS__)                                                                                              \
    {                                                                                                                  \
        VMPI_ENTER(#name);                                                                                             \
        vmpi_poll();                                                                                                   \
        return MPI_SUCCESS;                                                                                            \
    }
LETS_OTHERS_RUN(MPI_Win_unlock_all, MPI_Win window)
LETS_OTHERS_RUN(MPI_Win_flush, int rank, MPI_Win window)
LETS_OTHERS_RUN(MPI_Win_flush_all, MPI_Win window)
LETS_OTHERS_RUN(MPI_Win_flush_local, int rank, MPI_Win window)
LETS_OTHERS_RUN(MPI_Win_flush_local_all, MPI_Win window)
LETS_OTHERS_RUN(MPI_Win_sync, MPI_Win window)
