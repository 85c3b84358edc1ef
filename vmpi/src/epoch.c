/* Synchronisation of one-sided calls. Transfers happen at once, so a fence is a meeting, and a flush or unlock waits for
 * nothing. Each lets other ranks run, because programs use them to poll. */
#include <stdio.h>
#include <stdlib.h>

#include "window.h"

/* Suspends the caller until another rank changes the window. */
static void await_change(MPI_Win window, const char *what, int rank)
{
    snprintf(vmpi_current->detail, sizeof vmpi_current->detail, "for %s rank %d", what, rank);
    vmpi_current->awaits_window = window;
    vmpi_block();
    vmpi_current->awaits_window = NULL;
}

int MPI_Win_fence(int assertion, MPI_Win window)
{
    VMPI_ENTER("MPI_Win_fence");
    (void)assertion;
    (void)vmpi_window_rank(window);
    vmpi_record_collective("MPI_Win_fence", window->comm->id, window->comm->size, 0);
    vmpi_arrival mine = {.call = "MPI_Win_fence", .action = "barrier"};
    vmpi_window_trace_waits(window);
    vmpi_trace_collective(&mine, window->comm, 0);
    vmpi_meet(window->comm, &mine, NULL);
    return MPI_SUCCESS;
}

/* ---- locks ---- */

static void lock(int kind, int rank, MPI_Win window)
{
    vmpi_window_part *part = &window->part[rank];
    while (part->holder >= 0 || (kind == MPI_LOCK_EXCLUSIVE && part->sharers > 0)) {
        part->waiters++;
        await_change(window, "the lock of", rank);
        part->waiters--;
    }
    if (kind == MPI_LOCK_EXCLUSIVE)
        part->holder = vmpi_comm_rank_of(window->comm, vmpi_current->world);
    else
        part->sharers++;
}

static void unlock(int rank, MPI_Win window)
{
    vmpi_window_part *part = &window->part[rank];
    if (part->holder == vmpi_comm_rank_of(window->comm, vmpi_current->world))
        part->holder = -1;
    else if (part->sharers > 0)
        part->sharers--;
    else
        vmpi_error(MPI_ERR_RMA_SYNC, "rank %d is not locked", rank);
    for (int i = 0; part->waiters > 0 && i < window->comm->size; i++)
        vmpi_window_notify(window, i);
}

