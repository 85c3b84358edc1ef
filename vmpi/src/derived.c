/* Derived data types. Every constructor places copies of older types one after another.
 *
 * The extent runs from the lowest to the highest bound of the content, rounded up to the alignment of its basic types
 * as in a C structure. MPI_Type_create_resized sets both bounds. */
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

/* mpi.h hides these names of MPI-1. */
extern struct ompi_predefined_datatype_t ompi_mpi_lb, ompi_mpi_ub;
#undef MPI_LB
#undef MPI_UB
#define MPI_LB ((MPI_Datatype)&ompi_mpi_lb)
#define MPI_UB ((MPI_Datatype)&ompi_mpi_ub)

void vmpi_type_hold(MPI_Datatype type)
{
    if (type && !type->basic)
        type->references++;
}

/* The last freed types stay in memory, empty, so that most uses of a freed handle get an error and no other type. */
static void keep_freed(MPI_Datatype type)
{
    static MPI_Datatype freed[1024];
    static unsigned next;
    *type = (struct ompi_datatype_t){0};
    free(freed[next % 1024]);
    freed[next++ % 1024] = type;
}

void vmpi_type_drop(MPI_Datatype type)
{
    if (!type || type->basic || --type->references > 0)
        return;
    for (int i = 0; i < type->pieces; i++)
        vmpi_type_drop(type->piece[i].of);
    vmpi_recipe_free(type);
    free(type->piece);
    keep_freed(type);
}

int MPI_Type_commit(MPI_Datatype *type)
{
    (void)type;
    VMPI_ENTER("MPI_Type_commit");
    return MPI_SUCCESS;
}

