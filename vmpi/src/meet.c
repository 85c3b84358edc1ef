/* Collectives: the last rank to arrive moves the data of all ranks directly.
 *
 * A blocking call waits in the communicator, which has one blocking call at a time. A nonblocking call is a separate
 * meeting: the n-th call that one rank starts on a communicator matches the n-th call of every other rank, whatever
 * happens in between. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

static vmpi_rank *member(MPI_Comm comm, int rank)
{
    return vmpi_rank_at(vmpi_comm_world_of(comm, rank));
}

static void check_alike(MPI_Comm comm, const vmpi_arrival *other, int rank, const vmpi_arrival *mine)
{
    if (strcmp(other->call, mine->call) != 0 || other->root != mine->root)
        vmpi_fail("the ranks of communicator %d disagree: rank %d is in %s with root %d, this one in %s with root %d",
                  comm->id, rank, other->call, other->root, mine->call, mine->root);
}

/* Compares with the first rank in this collective. */
static void check_same_call(MPI_Comm comm, int mine)
{
    for (int i = 0; i < comm->size; i++)
        if (i != mine && comm->at[i].call) {
            check_alike(comm, &comm->at[i], i, &comm->at[mine]);
            return;
        }
}

/* Buffers of ranks that do not run may be in global variables that are saved. */
static void act(MPI_Comm comm, void (*action)(MPI_Comm))
{
    for (int i = 0; i < comm->size; i++)
        vmpi_addresses(&comm->at[i], member(comm, i));
    action(comm);
}

void vmpi_meet(MPI_Comm comm, vmpi_arrival *arrival, void (*action)(MPI_Comm))
{
    int mine = vmpi_comm_rank_of(comm, vmpi_current->world);
    if (mine < 0)
        vmpi_fail("this rank is not a member of communicator %d", comm->id);
    comm->at[mine] = *arrival;
    if (comm->arrived++ == 0) {
        for (int i = 0; i < comm->size; i++)
            if (i != mine)
                comm->at[i].call = NULL;
    } else if (comm->arrived == 2 || comm->arrived == comm->size) {
        check_same_call(comm, mine);
    }
    if (comm->arrived < comm->size) {
        snprintf(vmpi_current->detail, sizeof vmpi_current->detail, "on communicator %d (%d of %d ranks arrived)",
                 comm->id, comm->arrived, comm->size);
        vmpi_block();
        return;
    }
    comm->arrived = 0;
    if (action)
        act(comm, action);
    for (int i = 0; i < comm->size; i++)
        if (i != mine)
            vmpi_wake(member(comm, i));
}

static void check_root(MPI_Comm comm, int root)
{
    if (root < 0 || root >= comm->size)
        vmpi_fail("root %d is not in a communicator of %d ranks", root, comm->size);
}

void vmpi_move(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count, MPI_Datatype to_type)
{
    size_t bytes = vmpi_packed_bytes(from_type, from_count);
    if (bytes > vmpi_packed_bytes(to_type, to_count))
        vmpi_fail("%zu bytes sent, but the receive buffer has %zu", bytes, vmpi_packed_bytes(to_type, to_count));
    if (bytes == 0 || from == to)
        return;
    vmpi_check_bottom(from, bytes);
    vmpi_check_bottom(to, bytes);
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

/* ---- nonblocking ---- */

struct vmpi_meeting {
    uint32_t number;
    int arrived, first; /* the first rank to arrive */
    vmpi_arrival *at;
    struct vmpi_meeting *next;
};

static struct vmpi_meeting **meeting_of(MPI_Comm comm, uint32_t number, int mine)
{
    struct vmpi_meeting **link = &comm->open;
    while (*link && (*link)->number != number)
        link = &(*link)->next;
    if (!*link) {
        *link = vmpi_alloc(1, sizeof **link);
        (*link)->number = number;
        (*link)->first = mine;
        (*link)->at = vmpi_alloc((size_t)comm->size, sizeof *(*link)->at);
    }
    return link;
}

static void hold(MPI_Comm comm, struct vmpi_meeting *meeting, void (*action)(MPI_Comm))
{
    vmpi_arrival *blocking = comm->at;
    comm->at = meeting->at;
    if (action)
        act(comm, action);
    comm->at = blocking;
    for (int i = 0; i < comm->size; i++)
        vmpi_complete(meeting->at[i].request, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    free(meeting->at);
    free(meeting);
}

static void begin(MPI_Comm comm, vmpi_arrival *arrival, void (*action)(MPI_Comm))
{
    int mine = vmpi_comm_rank_of(comm, vmpi_current->world);
    if (mine < 0)
        vmpi_fail("this rank is not a member of communicator %d", comm->id);
    if (!comm->begun)
        comm->begun = vmpi_alloc((size_t)comm->size, sizeof *comm->begun);
    struct vmpi_meeting **link = meeting_of(comm, comm->begun[mine]++, mine), *meeting = *link;
    meeting->at[mine] = *arrival;
    check_alike(comm, &meeting->at[meeting->first], meeting->first, arrival);
    if (++meeting->arrived < comm->size)
        return;
    *link = meeting->next;
    hold(comm, meeting, action);
}

int vmpi_exchange(vmpi_arrival mine, MPI_Comm handle, size_t bytes, void (*action)(MPI_Comm), MPI_Request *request)
{
    MPI_Comm comm = vmpi_comm(handle);
    check_root(comm, mine.root);
    vmpi_record_collective(mine.call, comm->id, comm->size, bytes);
    vmpi_trace_collective(&mine, comm);
    if (!request) {
        vmpi_meet(comm, &mine, action);
        return MPI_SUCCESS;
    }
    mine.request = *request = vmpi_alloc(1, sizeof **request);
    **request = (struct ompi_request_t){
        .kind = REQUEST_COLLECTIVE, .active = 1, .owner = vmpi_current, .comm = comm, .call = mine.call};
    begin(comm, &mine, action);
    return MPI_SUCCESS;
}
