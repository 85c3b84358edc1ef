/* Groups: lists of ranks of the world. */
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

struct ompi_predefined_group_t {
    struct ompi_group_t group;
};

struct ompi_predefined_group_t ompi_mpi_group_null, ompi_mpi_group_empty;

/* Every empty group is MPI_GROUP_EMPTY. */
static MPI_Group made(MPI_Group group)
{
    if (group->size > 0)
        return group;
    free(group->world);
    free(group);
    return MPI_GROUP_EMPTY;
}

static MPI_Group new_group(int most)
{
    MPI_Group group = vmpi_alloc(1, sizeof *group);
    group->world = vmpi_alloc((size_t)most, sizeof *group->world);
    return group;
}

static int place(MPI_Group group, int world)
{
    for (int i = 0; i < group->size; i++)
        if (group->world[i] == world)
            return i;
    return MPI_UNDEFINED;
}

int MPI_Comm_group(MPI_Comm handle, MPI_Group *out)
{
    VMPI_ENTER("MPI_Comm_group");
    MPI_Comm comm = vmpi_comm(handle);
    *out = vmpi_alloc(1, sizeof **out);
    (*out)->size = comm->size;
    (*out)->world = vmpi_comm_members(comm);
    return MPI_SUCCESS;
}

int MPI_Group_size(MPI_Group group, int *size)
{
    VMPI_ENTER("MPI_Group_size");
    *size = group->size;
    return MPI_SUCCESS;
}

int MPI_Group_rank(MPI_Group group, int *rank)
{
    VMPI_ENTER("MPI_Group_rank");
    *rank = place(group, vmpi_current->world);
    return MPI_SUCCESS;
}

int MPI_Group_translate_ranks(MPI_Group from, int count, const int ranks[], MPI_Group to, int translated[])
{
    VMPI_ENTER("MPI_Group_translate_ranks");
    int *places = vmpi_alloc((size_t)vmpi_world_size, sizeof *places);
    for (int i = 0; i < vmpi_world_size; i++)
        places[i] = MPI_UNDEFINED;
    for (int i = 0; i < to->size; i++)
        places[to->world[i]] = i;
    for (int i = 0; i < count; i++) {
        if (ranks[i] != MPI_PROC_NULL && (ranks[i] < 0 || ranks[i] >= from->size))
            vmpi_error(MPI_ERR_RANK, "rank %d is not in a group of %d ranks", ranks[i], from->size);
        translated[i] = ranks[i] == MPI_PROC_NULL ? MPI_PROC_NULL : places[from->world[ranks[i]]];
    }
    free(places);
    return MPI_SUCCESS;
}

int MPI_Group_compare(MPI_Group one, MPI_Group other, int *result)
{
    VMPI_ENTER("MPI_Group_compare");
    int alike = one->size == other->size, similar = alike;
    for (int i = 0; i < one->size && similar; i++) {
        alike = alike && one->world[i] == other->world[i];
        similar = alike || place(other, one->world[i]) >= 0;
    }
    *result = alike ? MPI_IDENT : similar ? MPI_SIMILAR : MPI_UNEQUAL;
    return MPI_SUCCESS;
}

/* The ranks of `group` whose mark is `wanted`, in order. */
static MPI_Group chosen(MPI_Group group, const char *mark, char wanted)
{
    MPI_Group out = new_group(group->size);
    for (int i = 0; i < group->size; i++)
        if (mark[group->world[i]] == wanted)
            out->world[out->size++] = group->world[i];
    return made(out);
}

static char *members(MPI_Group group)
{
    char *mark = vmpi_alloc((size_t)vmpi_world_size, 1);
    for (int i = 0; i < group->size; i++)
        mark[group->world[i]] = 1;
    return mark;
}