int MPI_Type_free(MPI_Datatype *type)
{
    VMPI_ENTER("MPI_Type_free");
    if ((*type)->basic)
        vmpi_error(MPI_ERR_TYPE, "a basic data type cannot be freed");
    vmpi_attributes_free(*type);
    vmpi_type_drop(*type);
    *type = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

static MPI_Datatype new_type(void)
{
    MPI_Datatype type = vmpi_alloc(1, sizeof *type);
    type->alignment = 1;
    type->references = 1;
    return type;
}

static void check_old(MPI_Datatype old, int count)
{
    if (!old || old == MPI_DATATYPE_NULL)
        vmpi_error(MPI_ERR_TYPE, "MPI_DATATYPE_NULL is not a data type");
    if (!old->basic && old->references == 0)
        vmpi_error(MPI_ERR_TYPE, "the data type was freed");
    if (count < 0)
        vmpi_error(MPI_ERR_COUNT, "the count %d is negative", count);
}

static void append(MPI_Datatype type, vmpi_piece piece)
{
    vmpi_piece *last = type->pieces ? &type->piece[type->pieces - 1] : NULL;
    if (piece.count > 1 && !piece.of && piece.stride == (ptrdiff_t)piece.bytes) {
        piece.bytes *= piece.count;
        piece.count = 1;
    }
    if (last && !last->of && !piece.of && last->count == 1 && piece.count == 1 &&
        last->offset + (ptrdiff_t)last->bytes == piece.offset) {
        last->bytes += piece.bytes;
        return;
    }
    if (type->pieces == type->room) {
        type->room = type->room ? 2 * type->room : 1;
        type->piece = vmpi_resize(type->piece, (size_t)type->room, sizeof *type->piece);
    }
    vmpi_type_hold(piece.of);
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there is room
    type->piece[type->pieces++] = piece;
}

/* Widens [*lower, *lower + *extent) to hold [low, high). */
static void widen(ptrdiff_t *lower, ptrdiff_t *extent, int first, ptrdiff_t low, ptrdiff_t high)
{
    ptrdiff_t top = *lower + *extent;
    *lower = first || low < *lower ? low : *lower;
    *extent = (first || high > top ? high : top) - *lower;
}

/* Adds `count` copies of `old` at `offset`, `stride` bytes apart. */
static void add(MPI_Datatype type, MPI_Datatype old, size_t count, ptrdiff_t offset, ptrdiff_t stride)
{
    if (count == 0)
        return;
    ptrdiff_t last = (ptrdiff_t)(count - 1) * stride, down = last < 0 ? last : 0, up = last > 0 ? last : 0;
    int marked = old->marked;
    if (old == MPI_LB || old == MPI_UB) {
        marked = old == MPI_LB ? 1 : 2;
    }
    ptrdiff_t low = offset + down + old->lower, high = offset + up + old->lower + old->extent;
    ptrdiff_t top = type->lower + type->extent;
    /* A marked bound replaces an unmarked one, and counts only against other marked ones. */
    int first = !type->bounded, sets_low = (marked & 1) >= (type->marked & 1), sets_high = (marked & 2) >= (type->marked & 2);
    int over_low = (marked & 1) > (type->marked & 1), over_high = (marked & 2) > (type->marked & 2);
    if (old == MPI_LB)
        sets_high = first;
    if (old == MPI_UB)
        sets_low = first;
    ptrdiff_t lower = sets_low && (first || over_low || low < type->lower) ? low : type->lower;
    top = sets_high && (first || over_high || high > top) ? high : top;
    type->lower = lower;
    type->extent = top - lower;
    type->marked |= marked;
    type->bounded = 1;
    if (old->size > 0)
        widen(&type->true_lower, &type->true_extent, type->size == 0, offset + down + old->true_lower,
              offset + up + old->true_lower + old->true_extent);
    type->only = type->elements == 0 || type->only == old->only ? old->only : NULL;
    type->elements += count * old->elements;
    type->size += count * old->size;
    if (old->alignment > type->alignment)
        type->alignment = old->alignment;
    if (old->size == 0)
        return;
    const vmpi_piece *single = old->pieces == 1 && old->piece->count == 1 && !old->piece->of ? old->piece : NULL;
    if (single)
        append(type, (vmpi_piece){offset + single->offset, stride, count, single->bytes, NULL});
    else
        append(type, (vmpi_piece){offset, stride, count, 0, old});
}

static int finish(MPI_Datatype type, MPI_Datatype *out)
{
    ptrdiff_t over = type->extent % type->alignment;
    if (!(type->marked & 2))
        type->extent += over > 0 ? type->alignment - over : 0;
    *out = type;
    return MPI_SUCCESS;
}

int MPI_Type_contiguous(int count, MPI_Datatype old, MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_contiguous");
    check_old(old, count);
    MPI_Datatype type = new_type();
    add(type, old, (size_t)count, 0, old->extent);
    vmpi_recipe_set(type, MPI_COMBINER_CONTIGUOUS, 1, &count, 0, NULL, 1, &old);
    return finish(type, out);
}

int MPI_Type_dup(MPI_Datatype old, MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_dup");
    check_old(old, 1);
    MPI_Datatype type = new_type();
    add(type, old, 1, 0, old->extent);
    type->lower = old->lower;
    type->extent = old->extent;
    vmpi_recipe_set(type, MPI_COMBINER_DUP, 0, NULL, 0, NULL, 1, &old);
    *out = MPI_DATATYPE_NULL; /* if a copy function fails */
    vmpi_attributes_copy(old, type);
    *out = type;
    return MPI_SUCCESS;
}

static MPI_Datatype strided(int count, int length, ptrdiff_t stride, MPI_Datatype old)
{
    check_old(old, count < length ? count : length);
    MPI_Datatype type = new_type(), block = new_type();
    add(block, old, (size_t)length, 0, old->extent);
    if (length > 0)
        add(type, length == 1 ? old : block, (size_t)count, 0, stride);
    vmpi_type_drop(block);
    return type;
}

int MPI_Type_vector(int count, int length, int stride, MPI_Datatype old, MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_vector");
    check_old(old, 0);
    MPI_Datatype type = strided(count, length, stride * old->extent, old);
    vmpi_recipe_set(type, MPI_COMBINER_VECTOR, 3, (int[]){count, length, stride}, 0, NULL, 1, &old);
    return finish(type, out);
}

int MPI_Type_create_hvector(int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_create_hvector");
    MPI_Datatype type = strided(count, length, stride, old);
    vmpi_recipe_set(type, MPI_COMBINER_HVECTOR, 2, (int[]){count, length}, 1, &stride, 1, &old);
    return finish(type, out);
}

/* Blocks of one old type. Lengths are listed, or one length is for all; displacements are in bytes or in old extents. */
static int indexed(int combiner, int count, const int *lengths, int length, const int *places, const MPI_Aint *offsets,
                   MPI_Datatype old, MPI_Datatype *out)
{
    check_old(old, count);
    MPI_Datatype type = new_type();
    size_t n = (size_t)count, numbers = 1;
    int *number = vmpi_alloc(2 * n + 2, sizeof *number);
    number[0] = count;
    if (lengths)
        memcpy(number + 1, lengths, n * sizeof *number);
    else
        number[1] = length;
    numbers += lengths ? n : 1;
    if (places)
        memcpy(number + numbers, places, n * sizeof *number);
    numbers += places ? n : 0;
    for (int i = 0; i < count; i++) {
        check_old(old, lengths ? lengths[i] : length);
        // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): offsets or places are given
        add(type, old, (size_t)(lengths ? lengths[i] : length), offsets ? offsets[i] : places[i] * old->extent, old->extent);
    }
    vmpi_recipe_set(type, combiner, (int)numbers, number, offsets ? count : 0, offsets, 1, &old);
    free(number);
    return finish(type, out);
}

int MPI_Type_indexed(int count, const int lengths[], const int places[], MPI_Datatype old, MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_indexed");
    return indexed(MPI_COMBINER_INDEXED, count, lengths, 0, places, NULL, old, out);
}

int MPI_Type_create_hindexed(int count, const int lengths[], const MPI_Aint offsets[], MPI_Datatype old,
                             MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_create_hindexed");
    return indexed(MPI_COMBINER_HINDEXED, count, lengths, 0, NULL, offsets, old, out);
}

int MPI_Type_create_indexed_block(int count, int length, const int places[], MPI_Datatype old, MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_create_indexed_block");
    return indexed(MPI_COMBINER_INDEXED_BLOCK, count, NULL, length, places, NULL, old, out);
}

int MPI_Type_create_hindexed_block(int count, int length, const MPI_Aint offsets[], MPI_Datatype old, MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_create_hindexed_block");
    return indexed(MPI_COMBINER_HINDEXED_BLOCK, count, NULL, length, NULL, offsets, old, out);
}

int MPI_Type_create_struct(int count, const int lengths[], const MPI_Aint offsets[], const MPI_Datatype types[],
                           MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_create_struct");
    MPI_Datatype type = new_type();
    int *number = vmpi_alloc((size_t)count + 1, sizeof *number);
    number[0] = count;
    for (int i = 0; i < count; i++) {
        check_old(types[i], lengths[i]);
        number[i + 1] = lengths[i];
        add(type, types[i], (size_t)lengths[i], offsets[i], types[i]->extent);
    }
    vmpi_recipe_set(type, MPI_COMBINER_STRUCT, count + 1, number, count, offsets, count, types);
    free(number);
    return finish(type, out);
}

int MPI_Type_create_resized(MPI_Datatype old, MPI_Aint lower, MPI_Aint extent, MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_create_resized");
    check_old(old, 1);
    MPI_Datatype type = new_type();
    add(type, old, 1, 0, old->extent);
    type->lower = lower;
    type->extent = extent;
    type->marked = 3;
    vmpi_recipe_set(type, MPI_COMBINER_RESIZED, 0, NULL, 2, (MPI_Aint[]){lower, extent}, 1, &old);
    *out = type;
    return MPI_SUCCESS;
}

/* ---- parts of arrays: elements are repeated at the array's stride, dimension by dimension, starting with the contiguous
 * one. The extent is the extent of the whole array. ---- */

/* The next wider type: `count` copies of *type from the element `first`; replaces *type. */
static void take(MPI_Datatype wider, MPI_Datatype type, int first, int count, ptrdiff_t stride)
{
    add(wider, type, (size_t)count, first * stride, stride);
}

static int whole_array(MPI_Datatype type, ptrdiff_t bytes, MPI_Datatype *out)
{
    type->lower = 0;
    type->extent = bytes;
    type->marked = 3;
    *out = type;
    return MPI_SUCCESS;
}

int MPI_Type_create_subarray(int dimensions, const int sizes[], const int parts[], const int starts[], int order,
                             MPI_Datatype old, MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_create_subarray");
    check_old(old, dimensions);
    MPI_Datatype type = new_type();
    add(type, old, 1, 0, old->extent);
    ptrdiff_t stride = old->extent;
    int *number = vmpi_alloc((size_t)3 * dimensions + 2, sizeof *number);
    number[0] = dimensions;
    number[3 * dimensions + 1] = order;
    for (int i = 0; i < dimensions; i++) {
        int d = order == MPI_ORDER_C ? dimensions - 1 - i : i;
        if (parts[d] < 1 || starts[d] < 0 || starts[d] + parts[d] > sizes[d])
            vmpi_error(MPI_ERR_ARG, "elements %d to %d exceed %d elements in dimension %d", starts[d],
                       starts[d] + parts[d] - 1, sizes[d], d);
        MPI_Datatype wider = new_type();
        take(wider, type, starts[d], parts[d], stride);
        vmpi_type_drop(type);
        type = wider;
        stride *= sizes[d];
        number[1 + d] = sizes[d];
        number[1 + dimensions + d] = parts[d];
        number[1 + 2 * dimensions + d] = starts[d];
    }
    vmpi_recipe_set(type, MPI_COMBINER_SUBARRAY, 3 * dimensions + 2, number, 0, NULL, 1, &old);
    free(number);
    return whole_array(type, stride, out);
}

/* The part of a process in a grid of processes: blocks of a dimension go round its processes. */
int MPI_Type_create_darray(int size, int rank, int dimensions, const int sizes[], const int kinds[],
                           const int blocks[], const int grid[], int order, MPI_Datatype old, MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_create_darray");
    check_old(old, dimensions);
    MPI_Datatype type = new_type();
    add(type, old, 1, 0, old->extent);
    ptrdiff_t stride = old->extent;
    int *number = vmpi_alloc((size_t)4 * dimensions + 4, sizeof *number), *place = vmpi_alloc((size_t)dimensions + 1, sizeof *place);
    number[0] = size, number[1] = rank, number[2] = dimensions, number[4 * dimensions + 3] = order;
    for (int d = dimensions - 1, rest = rank; d >= 0; rest /= grid[d--])
        place[d] = rest % grid[d];
    for (int i = 0; i < dimensions; i++) {
        int d = order == MPI_ORDER_C ? dimensions - 1 - i : i, n = sizes[d], block = blocks[d];
        int processes = kinds[d] == MPI_DISTRIBUTE_NONE ? 1 : grid[d];
        if (kinds[d] == MPI_DISTRIBUTE_NONE)
            block = n;
        else if (block == MPI_DISTRIBUTE_DFLT_DARG)
            block = kinds[d] == MPI_DISTRIBUTE_BLOCK ? (n + processes - 1) / processes : 1;
        if (block < 1 || processes < 1 || (kinds[d] == MPI_DISTRIBUTE_BLOCK && (double)block * processes < n))
            vmpi_error(MPI_ERR_ARG, "blocks of %d on %d processes do not hold %d elements", block, processes, n);
        MPI_Datatype wider = new_type();
        for (int first = place[d] * (processes > 1 ? block : 0); first < n; first += block * processes)
            take(wider, type, first, first + block < n ? block : n - first, stride);
        vmpi_type_drop(type);
        type = wider;
        stride *= n;
        number[3 + d] = n, number[3 + dimensions + d] = kinds[d];
        number[3 + 2 * dimensions + d] = blocks[d], number[3 + 3 * dimensions + d] = grid[d];
    }
    vmpi_recipe_set(type, MPI_COMBINER_DARRAY, 4 * dimensions + 4, number, 0, NULL, 1, &old);
    free(number);
    free(place);
    return whole_array(type, stride, out);
}

/* MPI-1 names that mpi.h only declares as removed; older libraries still refer to them. */
#undef MPI_Type_struct
#undef MPI_Type_hvector
#undef MPI_Type_hindexed
#undef MPI_Type_extent
#undef MPI_Type_lb
#undef MPI_Type_ub
#undef MPI_Address
int MPI_Type_struct(int count, int lengths[], MPI_Aint offsets[], MPI_Datatype types[], MPI_Datatype *out);
int MPI_Type_struct(int count, int lengths[], MPI_Aint offsets[], MPI_Datatype types[], MPI_Datatype *out)
{
    return MPI_Type_create_struct(count, lengths, offsets, types, out);
}

int MPI_Type_hvector(int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype *out);
int MPI_Type_hvector(int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype *out)
{
    return MPI_Type_create_hvector(count, length, stride, old, out);
}

int MPI_Type_hindexed(int count, int lengths[], MPI_Aint offsets[], MPI_Datatype old, MPI_Datatype *out);
int MPI_Type_hindexed(int count, int lengths[], MPI_Aint offsets[], MPI_Datatype old, MPI_Datatype *out)
{
    return MPI_Type_create_hindexed(count, lengths, offsets, old, out);
}

int MPI_Type_extent(MPI_Datatype type, MPI_Aint *extent);
int MPI_Type_extent(MPI_Datatype type, MPI_Aint *extent)
{
    MPI_Aint lower;
    return MPI_Type_get_extent(type, &lower, extent);
}

int MPI_Type_lb(MPI_Datatype type, MPI_Aint *lower);
int MPI_Type_lb(MPI_Datatype type, MPI_Aint *lower)
{
    MPI_Aint extent;
    return MPI_Type_get_extent(type, lower, &extent);
}

int MPI_Type_ub(MPI_Datatype type, MPI_Aint *upper);
int MPI_Type_ub(MPI_Datatype type, MPI_Aint *upper)
{
    MPI_Aint lower = 0, extent = 0;
    int status = MPI_Type_get_extent(type, &lower, &extent);
    *upper = lower + extent;
    return status;
}

int MPI_Address(void *location, MPI_Aint *address);
int MPI_Address(void *location, MPI_Aint *address);
int MPI_Address(void *location, MPI_Aint *address)
{
    *address = (MPI_Aint)location;
    return MPI_SUCCESS;
}

int MPI_Get_address(const void *location, MPI_Aint *address)
{
    *address = (MPI_Aint)location;
    return MPI_SUCCESS;
}

#undef MPI_Aint_add
#undef MPI_Aint_diff
MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint distance);
MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint distance)
{
    return base + distance;
}

MPI_Aint MPI_Aint_diff(MPI_Aint one, MPI_Aint other);
MPI_Aint MPI_Aint_diff(MPI_Aint one, MPI_Aint other)
{
    return one - other;
}
