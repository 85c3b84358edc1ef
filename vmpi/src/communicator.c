/* Communicators and groups. */
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

struct ompi_predefined_communicator_t {
    struct ompi_communicator_t comm;
};

struct ompi_predefined_communicator_t ompi_mpi_comm_world;
struct ompi_predefined_communicator_t ompi_mpi_comm_self;
struct ompi_predefined_communicator_t ompi_mpi_comm_null;

static int next_id = 1;

void vmpi_communicators_start(int ranks)
{
    MPI_Comm world = MPI_COMM_WORLD;
    world->size = ranks;
    world->references = ranks;
    world->held = vmpi_alloc((size_t)ranks, sizeof *world->held);
    for (int i = 0; i < ranks; i++)
        world->held[i] = 1;
    world->at = vmpi_alloc((size_t)ranks, sizeof *world->at);
}

MPI_Comm vmpi_comm(MPI_Comm handle)
{
    if (handle == MPI_COMM_NULL || !handle)
        vmpi_error(MPI_ERR_COMM, "MPI_COMM_NULL is not a communicator");
    if (handle != MPI_COMM_SELF) {
        vmpi_current->object = handle;
        return handle;
    }
    if (!vmpi_current->self) {
        int *world = vmpi_alloc(1, sizeof *world);
        world[0] = vmpi_current->world;
        vmpi_current->self = vmpi_comm_create(1, world);
        vmpi_current->self->unnamed = 1;
    }
    vmpi_current->object = vmpi_current->self;
    return vmpi_current->self;
}

MPI_Comm vmpi_comm_create(int size, int *world)
{
    MPI_Comm comm = vmpi_alloc(1, sizeof *comm);
    comm->id = next_id++;
    comm->size = size;
    comm->references = size;
    comm->held = vmpi_alloc((size_t)size, sizeof *comm->held);
    for (int i = 0; i < size; i++)
        comm->held[i] = 1;
    comm->world = world;
    comm->at = vmpi_alloc((size_t)size, sizeof *comm->at);
    if (size > 1) { /* for one rank the search is trivial, and there may be one such communicator per rank */
        comm->rank_of = vmpi_alloc((size_t)vmpi_world_size, sizeof *comm->rank_of);
        for (int i = 0; i < vmpi_world_size; i++)
            comm->rank_of[i] = -1;
        for (int i = 0; i < size; i++)
            comm->rank_of[world[i]] = i;
    }
    return comm;
}

int vmpi_comm_world_of(MPI_Comm comm, int rank)
{
    return comm->world ? comm->world[rank] : rank;
}

int vmpi_comm_rank_of(MPI_Comm comm, int world)
{
    if (!comm->world)
        return world;
    if (!comm->rank_of)
        return comm->world[0] == world ? 0 : -1;
    return comm->rank_of[world];
}

int MPI_Comm_rank(MPI_Comm handle, int *rank)
{
    VMPI_ENTER("MPI_Comm_rank");
    *rank = vmpi_comm_rank_of(vmpi_comm(handle), vmpi_current->world);
    return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm handle, int *size)
{
    VMPI_ENTER("MPI_Comm_size");
    *size = vmpi_comm(handle)->size;
    return MPI_SUCCESS;
}

int vmpi_peers(MPI_Comm comm)
{
    return comm->remote ? comm->remote->size : comm->size;
}

int vmpi_peer_world(MPI_Comm comm, int peer)
{
    return vmpi_comm_world_of(comm->remote ? comm->remote : comm, peer);
}

void vmpi_comm_hold(MPI_Comm comm)
{
    comm->held[vmpi_comm_rank_of(comm, vmpi_current->world)]++;
}

/* The last rank that lets go of both sides of an inter-communicator frees both. */
void vmpi_comm_drop(MPI_Comm comm, vmpi_rank *rank)
{
    if (--comm->held[vmpi_comm_rank_of(comm, rank->world)] > 0)
        return;
    if (comm->both)
        vmpi_comm_drop(comm->both, rank);
    if (--comm->references > 0 || (comm->remote && comm->remote->references > 0))
        return;
    for (MPI_Comm other = comm->remote; other; other = NULL) {
        other->remote = NULL;
        vmpi_comm_free(other);
    }
    vmpi_comm_free(comm);
}

void vmpi_comm_free(MPI_Comm comm)
{
    free(comm->world);
    free(comm->rank_of);
    free(comm->held);
    free(comm->extent);
    free(comm->periodic);
    free(comm->at);
    free(comm->begun);
    free(comm->traced);
    vmpi_edges_free(comm);
    free(comm);
}