int MPI_Win_lock(int kind, int rank, int assertion, MPI_Win window)
{
    VMPI_ENTER("MPI_Win_lock");
    (void)vmpi_window_rank(window);
    if (kind != MPI_LOCK_EXCLUSIVE && kind != MPI_LOCK_SHARED)
        vmpi_error(MPI_ERR_LOCKTYPE, "the lock is neither MPI_LOCK_EXCLUSIVE nor MPI_LOCK_SHARED");
    if (rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    vmpi_window_check_target(window, rank);
    lock(assertion & MPI_MODE_NOCHECK ? MPI_LOCK_SHARED : kind, rank, window);
    return MPI_SUCCESS;
}

int MPI_Win_unlock(int rank, MPI_Win window)
{
    VMPI_ENTER("MPI_Win_unlock");
    (void)vmpi_window_rank(window);
    if (rank != MPI_PROC_NULL) {
        vmpi_window_check_target(window, rank);
        unlock(rank, window);
    }
    vmpi_window_trace_waits(window);
    vmpi_poll();
    return MPI_SUCCESS;
}

int MPI_Win_lock_all(int assertion, MPI_Win window)
{
    VMPI_ENTER("MPI_Win_lock_all");
    (void)assertion;
    (void)vmpi_window_rank(window);
    for (int i = 0; i < window->comm->size; i++)
        lock(MPI_LOCK_SHARED, i, window);
    return MPI_SUCCESS;
}

int MPI_Win_unlock_all(MPI_Win window)
{
    VMPI_ENTER("MPI_Win_unlock_all");
    (void)vmpi_window_rank(window);
    for (int i = 0; i < window->comm->size; i++)
        unlock(i, window);
    vmpi_window_trace_waits(window);
    vmpi_poll();
    return MPI_SUCCESS;
}

static int flush(MPI_Win window)
{
    vmpi_window_trace_waits(window);
    vmpi_poll();
    return MPI_SUCCESS;
}

int MPI_Win_flush(int rank, MPI_Win window)
{
    VMPI_ENTER("MPI_Win_flush");
    (void)rank;
    return flush(window);
}

int MPI_Win_flush_local(int rank, MPI_Win window)
{
    VMPI_ENTER("MPI_Win_flush_local");
    (void)rank;
    return flush(window);
}

int MPI_Win_flush_all(MPI_Win window)
{
    VMPI_ENTER("MPI_Win_flush_all");
    return flush(window);
}

int MPI_Win_flush_local_all(MPI_Win window)
{
    VMPI_ENTER("MPI_Win_flush_local_all");
    return flush(window);
}

int MPI_Win_sync(MPI_Win window)
{
    VMPI_ENTER("MPI_Win_sync");
    return flush(window);
}

/* ---- post, start, complete, wait ---- */

/* A copy: the program may free its group. */
static MPI_Group kept(MPI_Group group)
{
    MPI_Group copy;
    MPI_Group_union(group, MPI_GROUP_EMPTY, &copy);
    return copy;
}

static int member(MPI_Win window, MPI_Group group, int i)
{
    int rank = vmpi_comm_rank_of(window->comm, group->world[i]);
    if (rank < 0)
        vmpi_error(MPI_ERR_GROUP, "a member of the group is not in the window");
    return rank;
}

int MPI_Win_post(MPI_Group group, int assertion, MPI_Win window)
{
    VMPI_ENTER("MPI_Win_post");
    (void)assertion;
    int mine = vmpi_window_rank(window);
    vmpi_window_part *part = &window->part[mine];
    if (part->exposed)
        vmpi_error(MPI_ERR_RMA_SYNC, "the window is posted already");
    part->exposed = kept(group);
    part->completed = 0;
    if (!part->posted)
        part->posted = vmpi_alloc((size_t)window->comm->size, sizeof *part->posted);
    for (int i = 0; i < group->size; i++) {
        int origin = member(window, group, i);
        part->posted[origin]++;
        vmpi_window_notify(window, origin);
    }
    return MPI_SUCCESS;
}

int MPI_Win_start(MPI_Group group, int assertion, MPI_Win window)
{
    VMPI_ENTER("MPI_Win_start");
    (void)assertion;
    int mine = vmpi_window_rank(window);
    vmpi_window_part *part = &window->part[mine];
    if (part->accessed)
        vmpi_error(MPI_ERR_RMA_SYNC, "the epoch before is not complete");
    for (int i = 0; i < group->size; i++) {
        int target = member(window, group, i);
        while (!window->part[target].posted || window->part[target].posted[mine] == 0)
            await_change(window, "MPI_Win_post of", target);
        window->part[target].posted[mine]--;
    }
    part->accessed = kept(group);
    return MPI_SUCCESS;
}

int MPI_Win_complete(MPI_Win window)
{
    VMPI_ENTER("MPI_Win_complete");
    vmpi_window_part *part = &window->part[vmpi_window_rank(window)];
    if (!part->accessed)
        vmpi_error(MPI_ERR_RMA_SYNC, "MPI_Win_start was not called");
    vmpi_window_trace_waits(window);
    for (int i = 0; i < part->accessed->size; i++) {
        int target = member(window, part->accessed, i);
        window->part[target].completed++;
        vmpi_window_notify(window, target);
    }
    MPI_Group_free(&part->accessed);
    part->accessed = NULL;
    return MPI_SUCCESS;
}

/* Ends the exposure if all origins have completed. */
static int finished(MPI_Win window, vmpi_window_part *part)
{
    if (!part->exposed)
        vmpi_error(MPI_ERR_RMA_SYNC, "MPI_Win_post was not called");
    if (part->completed < part->exposed->size)
        return 0;
    vmpi_window_trace_waits(window);
    MPI_Group_free(&part->exposed);
    part->exposed = NULL;
    return 1;
}

int MPI_Win_wait(MPI_Win window)
{
    VMPI_ENTER("MPI_Win_wait");
    int mine = vmpi_window_rank(window);
    while (!finished(window, &window->part[mine]))
        await_change(window, "the origins that access", mine);
    return MPI_SUCCESS;
}

int MPI_Win_test(MPI_Win window, int *flag)
{
    VMPI_ENTER("MPI_Win_test");
    *flag = finished(window, &window->part[vmpi_window_rank(window)]);
    if (!*flag)
        vmpi_poll();
    return MPI_SUCCESS;
}
