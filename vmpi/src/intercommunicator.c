/* Inter-communicators, and communicators whose ranks have no common one to meet on.
 *
 * An inter-communicator is two objects, one for the ranks of each side, with the same number. Both know the hidden
 * communicator of all ranks, on which their collectives meet (meet.c). */
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

/* Both sides; takes ownership of the lists. Without ranks on one side there is none. */
static MPI_Comm create(const int sizes[2], int *lists[2], MPI_Comm side[2])
{
    int *all = vmpi_alloc((size_t)sizes[0] + (size_t)sizes[1], sizeof *all);
    memcpy(all, lists[0], (size_t)sizes[0] * sizeof *all);
    memcpy(all + sizes[0], lists[1], (size_t)sizes[1] * sizeof *all);
    MPI_Comm both = vmpi_comm_create(sizes[0] + sizes[1], all);
    both->unnamed = 1;
    for (int s = 0; s < 2; s++) {
        side[s] = both->side[s] = vmpi_comm_create(sizes[s], lists[s]);
        side[s]->both = both;
        side[s]->unnamed = 1;
    }
    side[1]->id = side[0]->id;
    side[0]->remote = side[1];
    side[1]->remote = side[0];
    return both;
}

/* The ranks of a side in the meeting's list. */
static int first_of(MPI_Comm both, int side)
{
    return side == 0 ? 0 : both->side[0]->size;
}

void vmpi_inter_duplicate(MPI_Comm both)
{
    int sizes[2] = {both->side[0]->size, both->side[1]->size};
    MPI_Comm made[2];
    create(sizes, (int *[2]){vmpi_comm_members(both->side[0]), vmpi_comm_members(both->side[1])}, made);
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < sizes[s]; i++)
            both->at[first_of(both, s) + i].communicator = made[s];
}

/* Chosen ranks of both sides, as places in the meeting, become one inter-communicator. */
static void create_for(MPI_Comm both, const int sizes[2], int *places[2])
{
    int *lists[2];
    MPI_Comm made[2];
    if (sizes[0] == 0 || sizes[1] == 0)
        return;
    for (int s = 0; s < 2; s++) {
        lists[s] = vmpi_alloc((size_t)sizes[s], sizeof *lists[s]);
        for (int i = 0; i < sizes[s]; i++)
            lists[s][i] = vmpi_comm_world_of(both, places[s][i]);
    }
    create(sizes, lists, made);
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < sizes[s]; i++)
            both->at[places[s][i]].communicator = made[s];
}

/* The place of the first rank after (key, place) in the order of keys; -1: none. */
static int next_of(MPI_Comm both, int side, int color, int key, int place)
{
    int best = -1;
    for (int i = first_of(both, side), end = i + both->side[side]->size; i < end; i++) {
        const vmpi_arrival *a = &both->at[i];
        int later = a->key > key || (a->key == key && i > place);
        if (a->color == color && later && (best < 0 || a->key < both->at[best].key))
            best = i;
    }
    return best;
}

void vmpi_inter_split(MPI_Comm both)
{
    int *places[2] = {vmpi_alloc((size_t)both->size, sizeof(int)), vmpi_alloc((size_t)both->size, sizeof(int))};
    for (int i = 0; i < both->size; i++)
        both->at[i].communicator = NULL;
    for (int i = 0; i < both->size; i++) {
        int color = both->at[i].color, sizes[2] = {0, 0};
        if (both->at[i].communicator || color == MPI_UNDEFINED)
            continue;
        for (int s = 0; s < 2; s++)
            for (int at = next_of(both, s, color, INT32_MIN, -1); at >= 0;
                 at = next_of(both, s, color, both->at[at].key, at))
                places[s][sizes[s]++] = at;
        create_for(both, sizes, places);
    }
    for (int i = 0; i < both->size; i++)
        if (!both->at[i].communicator)
            both->at[i].communicator = MPI_COMM_NULL;
    free(places[0]);
    free(places[1]);
}