int MPI_Group_union(MPI_Group one, MPI_Group other, MPI_Group *out)
{
    VMPI_ENTER("MPI_Group_union");
    char *mark = members(one);
    *out = new_group(one->size + other->size);
    if (one->size > 0)
        memcpy((*out)->world, one->world, (size_t)one->size * sizeof(int));
    (*out)->size = one->size;
    for (int i = 0; i < other->size; i++)
        if (!mark[other->world[i]])
            (*out)->world[(*out)->size++] = other->world[i];
    *out = made(*out);
    free(mark);
    return MPI_SUCCESS;
}

int MPI_Group_intersection(MPI_Group one, MPI_Group other, MPI_Group *out)
{
    VMPI_ENTER("MPI_Group_intersection");
    char *mark = members(other);
    *out = chosen(one, mark, 1);
    free(mark);
    return MPI_SUCCESS;
}

int MPI_Group_difference(MPI_Group one, MPI_Group other, MPI_Group *out)
{
    VMPI_ENTER("MPI_Group_difference");
    char *mark = members(other);
    *out = chosen(one, mark, 0);
    free(mark);
    return MPI_SUCCESS;
}

static int member(MPI_Group group, int rank)
{
    if (rank < 0 || rank >= group->size)
        vmpi_error(MPI_ERR_RANK, "member %d is not in a group of %d ranks", rank, group->size);
    return group->world[rank];
}

static MPI_Group without(MPI_Group group, int count, const int ranks[])
{
    char *mark = vmpi_alloc((size_t)vmpi_world_size, 1);
    for (int i = 0; i < count; i++)
        mark[member(group, ranks[i])] = 1;
    MPI_Group out = chosen(group, mark, 0);
    free(mark);
    return out;
}

static MPI_Group with(MPI_Group group, int count, const int ranks[])
{
    MPI_Group out = new_group(count);
    for (int i = 0; i < count; i++)
        out->world[out->size++] = member(group, ranks[i]);
    return made(out);
}

int MPI_Group_incl(MPI_Group group, int count, const int ranks[], MPI_Group *out)
{
    VMPI_ENTER("MPI_Group_incl");
    *out = with(group, count, ranks);
    return MPI_SUCCESS;
}

int MPI_Group_excl(MPI_Group group, int count, const int ranks[], MPI_Group *out)
{
    VMPI_ENTER("MPI_Group_excl");
    *out = without(group, count, ranks);
    return MPI_SUCCESS;
}

/* The ranks of triplets (first, last, stride); `count` receives their number. */
static int *ranks_of(int triplets, int triplet[][3], int *count)
{
    *count = 0;
    for (int i = 0; i < triplets; i++) {
        if (triplet[i][2] == 0 || (triplet[i][1] - triplet[i][0]) / triplet[i][2] < 0)
            vmpi_error(MPI_ERR_ARG, "invalid range: ranks %d to %d in steps of %d", triplet[i][0], triplet[i][1], triplet[i][2]);
        *count += (triplet[i][1] - triplet[i][0]) / triplet[i][2] + 1;
    }
    int *ranks = vmpi_alloc((size_t)*count, sizeof *ranks), next = 0;
    for (int i = 0; i < triplets; i++)
        for (int n = 0; n <= (triplet[i][1] - triplet[i][0]) / triplet[i][2]; n++)
            ranks[next++] = triplet[i][0] + n * triplet[i][2];
    return ranks;
}

int MPI_Group_range_incl(MPI_Group group, int triplets, int triplet[][3], MPI_Group *out)
{
    VMPI_ENTER("MPI_Group_range_incl");
    int count, *ranks = ranks_of(triplets, triplet, &count);
    *out = with(group, count, ranks);
    free(ranks);
    return MPI_SUCCESS;
}

int MPI_Group_range_excl(MPI_Group group, int triplets, int triplet[][3], MPI_Group *out)
{
    VMPI_ENTER("MPI_Group_range_excl");
    int count, *ranks = ranks_of(triplets, triplet, &count);
    *out = without(group, count, ranks);
    free(ranks);
    return MPI_SUCCESS;
}

int MPI_Group_free(MPI_Group *group)
{
    VMPI_ENTER("MPI_Group_free");
    if (*group != MPI_GROUP_EMPTY) {
        free((*group)->world);
        free(*group);
    }
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}
