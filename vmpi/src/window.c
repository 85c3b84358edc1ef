/* Windows of one-sided calls: the memory of every rank. */
#include <stdlib.h>
#include <string.h>

#include "window.h"

struct ompi_predefined_win_t {
    struct ompi_win_t window;
};
struct ompi_predefined_win_t ompi_mpi_win_null;

static void make(MPI_Comm comm)
{
    MPI_Win window = vmpi_alloc(1, sizeof *window);
    window->part = vmpi_alloc((size_t)comm->size, sizeof *window->part);
    window->references = comm->size;
    window->flavor = comm->at[0].key;
    window->comm = comm;
    window->model = MPI_WIN_UNIFIED;
    for (int i = 0; i < comm->size; i++)
        *(MPI_Win *)comm->at[i].receive = window;
}

/* Hints of MPI with their defaults. A rank's are kept and do nothing; others are ignored. */
static const char *const HINTS[][2] = {
    {"no_locks", "false"},  {"accumulate_ordering", "rar,raw,war,waw"}, {"accumulate_ops", "same_op_no_op"},
    {"same_size", "false"}, {"same_disp_unit", "false"},                {"alloc_shared_noncontig", "false"},
};

static void keep_hints(vmpi_window_part *part, MPI_Info info)
{
    int is_new = !part->hints;
    if (is_new)
        MPI_Info_create(&part->hints);
    for (size_t i = 0; i < sizeof HINTS / sizeof *HINTS; i++) {
        char value[MPI_MAX_INFO_VAL];
        int found = 0;
        if (info != MPI_INFO_NULL)
            MPI_Info_get(info, HINTS[i][0], MPI_MAX_INFO_VAL - 1, value, &found);
        if (found || is_new)
            MPI_Info_set(part->hints, HINTS[i][0], found ? value : HINTS[i][1]);
    }
}

static vmpi_window_part *create(void *base, MPI_Aint bytes, int unit, int flavor, MPI_Info info, MPI_Comm handle,
                                MPI_Win *out)
{
    MPI_Comm comm = vmpi_comm(handle);
    if (bytes < 0)
        vmpi_error(MPI_ERR_SIZE, "the size %lld is negative", (long long)bytes);
    if (unit < 1)
        vmpi_error(MPI_ERR_DISP, "the displacement unit %d is not positive", unit);
    vmpi_arrival mine = {.call = "MPI_Win_create", .receive = out, .key = flavor};
    vmpi_meet(comm, &mine, make);
    vmpi_comm_hold(comm);
    vmpi_window_part *part = &(*out)->part[vmpi_comm_rank_of(comm, vmpi_current->world)];
    *part = (vmpi_window_part){.base = base, .bytes = bytes, .unit = unit, .holder = -1};
    keep_hints(part, info);
    mine.call = "MPI_Win_create, second part";
    vmpi_meet(comm, &mine, NULL);
    return part;
}

int MPI_Win_create(void *base, MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *window)
{
    VMPI_ENTER("MPI_Win_create");
    create(base, bytes, unit, MPI_WIN_FLAVOR_CREATE, info, comm, window);
    return MPI_SUCCESS;
}

int MPI_Win_allocate(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *window)
{
    VMPI_ENTER("MPI_Win_allocate");
    void *memory = *(void **)base = vmpi_alloc(1, (size_t)bytes);
    create(memory, bytes, unit, MPI_WIN_FLAVOR_ALLOCATE, info, comm, window)->own = 1;
    return MPI_SUCCESS;
}

/* Displacements are addresses. */
int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *window)
{
    VMPI_ENTER("MPI_Win_create_dynamic");
    create(NULL, 0, 1, MPI_WIN_FLAVOR_DYNAMIC, info, comm, window);
    return MPI_SUCCESS;
}

int MPI_Win_attach(MPI_Win window, void *base, MPI_Aint bytes)
{
    VMPI_ENTER("MPI_Win_attach");
    (void)base, (void)bytes, (void)vmpi_window_rank(window);
    return MPI_SUCCESS;
}

int MPI_Win_detach(MPI_Win window, const void *base)
{
    VMPI_ENTER("MPI_Win_detach");
    (void)base, (void)vmpi_window_rank(window);
    return MPI_SUCCESS;
}

/* One block, rank after rank, each part aligned. */
static void allocate_shared(MPI_Comm comm)
{
    enum { ALIGNMENT = 64 };
    size_t bytes = 0;
    make(comm);
    MPI_Win window = *(MPI_Win *)comm->at[0].receive;
    for (int i = 0; i < comm->size; i++)
        bytes += (size_t)*comm->at[i].offsets + (comm->at[i].color ? ALIGNMENT : 0);
    window->shared = vmpi_alloc(1, bytes);
    char *next = window->shared;
    for (int i = 0; i < comm->size; i++) {
        const vmpi_arrival *a = &comm->at[i];
        window->part[i] = (vmpi_window_part){.base = next, .bytes = *a->offsets, .unit = a->send_count, .holder = -1};
        next += *a->offsets;
        if (a->color) /* not contiguous */
            next += (ALIGNMENT - (uintptr_t)next % ALIGNMENT) % ALIGNMENT;
    }
}

int MPI_Win_allocate_shared(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm handle, void *base, MPI_Win *window)
{
    VMPI_ENTER("MPI_Win_allocate_shared");
    char apart[8] = "";
    int found = 0;
    if (info != MPI_INFO_NULL)
        MPI_Info_get(info, "alloc_shared_noncontig", (int)sizeof apart - 1, apart, &found);
    MPI_Comm comm = vmpi_comm(handle);
    vmpi_arrival mine = {.call = "MPI_Win_allocate_shared", .receive = window, .key = MPI_WIN_FLAVOR_SHARED,
                         .offsets = &bytes, .send_count = unit, .color = found && strcmp(apart, "true") == 0};
    vmpi_meet(comm, &mine, allocate_shared);
    vmpi_comm_hold(comm);
    vmpi_window_part *part = &(*window)->part[vmpi_comm_rank_of(comm, vmpi_current->world)];
    keep_hints(part, info);
    *(void **)base = part->base;
    return MPI_SUCCESS;
}