void vmpi_inter_create(MPI_Comm both)
{
    int *places[2], sizes[2];
    for (int i = 0; i < both->size; i++)
        both->at[i].communicator = MPI_COMM_NULL;
    for (int s = 0; s < 2; s++) { /* each rank of a side passes the same group */
        MPI_Group group = both->at[first_of(both, s)].group;
        sizes[s] = group->size;
        places[s] = vmpi_alloc((size_t)group->size, sizeof *places[s]);
        for (int i = 0; i < group->size; i++)
            places[s][i] = vmpi_comm_rank_of(both, group->world[i]);
    }
    create_for(both, sizes, places);
    free(places[0]);
    free(places[1]);
}

void vmpi_inter_compare(MPI_Comm a, MPI_Comm b, int *result)
{
    int alike = MPI_CONGRUENT;
    const MPI_Comm one[2] = {a, a->remote}, other[2] = {b, b->remote};
    for (int s = 0; s < 2; s++) {
        if (one[s]->size != other[s]->size) {
            *result = MPI_UNEQUAL;
            return;
        }
        for (int i = 0; i < one[s]->size; i++) {
            int place = vmpi_comm_rank_of(other[s], vmpi_comm_world_of(one[s], i));
            if (place < 0) {
                *result = MPI_UNEQUAL;
                return;
            }
            if (place != i)
                alike = MPI_SIMILAR;
        }
    }
    *result = alike;
}

static MPI_Comm inter(MPI_Comm handle)
{
    MPI_Comm comm = vmpi_comm(handle);
    if (!comm->remote)
        vmpi_error(MPI_ERR_COMM, "communicator %d is no inter-communicator", comm->id);
    return comm;
}

int MPI_Comm_test_inter(MPI_Comm handle, int *flag)
{
    VMPI_ENTER("MPI_Comm_test_inter");
    *flag = vmpi_comm(handle)->remote != NULL;
    return MPI_SUCCESS;
}

int MPI_Comm_remote_size(MPI_Comm handle, int *size)
{
    VMPI_ENTER("MPI_Comm_remote_size");
    *size = inter(handle)->remote->size;
    return MPI_SUCCESS;
}

int MPI_Comm_remote_group(MPI_Comm handle, MPI_Group *group)
{
    VMPI_ENTER("MPI_Comm_remote_group");
    return MPI_Comm_group(inter(handle)->remote, group);
}

static void merge(MPI_Comm both)
{
    int first = both->at[first_of(both, 0)].color > both->at[first_of(both, 1)].color; /* "high" ranks come last */
    int *world = vmpi_alloc((size_t)both->size, sizeof *world), next = 0;
    for (int s = 0; s < 2; s++) {
        MPI_Comm side = both->side[s ? !first : first];
        for (int i = 0; i < side->size; i++)
            world[next++] = vmpi_comm_world_of(side, i);
    }
    MPI_Comm made = vmpi_comm_create(both->size, world);
    made->unnamed = 1;
    for (int i = 0; i < both->size; i++)
        both->at[i].communicator = made;
}

int MPI_Intercomm_merge(MPI_Comm handle, int high, MPI_Comm *out)
{
    VMPI_ENTER("MPI_Intercomm_merge");
    MPI_Comm both = inter(handle)->both;
    vmpi_arrival mine = {.call = "MPI_Intercomm_merge", .color = high != 0};
    vmpi_meet(both, &mine, merge);
    *out = both->at[vmpi_comm_rank_of(both, vmpi_current->world)].communicator;
    return MPI_SUCCESS;
}

/* ---- ranks that meet without a common communicator ---- */

/* A group whose ranks arrive one by one, or a side that waits for the other. */
typedef struct pending {
    int kind, tag, context; /* MPI_Comm_create_group: the communicator's number */
    int leader, other;      /* MPI_Intercomm_create: ranks in the world */
    int size, arrived;
    int *world;
    char *here; /* which members of the group have arrived */
    struct pending *next;
} pending;
enum { GROUP, SIDE };
static pending *waiting;

static void await_made(MPI_Comm *out)
{
    while (!vmpi_current->made)
        vmpi_block();
    *out = vmpi_current->made;
    vmpi_current->made = NULL;
}

