/* Derived data types. Every constructor places copies of older types one after another, as byte blocks.
 *
 * The extent runs from the lowest to the highest bound of the content, rounded up to the alignment of its basic types
 * as in a C structure. MPI_Type_create_resized sets both bounds. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

static MPI_Datatype new_type(size_t blocks)
{
    MPI_Datatype type = vmpi_alloc(1, sizeof *type);
    type->block = vmpi_alloc(blocks, sizeof *type->block);
    type->alignment = 1;
    return type;
}

/* Adds `count` copies of `old` at `offset`, `stride` bytes apart; joins adjacent blocks. */
static void add(MPI_Datatype type, MPI_Datatype old, int count, ptrdiff_t offset, ptrdiff_t stride)
{
    for (int i = 0; i < count; i++) {
        ptrdiff_t low = offset + i * stride + old->lower, high = low + old->extent;
        ptrdiff_t top = type->lower + type->extent;
        int first = !type->bounded;
        type->bounded = 1;
        type->lower = first || low < type->lower ? low : type->lower;
        type->extent = (first || high > top ? high : top) - type->lower;
        for (int b = 0; b < old->blocks; b++) {
            ptrdiff_t at = offset + i * stride + old->block[b].offset;
            assert(type->block); /* new_type() made room for all blocks */
            vmpi_block_of_type *last = type->blocks ? &type->block[type->blocks - 1] : NULL;
            if (last && last->offset + (ptrdiff_t)last->bytes == at)
                last->bytes += old->block[b].bytes;
            else
                type->block[type->blocks++] = (vmpi_block_of_type){at, old->block[b].bytes};
            type->size += old->block[b].bytes;
        }
    }
    if (count > 0 && old->alignment > type->alignment)
        type->alignment = old->alignment;
}

static int finish(MPI_Datatype type, MPI_Datatype *out)
{
    ptrdiff_t over = type->extent % type->alignment;
    type->extent += over ? type->alignment - over : 0;
    *out = type;
    return MPI_SUCCESS;
}

int MPI_Type_contiguous(int count, MPI_Datatype old, MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_contiguous");
    MPI_Datatype type = new_type((size_t)count * (size_t)old->blocks);
    add(type, old, count, 0, old->extent);
    return finish(type, out);
}

int MPI_Type_dup(MPI_Datatype old, MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_dup");
    MPI_Datatype type = new_type((size_t)old->blocks);
    add(type, old, 1, 0, old->extent);
    *out = type;
    return MPI_SUCCESS;
}

static int strided(int count, int length, ptrdiff_t stride, MPI_Datatype old, MPI_Datatype *out)
{
    MPI_Datatype type = new_type((size_t)count * (size_t)length * (size_t)old->blocks);
    for (int i = 0; i < count; i++)
        add(type, old, length, i * stride, old->extent);
    return finish(type, out);
}

int MPI_Type_vector(int count, int length, int stride, MPI_Datatype old, MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_vector");
    return strided(count, length, stride * old->extent, old, out);
}

int MPI_Type_create_hvector(int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_create_hvector");
    return strided(count, length, stride, old, out);
}

/* Blocks of one old type. Lengths are listed, or one length is for all; displacements are in bytes or in old extents. */
static int indexed(int count, const int *lengths, int length, const int *places, const MPI_Aint *offsets,
                   MPI_Datatype old, MPI_Datatype *out)
{
    assert(offsets || places || count == 0);
    size_t blocks = 0;
    for (int i = 0; i < count; i++)
        blocks += (size_t)(lengths ? lengths[i] : length) * (size_t)old->blocks;
    MPI_Datatype type = new_type(blocks);
    for (int i = 0; i < count; i++)
        add(type, old, lengths ? lengths[i] : length, offsets ? offsets[i] : places[i] * old->extent, old->extent);
    return finish(type, out);
}

int MPI_Type_indexed(int count, const int lengths[], const int places[], MPI_Datatype old, MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_indexed");
    return indexed(count, lengths, 0, places, NULL, old, out);
}

int MPI_Type_create_hindexed(int count, const int lengths[], const MPI_Aint offsets[], MPI_Datatype old,
                             MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_create_hindexed");
    return indexed(count, lengths, 0, NULL, offsets, old, out);
}