int MPI_Win_shared_query(MPI_Win window, int rank, MPI_Aint *bytes, int *unit, void *base)
{
    VMPI_ENTER("MPI_Win_shared_query");
    (void)vmpi_window_rank(window);
    if (window->flavor != MPI_WIN_FLAVOR_SHARED)
        vmpi_error(MPI_ERR_RMA_FLAVOR, "the window was not made by MPI_Win_allocate_shared");
    if (rank == MPI_PROC_NULL) /* the first rank with memory */
        for (rank = 0; rank < window->comm->size - 1 && window->part[rank].bytes == 0; rank++)
            ;
    vmpi_window_check_target(window, rank);
    const vmpi_window_part *part = &window->part[rank];
    *bytes = part->bytes;
    *unit = part->unit;
    *(void **)base = part->base;
    return MPI_SUCCESS;
}

int MPI_Win_free(MPI_Win *window)
{
    VMPI_ENTER("MPI_Win_free");
    MPI_Win w = *window;
    int mine = vmpi_window_rank(w);
    vmpi_window_part *part = &w->part[mine];
    if (part->accessed || part->exposed)
        vmpi_error(MPI_ERR_RMA_SYNC, "an epoch of MPI_Win_start or MPI_Win_post is open");
    vmpi_attributes_free(w);
    vmpi_arrival meeting = {.call = "MPI_Win_free"};
    vmpi_window_trace_waits(w);
    vmpi_meet(w->comm, &meeting, NULL);
    vmpi_window_trace_waits(w);
    if (part->own)
        free(part->base);
    free(part->posted);
    MPI_Info_free(&part->hints);
    vmpi_comm_drop(w->comm, vmpi_current);
    if (--w->references == 0) {
        free(w->shared);
        free(w->part);
        free(w);
    }
    *window = MPI_WIN_NULL;
    vmpi_current->object = NULL;
    return MPI_SUCCESS;
}

int MPI_Win_get_group(MPI_Win window, MPI_Group *group)
{
    VMPI_ENTER("MPI_Win_get_group");
    (void)vmpi_window_rank(window);
    return MPI_Comm_group(window->comm, group);
}

int vmpi_window_attribute(MPI_Win window, int key, void **value)
{
    vmpi_window_part *part = &window->part[vmpi_window_rank(window)];
    switch (key) {
    case MPI_WIN_BASE: *value = part->base; return 1;
    case MPI_WIN_SIZE: *value = &part->bytes; return 1;
    case MPI_WIN_DISP_UNIT: *value = &part->unit; return 1;
    case MPI_WIN_CREATE_FLAVOR: *value = &window->flavor; return 1;
    case MPI_WIN_MODEL: *value = &window->model; return 1;
    default: return 0;
    }
}

int MPI_Win_get_info(MPI_Win window, MPI_Info *info)
{
    VMPI_ENTER("MPI_Win_get_info");
    return MPI_Info_dup(window->part[vmpi_window_rank(window)].hints, info);
}

int MPI_Win_set_info(MPI_Win window, MPI_Info info)
{
    VMPI_ENTER("MPI_Win_set_info");
    keep_hints(&window->part[vmpi_window_rank(window)], info);
    return MPI_SUCCESS;
}

int vmpi_window_rank(MPI_Win window)
{
    if (!window || window == MPI_WIN_NULL)
        vmpi_error(MPI_ERR_WIN, "MPI_WIN_NULL is no window");
    vmpi_current->object = window;
    return vmpi_comm_rank_of(window->comm, vmpi_current->world);
}

void vmpi_window_check_target(MPI_Win window, int rank)
{
    if (rank < 0 || rank >= window->comm->size)
        vmpi_error(MPI_ERR_RANK, "rank %d is not in a window of %d ranks", rank, window->comm->size);
}

void vmpi_window_notify(MPI_Win window, int rank)
{
    vmpi_rank *target = vmpi_rank_at(vmpi_comm_world_of(window->comm, rank));
    if (target->state == RANK_POLLING || (target->state == RANK_BLOCKED && target->awaits_window == window))
        vmpi_wake(target);
}

/* ---- the trace ---- */

static void note(MPI_Win window, int rank, int peer, int receives)
{
    vmpi_traced *t = vmpi_alloc(1, sizeof *t);
    vmpi_window_part *part = &window->part[rank];
    *t = (vmpi_traced){peer, receives, NULL};
    if (part->traced_last)
        part->traced_last->next = t;
    else
        part->traced_first = t;
    part->traced_last = t;
}

void vmpi_window_trace(MPI_Win window, int from, int to, size_t bytes)
{
    if (!vmpi_trace_is_open() || from == to)
        return;
    vmpi_trace_one_sided(window->comm, from, to, bytes);
    note(window, from, to, 0);
    note(window, to, from, 1);
}

void vmpi_window_trace_waits(MPI_Win window)
{
    vmpi_window_part *part = &window->part[vmpi_window_rank(window)];
    while (part->traced_first) {
        vmpi_traced *t = part->traced_first;
        vmpi_trace_one_sided_wait(window->comm, t->peer, t->receives);
        part->traced_first = t->next;
        free(t);
    }
    part->traced_last = NULL;
}
