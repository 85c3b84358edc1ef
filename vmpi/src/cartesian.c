/* Cartesian topologies: ranks in rows, the last dimension fastest. Ranks are never reordered. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

static int compare_descending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x < y) - (x > y);
}

static int as_mpich;

void vmpi_dims_choose(const char *like)
{
    as_mpich = strcmp(like, "mpich") == 0;
    if (!as_mpich && strcmp(like, "openmpi") != 0) {
        fprintf(stderr, "vmpi: -dims expects openmpi or mpich, got '%s'\n", like);
        exit(2);
    }
}

/* MPICH and the MPIs made from it (Cray, Blue Gene): the most equal factors, by the difference of the largest and the
 * smallest; of equal ones those with the larger smallest, then the larger second smallest, and so on. Factors descend. */
typedef struct {
    int unknown, *factor, *best;
    int found;
} division;

static int spread(const int *factor, int count)
{
    return factor[0] - factor[count - 1];
}

static int is_better(const int *one, const int *other, int count)
{
    int difference = spread(other, count) - spread(one, count);
    for (int i = count - 1; difference == 0 && i >= 0; i--)
        difference = one[i] - other[i];
    return difference > 0;
}

/* The smallest f of which `count` factors reach `rest`. */
static int root_of(int rest, int count)
{
    int f = 1;
    for (;; f++) {
        double power = 1;
        for (int i = 0; i < count && power < rest; i++)
            power *= f;
        if (power >= rest)
            return f;
    }
}

static void divide(division *d, int rest, int place)
{
    if (place == d->unknown) {
        if (rest == 1 && (!d->found || is_better(d->factor, d->best, place)))
            memcpy(d->best, d->factor, (size_t)place * sizeof *d->best);
        d->found |= rest == 1;
        return;
    }
    int least = root_of(rest, d->unknown - place), most = place ? d->factor[place - 1] : rest;
    for (int i = least; i <= most && i <= rest; i++) {
        /* The first factor ascends, the others descend, so that neither goes on when the difference is too large. */
        int f = place ? (most < rest ? most : rest) + least - i : i;
        int smallest = place ? f : root_of(rest / f, d->unknown - 1);
        if (d->found && (place ? d->factor[0] : f) - smallest > spread(d->best, d->unknown) && d->unknown > 1)
            return;
        if (rest % f)
            continue;
        d->factor[place] = f;
        divide(d, rest / f, place + 1);
    }
}

/* Takes prime factors from the largest down, each for the smallest free dimension so far. */
int MPI_Dims_create(int nodes, int dimensions, int extent[])
{
    VMPI_ENTER("MPI_Dims_create");
    vmpi_trace_note(as_mpich ? "MPI_Dims_create:mpich" : "MPI_Dims_create:openmpi");
    int rest = nodes, unknown = 0, factor[32], factors = 0;
    if (dimensions == 0)
        return MPI_SUCCESS;
    if (nodes < 1 || dimensions < 0)
        vmpi_error(MPI_ERR_DIMS, "%d ranks in %d dimensions", nodes, dimensions);
    for (int d = 0; d < dimensions; d++) {
        if (extent[d] < 0 || (extent[d] > 0 && rest % extent[d]))
            vmpi_error(MPI_ERR_DIMS, "%d ranks cannot be divided into %d along dimension %d", nodes, extent[d], d);
        if (extent[d] > 0)
            rest /= extent[d];
        else
            unknown++;
    }
    if (unknown == 0) {
        if (rest != 1)
            vmpi_error(MPI_ERR_DIMS, "the product of the dimensions is not %d ranks", nodes);
        return MPI_SUCCESS;
    }
    int *found = vmpi_alloc((size_t)unknown, sizeof *found);
    for (int i = 0; i < unknown; i++)
        found[i] = 1;
    if (as_mpich) {
        int *trial = vmpi_alloc((size_t)unknown, sizeof *trial);
        divide(&(division){unknown, trial, found, 0}, rest, 0);
        free(trial);
        rest = 1;
    }
    for (int prime = 2; rest > 1; prime = prime * prime > rest ? rest : prime + 1)
        for (; rest % prime == 0; rest /= prime)
            factor[factors++] = prime;
    while (factors > 0) {
        int least = 0;
        for (int i = 1; i < unknown; i++)
            if (found[i] < found[least])
                least = i;
        found[least] *= factor[--factors];
    }
    qsort(found, (size_t)unknown, sizeof *found, compare_descending);
    for (int d = 0, next = 0; d < dimensions; d++)
        if (extent[d] == 0)
            extent[d] = found[next++];
    free(found);
    return MPI_SUCCESS;
}

static int *copied(const int *numbers, int count)
{
    int *copy = vmpi_alloc((size_t)count + 1, sizeof *copy);
    memcpy(copy, numbers, (size_t)count * sizeof *copy);
    return copy;
}

static MPI_Comm with_topology(MPI_Comm handle)
{
    MPI_Comm comm = vmpi_comm(handle);
    if (!comm->extent)
        vmpi_error(MPI_ERR_TOPOLOGY, "communicator %d has no Cartesian topology", comm->id);
    return comm;
}

int MPI_Cart_create(MPI_Comm handle, int dimensions, const int extent[], const int periodic[], int reorder,
                    MPI_Comm *out)
{
    VMPI_ENTER("MPI_Cart_create");
    (void)reorder;
    int size = 1, rank;
    for (int d = 0; d < dimensions; d++)
        size *= extent[d];
    if (size > vmpi_comm(handle)->size)
        vmpi_error(MPI_ERR_DIMS, "a topology of %d ranks does not fit a communicator of %d", size, vmpi_comm(handle)->size);
    MPI_Comm_rank(handle, &rank);
    MPI_Comm_split(handle, rank < size ? 0 : MPI_UNDEFINED, rank, out);
    if (*out != MPI_COMM_NULL && !(*out)->extent) { /* the first rank does it for all */
        (*out)->dimensions = dimensions;
        (*out)->extent = copied(extent, dimensions);
        (*out)->periodic = copied(periodic, dimensions);
    }
    return MPI_SUCCESS;
}