int *vmpi_comm_members(MPI_Comm comm)
{
    int *world = vmpi_alloc((size_t)comm->size, sizeof *world);
    for (int i = 0; i < comm->size; i++)
        world[i] = vmpi_comm_world_of(comm, i);
    return world;
}

static void duplicate(MPI_Comm comm)
{
    if (comm->side[0]) {
        vmpi_inter_duplicate(comm);
        return;
    }
    MPI_Comm twin = vmpi_comm_create(comm->size, vmpi_comm_members(comm));
    twin->unnamed = comm->unnamed;
    vmpi_topology_copy(comm, twin);
    for (int i = 0; i < comm->size; i++) {
        comm->at[i].communicator = twin;
        vmpi_trace_split(vmpi_comm_world_of(comm, i), comm, twin);
    }
}

/* The communicator that the meeting of all ranks has made for the calling one. */
static MPI_Comm meet_for(MPI_Comm comm, vmpi_arrival mine, void (*action)(MPI_Comm))
{
    MPI_Comm place = comm->both ? comm->both : comm;
    vmpi_meet(place, &mine, action);
    return place->at[vmpi_comm_rank_of(place, vmpi_current->world)].communicator;
}

int MPI_Comm_dup(MPI_Comm handle, MPI_Comm *out)
{
    VMPI_ENTER("MPI_Comm_dup");
    MPI_Comm comm = vmpi_comm(handle);
    *out = meet_for(comm, (vmpi_arrival){.call = "MPI_Comm_dup"}, duplicate);
    MPI_Comm made = *out;
    *out = MPI_COMM_NULL; /* if a copy function fails */
    vmpi_attributes_copy(comm, made);
    *out = made;
    return MPI_SUCCESS;
}

int MPI_Comm_dup_with_info(MPI_Comm handle, MPI_Info info, MPI_Comm *out)
{
    (void)info;
    return MPI_Comm_dup(handle, out);
}

/* The handle is filled in when the request completes. */
static void duplicate_later(MPI_Comm comm)
{
    duplicate(comm);
    for (int i = 0; i < comm->size; i++)
        *(MPI_Comm *)comm->at[i].receive = comm->at[i].communicator;
}

int MPI_Comm_idup(MPI_Comm handle, MPI_Comm *out, MPI_Request *request)
{
    VMPI_ENTER("MPI_Comm_idup");
    const MPI_Comm comm = vmpi_comm(handle);
    vmpi_record_collective("MPI_Comm_idup", comm->id, comm->size, 0);
    return vmpi_begin((vmpi_arrival){.call = "MPI_Comm_idup", .receive = out}, handle, duplicate_later, request);
}

typedef struct {
    int color, key, rank;
} split_entry;

static int compare_split(const void *a, const void *b)
{
    const split_entry *x = a, *y = b;
    if (x->color != y->color)
        return x->color < y->color ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->rank < y->rank ? -1 : 1;
}

static void split(MPI_Comm comm)
{
    if (comm->side[0]) {
        vmpi_inter_split(comm);
        return;
    }
    split_entry *entry = vmpi_alloc((size_t)comm->size, sizeof *entry);
    for (int i = 0; i < comm->size; i++)
        entry[i] = (split_entry){comm->at[i].color, comm->at[i].key, i};
    qsort(entry, (size_t)comm->size, sizeof *entry, compare_split);
    for (int first = 0, end; first < comm->size; first = end) {
        end = first;
        while (end < comm->size && entry[end].color == entry[first].color)
            end++;
        MPI_Comm part = MPI_COMM_NULL;
        if (entry[first].color != MPI_UNDEFINED) {
            int *world = vmpi_alloc((size_t)(end - first), sizeof *world);
            for (int i = first; i < end; i++)
                world[i - first] = vmpi_comm_world_of(comm, entry[i].rank);
            part = vmpi_comm_create(end - first, world);
            part->unnamed = comm->unnamed;
        }
        for (int i = first; i < end; i++) {
            comm->at[entry[i].rank].communicator = part;
            vmpi_trace_split(vmpi_comm_world_of(comm, entry[i].rank), comm, part == MPI_COMM_NULL ? NULL : part);
        }
    }
    free(entry);
}

int MPI_Comm_split(MPI_Comm handle, int color, int key, MPI_Comm *out)
{
    VMPI_ENTER("MPI_Comm_split");
    if (color < 0 && color != MPI_UNDEFINED)
        vmpi_error(MPI_ERR_ARG, "the color %d is negative", color);
    *out = meet_for(vmpi_comm(handle), (vmpi_arrival){.call = "MPI_Comm_split", .color = color, .key = key}, split);
    return MPI_SUCCESS;
}

