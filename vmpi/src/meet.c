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
    if (strcmp(other->call, mine->call) != 0 || (other->root != mine->root && !comm->side[0]))
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
        vmpi_error(MPI_ERR_COMM, "this rank is not a member of communicator %d", comm->id);
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
    if (comm->remote && (root == MPI_ROOT || root == MPI_PROC_NULL))
        return;
    if (root < 0 || root >= vmpi_peers(comm))
        vmpi_error(MPI_ERR_ROOT, "root %d is not in a communicator of %d ranks", root, vmpi_peers(comm));
}

/* MPI allows anything in the arguments that a rank's part does not need. */
static void ignore_insignificant(vmpi_arrival *a, MPI_Comm comm)
{
    int root = comm->remote ? a->root == MPI_ROOT : a->root == vmpi_comm_rank_of(comm, vmpi_current->world);
    int gathers = a->action && strncmp(a->action, "gather", 6) == 0, scatters = a->action && strncmp(a->action, "scatter", 7) == 0;
    if ((gathers && !root) || (a->receive == MPI_IN_PLACE && !a->op)) {
        a->receive_count = 0;
        a->receive_type = NULL;
    }
    if ((scatters && !root) || (a->send == MPI_IN_PLACE && !a->op) || (gathers && comm->remote && root)) {
        a->send_count = 0;
        a->send_type = NULL;
    }
}

static void check_data(int count, MPI_Datatype type, const void *buffer)
{
    if (count < 0)
        vmpi_error(MPI_ERR_COUNT, "the count %d is negative", count);
    if (type == MPI_DATATYPE_NULL && count > 0 && buffer != MPI_IN_PLACE)
        vmpi_error(MPI_ERR_TYPE, "MPI_DATATYPE_NULL is not a data type");
}

vmpi_arrival *vmpi_root_in(const vmpi_sides *sides, vmpi_arrival *list, int count)
{
    if (!sides->inter)
        return &list[list[0].root];
    for (int i = 0; i < count; i++)
        if (list[i].root == MPI_ROOT)
            return &list[i];
    return NULL;
}

static void move_data(MPI_Comm comm)
{
    vmpi_arrival *at = comm->at;
    int n = comm->size, one = comm->side[0] ? comm->side[0]->size : 0;
    if (!at->move)
        return;
    if (one == 0) {
        at->move(&(vmpi_sides){comm, at, at, n, n, 0});
        return;
    }
    at->move(&(vmpi_sides){comm, at, at + one, one, n - one, 1});
    at->move(&(vmpi_sides){comm, at + one, at, n - one, one, 1});
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
    for (int i = 0; i < comm->size; i++) {
        vmpi_arrival *a = &meeting->at[i];
        vmpi_type_drop(a->send_type);
        vmpi_type_drop(a->receive_type);
        for (int k = 0; a->held_types && k < 2 * vmpi_peers(a->request->comm); k++)
            vmpi_type_drop(a->held_types[k]);
        free(a->held_types);
        vmpi_op_drop(a->op);
        vmpi_complete(a->request, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    }
    free(meeting->at);
    free(meeting);
}

/* The lists of types are read when all have arrived, so they are copied. */
static void hold_types(vmpi_arrival *a, int count)
{
    a->held_types = vmpi_alloc(2 * (size_t)count, sizeof *a->held_types);
    for (int i = 0; i < count; i++) {
        a->held_types[i] = a->receive_types[i];
        a->held_types[count + i] = a->send_types && a->send != MPI_IN_PLACE ? a->send_types[i] : NULL;
    }
    for (int i = 0; i < 2 * count; i++)
        vmpi_type_hold(a->held_types[i]);
    a->receive_types = a->held_types;
    a->send_types = a->held_types + count;
}

static void begin(MPI_Comm comm, vmpi_arrival *arrival, void (*action)(MPI_Comm))
{
    int mine = vmpi_comm_rank_of(comm, vmpi_current->world);
    if (mine < 0)
        vmpi_error(MPI_ERR_COMM, "this rank is not a member of communicator %d", comm->id);
    if (!comm->begun)
        comm->begun = vmpi_alloc((size_t)comm->size, sizeof *comm->begun);
    struct vmpi_meeting **link = meeting_of(comm, comm->begun[mine]++, mine), *meeting = *link;
    /* The program may free what the call uses before it is done. */
    vmpi_type_hold(arrival->send_type);
    vmpi_type_hold(arrival->receive_type);
    vmpi_op_hold(arrival->op);
    if (arrival->receive_types && !arrival->offsets)
        hold_types(arrival, vmpi_peers(arrival->request->comm));
    meeting->at[mine] = *arrival;
    check_alike(comm, &meeting->at[meeting->first], meeting->first, arrival);
    if (++meeting->arrived < comm->size)
        return;
    *link = meeting->next;
    hold(comm, meeting, action);
}

int vmpi_begin(vmpi_arrival mine, MPI_Comm handle, void (*action)(MPI_Comm), MPI_Request *request)
{
    MPI_Comm comm = vmpi_comm(handle), place = comm->both ? comm->both : comm;
    if (!request) {
        vmpi_meet(place, &mine, action);
        return MPI_SUCCESS;
    }
    mine.request = *request = vmpi_request(REQUEST_COLLECTIVE, comm, NULL);
    (*request)->active = 1;
    (*request)->call = mine.call;
    begin(place, &mine, action);
    return MPI_SUCCESS;
}

int vmpi_exchange(vmpi_arrival mine, MPI_Comm handle, size_t bytes, void (*move)(const vmpi_sides *), MPI_Request *request)
{
    MPI_Comm comm = vmpi_comm(handle);
    check_root(comm, mine.root);
    ignore_insignificant(&mine, comm);
    if (!mine.counts && !mine.send_counts) {
        check_data(mine.send_count, mine.send_type, mine.send);
        check_data(mine.receive_count, mine.receive_type, mine.receive);
    }
    vmpi_record_collective(mine.call, comm->id, comm->size, bytes);
    uint32_t traced = vmpi_trace_collective(&mine, comm, request != NULL);
    mine.move = move;
    int error = vmpi_begin(mine, handle, move_data, request);
    if (request)
        (*request)->traced = traced;
    return error;
}