int MPI_Cartdim_get(MPI_Comm handle, int *dimensions)
{
    VMPI_ENTER("MPI_Cartdim_get");
    *dimensions = with_topology(handle)->dimensions;
    return MPI_SUCCESS;
}

int MPI_Topo_test(MPI_Comm handle, int *kind)
{
    VMPI_ENTER("MPI_Topo_test");
    MPI_Comm comm = vmpi_comm(handle);
    *kind = comm->extent ? MPI_CART : comm->edges ? comm->graph : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int MPI_Cart_map(MPI_Comm handle, int dimensions, const int extent[], const int periodic[], int *rank)
{
    VMPI_ENTER("MPI_Cart_map");
    (void)periodic;
    int size = 1, mine = vmpi_comm_rank_of(vmpi_comm(handle), vmpi_current->world);
    for (int d = 0; d < dimensions; d++)
        size *= extent[d];
    *rank = mine < size ? mine : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int MPI_Cart_coords(MPI_Comm handle, int rank, int most, int coordinates[])
{
    VMPI_ENTER("MPI_Cart_coords");
    MPI_Comm comm = with_topology(handle);
    if (rank < 0 || rank >= comm->size)
        vmpi_error(MPI_ERR_RANK, "rank %d is not in a communicator of %d ranks", rank, comm->size);
    for (int d = comm->dimensions - 1; d >= 0; d--) {
        if (d < most)
            coordinates[d] = rank % comm->extent[d];
        rank /= comm->extent[d];
    }
    return MPI_SUCCESS;
}

int MPI_Cart_get(MPI_Comm handle, int most, int extent[], int periodic[], int coordinates[])
{
    VMPI_ENTER("MPI_Cart_get");
    MPI_Comm comm = with_topology(handle);
    for (int d = 0; d < comm->dimensions && d < most; d++) {
        extent[d] = comm->extent[d];
        periodic[d] = comm->periodic[d];
    }
    return MPI_Cart_coords(handle, vmpi_comm_rank_of(comm, vmpi_current->world), most, coordinates);
}

int MPI_Cart_rank(MPI_Comm handle, const int coordinates[], int *rank)
{
    VMPI_ENTER("MPI_Cart_rank");
    MPI_Comm comm = with_topology(handle);
    *rank = 0;
    for (int d = 0; d < comm->dimensions; d++) {
        int place = coordinates[d], extent = comm->extent[d];
        if (comm->periodic[d])
            place = (place % extent + extent) % extent;
        else if (place < 0 || place >= extent)
            vmpi_error(MPI_ERR_RANK, "coordinate %d is outside a dimension of %d without periodicity", place, extent);
        *rank = *rank * extent + place;
    }
    return MPI_SUCCESS;
}

int vmpi_cart_neighbour(MPI_Comm comm, int rank, int dimension, int steps)
{
    int stride = 1;
    for (int d = comm->dimensions - 1; d > dimension; d--)
        stride *= comm->extent[d];
    int extent = comm->extent[dimension], place = rank / stride % extent, there = place + steps;
    if (!comm->periodic[dimension] && (there < 0 || there >= extent))
        return MPI_PROC_NULL;
    there = (there % extent + extent) % extent;
    return rank + (there - place) * stride;
}

int MPI_Cart_shift(MPI_Comm handle, int dimension, int steps, int *source, int *destination)
{
    VMPI_ENTER("MPI_Cart_shift");
    MPI_Comm comm = with_topology(handle);
    if (dimension < 0 || dimension >= comm->dimensions)
        vmpi_error(MPI_ERR_DIMS, "dimension %d does not exist; there are %d", dimension, comm->dimensions);
    int rank = vmpi_comm_rank_of(comm, vmpi_current->world);
    *source = vmpi_cart_neighbour(comm, rank, dimension, -steps);
    *destination = vmpi_cart_neighbour(comm, rank, dimension, steps);
    return MPI_SUCCESS;
}

int MPI_Cart_sub(MPI_Comm handle, const int keep[], MPI_Comm *out)
{
    VMPI_ENTER("MPI_Cart_sub");
    MPI_Comm comm = with_topology(handle);
    int rank = vmpi_comm_rank_of(comm, vmpi_current->world), color = 0, kept = 0;
    int *extent = vmpi_alloc((size_t)comm->dimensions + 1, sizeof *extent);
    int *periodic = vmpi_alloc((size_t)comm->dimensions + 1, sizeof *periodic);
    int *place = vmpi_alloc((size_t)comm->dimensions + 1, sizeof *place);
    MPI_Cart_coords(handle, rank, comm->dimensions, place);
    for (int d = 0; d < comm->dimensions; d++)
        if (keep[d]) {
            extent[kept] = comm->extent[d];
            periodic[kept++] = comm->periodic[d];
        } else {
            color = color * comm->extent[d] + place[d];
        }
    MPI_Comm_split(handle, color, rank, out);
    if (!(*out)->extent) {
        (*out)->dimensions = kept;
        (*out)->extent = copied(extent, kept);
        (*out)->periodic = copied(periodic, kept);
    }
    free(extent);
    free(periodic);
    free(place);
    return MPI_SUCCESS;
}