int MPI_Type_create_indexed_block(int count, int length, const int places[], MPI_Datatype old, MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_create_indexed_block");
    return indexed(count, NULL, length, places, NULL, old, out);
}

int MPI_Type_create_hindexed_block(int count, int length, const MPI_Aint offsets[], MPI_Datatype old, MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_create_hindexed_block");
    return indexed(count, NULL, length, NULL, offsets, old, out);
}

static int structured(int count, const int lengths[], const MPI_Aint offsets[], const MPI_Datatype types[],
                      MPI_Datatype *out)
{
    size_t blocks = 0;
    for (int i = 0; i < count; i++)
        blocks += (size_t)lengths[i] * (size_t)types[i]->blocks;
    MPI_Datatype type = new_type(blocks);
    for (int i = 0; i < count; i++)
        add(type, types[i], lengths[i], offsets[i], types[i]->extent);
    return finish(type, out);
}

int MPI_Type_create_struct(int count, const int lengths[], const MPI_Aint offsets[], const MPI_Datatype types[],
                           MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_create_struct");
    return structured(count, lengths, offsets, types, out);
}

int MPI_Type_create_resized(MPI_Datatype old, MPI_Aint lower, MPI_Aint extent, MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_create_resized");
    MPI_Datatype type = new_type((size_t)old->blocks);
    add(type, old, 1, 0, old->extent);
    type->lower = lower;
    type->extent = extent;
    *out = type;
    return MPI_SUCCESS;
}

/* A part of an array. Its elements are repeated at the array's stride, dimension by dimension, starting with the
 * contiguous one. The extent is the extent of the array. */
int MPI_Type_create_subarray(int dimensions, const int sizes[], const int parts[], const int starts[], int order,
                             MPI_Datatype old, MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_create_subarray");
    MPI_Datatype type = new_type((size_t)old->blocks);
    add(type, old, 1, 0, old->extent);
    ptrdiff_t stride = old->extent, start = 0;
    for (int i = 0; i < dimensions; i++) {
        int d = order == MPI_ORDER_C ? dimensions - 1 - i : i;
        if (parts[d] < 1 || starts[d] < 0 || starts[d] + parts[d] > sizes[d])
            vmpi_fail("elements %d to %d exceed %d elements in dimension %d", starts[d], starts[d] + parts[d] - 1, sizes[d],
                      d);
        MPI_Datatype wider = new_type((size_t)parts[d] * (size_t)type->blocks);
        add(wider, type, parts[d], 0, stride);
        free(type->block);
        free(type);
        type = wider;
        start += starts[d] * stride;
        stride *= sizes[d];
    }
    for (int b = 0; b < type->blocks; b++)
        type->block[b].offset += start;
    type->lower = 0;
    type->extent = stride;
    *out = type;
    return MPI_SUCCESS;
}

/* MPI-1 names that mpi.h only declares as removed; older libraries still refer to them. */
#undef MPI_Type_struct
#undef MPI_Type_hvector
#undef MPI_Type_hindexed
#undef MPI_Type_extent
#undef MPI_Address
int MPI_Type_struct(int count, int lengths[], MPI_Aint offsets[], MPI_Datatype types[], MPI_Datatype *out);
int MPI_Type_struct(int count, int lengths[], MPI_Aint offsets[], MPI_Datatype types[], MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_struct");
    return structured(count, lengths, offsets, types, out);
}

int MPI_Type_hvector(int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype *out);
int MPI_Type_hvector(int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_hvector");
    return strided(count, length, stride, old, out);
}

int MPI_Type_hindexed(int count, int lengths[], MPI_Aint offsets[], MPI_Datatype old, MPI_Datatype *out);
int MPI_Type_hindexed(int count, int lengths[], MPI_Aint offsets[], MPI_Datatype old, MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_hindexed");
    return indexed(count, lengths, 0, NULL, offsets, old, out);
}

int MPI_Type_extent(MPI_Datatype type, MPI_Aint *extent);
int MPI_Type_extent(MPI_Datatype type, MPI_Aint *extent)
{
    VMPI_ENTER("MPI_Type_extent");
    *extent = type->extent;
    return MPI_SUCCESS;
}

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