/* Ranks of a node (option -per-node) share memory. */
int MPI_Comm_split_type(MPI_Comm handle, int type, int key, MPI_Info info, MPI_Comm *out)
{
    (void)info;
    VMPI_ENTER("MPI_Comm_split_type");
    if (type != MPI_COMM_TYPE_SHARED && type != MPI_UNDEFINED)
        vmpi_error(MPI_ERR_ARG, "MPI_Comm_split_type supports only MPI_COMM_TYPE_SHARED");
    int color = type == MPI_UNDEFINED ? MPI_UNDEFINED : vmpi_current->world / vmpi_per_node;
    return MPI_Comm_split(handle, color, key, out);
}

int MPI_Comm_compare(MPI_Comm one, MPI_Comm other, int *result)
{
    VMPI_ENTER("MPI_Comm_compare");
    MPI_Comm a = vmpi_comm(one), b = vmpi_comm(other);
    if (a != b && a->remote && b->remote) {
        vmpi_inter_compare(a, b, result);
        return MPI_SUCCESS;
    }
    int alike = a->size == b->size, similar = alike;
    for (int i = 0; i < a->size && similar; i++) {
        alike = alike && vmpi_comm_world_of(a, i) == vmpi_comm_world_of(b, i);
        similar = vmpi_comm_rank_of(b, vmpi_comm_world_of(a, i)) >= 0;
    }
    similar = similar && !a->remote == !b->remote;
    *result = a == b ? MPI_IDENT : alike && similar ? MPI_CONGRUENT : similar ? MPI_SIMILAR : MPI_UNEQUAL;
    return MPI_SUCCESS;
}

/* Ranks that passed the same group, and are members of it, share one new communicator. The first member identifies
 * a group, because groups passed together are disjoint or the same. */
static void create_from_groups(MPI_Comm comm)
{
    if (comm->side[0]) {
        vmpi_inter_create(comm);
        return;
    }
    for (int i = 0; i < comm->size; i++)
        comm->at[i].communicator = MPI_COMM_NULL;
    for (int i = 0; i < comm->size; i++) {
        MPI_Group group = comm->at[i].group;
        if (!group || group->size == 0 || group->world[0] != vmpi_comm_world_of(comm, i))
            continue;
        int *world = vmpi_alloc((size_t)group->size, sizeof *world);
        memcpy(world, group->world, (size_t)group->size * sizeof *world);
        MPI_Comm made = vmpi_comm_create(group->size, world);
        made->unnamed = comm->unnamed;
        for (int m = 0; m < group->size; m++) {
            int member = vmpi_comm_rank_of(comm, group->world[m]);
            if (member < 0)
                vmpi_fail("a group member (world rank %d) is not in the communicator", group->world[m]);
            comm->at[member].communicator = made;
        }
    }
    for (int i = 0; i < comm->size; i++)
        vmpi_trace_split(vmpi_comm_world_of(comm, i), comm,
                         comm->at[i].communicator == MPI_COMM_NULL ? NULL : comm->at[i].communicator);
}

int MPI_Comm_create(MPI_Comm handle, MPI_Group group, MPI_Comm *out)
{
    VMPI_ENTER("MPI_Comm_create");
    if (!group || group == MPI_GROUP_NULL)
        vmpi_error(MPI_ERR_GROUP, "MPI_GROUP_NULL is not a group");
    *out = meet_for(vmpi_comm(handle), (vmpi_arrival){.call = "MPI_Comm_create", .group = group}, create_from_groups);
    return MPI_SUCCESS;
}

int MPI_Comm_free(MPI_Comm *handle)
{
    VMPI_ENTER("MPI_Comm_free");
    MPI_Comm comm = vmpi_comm(*handle);
    if (comm == MPI_COMM_WORLD || *handle == MPI_COMM_SELF)
        vmpi_error(MPI_ERR_COMM, "MPI_COMM_WORLD and MPI_COMM_SELF cannot be freed");
    vmpi_attributes_free(comm);
    *handle = MPI_COMM_NULL;
    vmpi_trace_free(comm);
    vmpi_comm_drop(comm, vmpi_current);
    vmpi_current->object = NULL;
    return MPI_SUCCESS;
}

/* Nothing is pending that could be waited for: messages do not need the communicator. */
int MPI_Comm_disconnect(MPI_Comm *handle)
{
    return MPI_Comm_free(handle);
}

/* The ranks were not spawned. */
int MPI_Comm_get_parent(MPI_Comm *parent)
{
    VMPI_ENTER("MPI_Comm_get_parent");
    *parent = MPI_COMM_NULL;
    return MPI_SUCCESS;
}