static void give(MPI_Comm made)
{
    for (int i = 0; i < made->size; i++) {
        vmpi_rank *rank = vmpi_rank_at(vmpi_comm_world_of(made, i));
        rank->made = made;
        if (rank != vmpi_current)
            vmpi_wake(rank);
    }
}

static void forget(pending *p)
{
    pending **link = &waiting;
    while (*link != p)
        link = &(*link)->next;
    *link = p->next;
    free(p->here);
    free(p);
}

int MPI_Comm_create_group(MPI_Comm handle, MPI_Group group, int tag, MPI_Comm *out)
{
    VMPI_ENTER("MPI_Comm_create_group");
    MPI_Comm comm = vmpi_comm(handle);
    int mine;
    MPI_Group_rank(group, &mine);
    *out = MPI_COMM_NULL;
    if (mine == MPI_UNDEFINED)
        return MPI_SUCCESS;
    pending *p = waiting;
    while (p && !(p->kind == GROUP && p->tag == tag && p->context == comm->id && p->size == group->size && !p->here[mine] &&
                  memcmp(p->world, group->world, (size_t)p->size * sizeof *p->world) == 0))
        p = p->next;
    if (!p) {
        p = vmpi_alloc(1, sizeof *p);
        *p = (pending){.kind = GROUP, .tag = tag, .context = comm->id, .size = group->size, .next = waiting};
        p->world = vmpi_alloc((size_t)p->size, sizeof *p->world);
        memcpy(p->world, group->world, (size_t)p->size * sizeof *p->world);
        p->here = vmpi_alloc((size_t)p->size, 1);
        waiting = p;
    }
    p->here[mine] = 1;
    if (++p->arrived == p->size) {
        MPI_Comm made = vmpi_comm_create(p->size, p->world);
        made->unnamed = p->size < comm->size || comm->unnamed;
        for (int i = 0; i < p->size; i++)
            vmpi_trace_split(p->world[i], comm, made);
        forget(p);
        give(made);
    }
    await_made(out);
    return MPI_SUCCESS;
}

static void meet_side(MPI_Comm local)
{
    const vmpi_arrival *leader = &local->at[local->at[0].root];
    int mine = vmpi_comm_world_of(local, local->at[0].root), other = leader->color;
    int *world = vmpi_comm_members(local);
    pending *p = waiting;
    while (p && !(p->kind == SIDE && p->tag == leader->tag && p->leader == other && p->other == mine))
        p = p->next;
    if (!p) {
        p = vmpi_alloc(1, sizeof *p);
        *p = (pending){.kind = SIDE, .tag = leader->tag, .leader = mine, .other = other, .size = local->size, .world = world, .next = waiting};
        waiting = p;
        return;
    }
    int sizes[2] = {p->size, local->size};
    MPI_Comm made[2];
    create(sizes, (int *[2]){p->world, world}, made);
    forget(p);
    give(made[0]);
    give(made[1]);
}

int MPI_Intercomm_create(MPI_Comm local_handle, int local_leader, MPI_Comm peer_handle, int remote_leader, int tag, MPI_Comm *out)
{
    VMPI_ENTER("MPI_Intercomm_create");
    MPI_Comm local = vmpi_comm(local_handle);
    if (local_leader < 0 || local_leader >= local->size)
        vmpi_error(MPI_ERR_RANK, "the leader %d is not in a communicator of %d ranks", local_leader, local->size);
    vmpi_arrival mine = {.call = "MPI_Intercomm_create", .root = local_leader, .tag = tag};
    if (vmpi_comm_rank_of(local, vmpi_current->world) == local_leader) {
        MPI_Comm peer = vmpi_comm(peer_handle);
        if (remote_leader < 0 || remote_leader >= vmpi_peers(peer))
            vmpi_error(MPI_ERR_RANK, "the remote leader %d is not in a communicator of %d ranks", remote_leader, vmpi_peers(peer));
        mine.color = vmpi_peer_world(peer, remote_leader);
    }
    vmpi_meet(local, &mine, meet_side);
    await_made(out);
    return MPI_SUCCESS;
}
