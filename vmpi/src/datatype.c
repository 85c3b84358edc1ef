/* Data types: the basic ones under Open MPI's symbol names, and the derived ones as lists of byte blocks. */
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

/* Open MPI's handles are the addresses of these objects; their inside is ours. */
struct ompi_predefined_datatype_t {
    struct ompi_datatype_t type;
    vmpi_block_of_type whole;
};

#define BASIC(symbol, ctype, code)                                                                                     \
    struct ompi_predefined_datatype_t symbol = {                                                                       \
        {sizeof(ctype), sizeof(ctype), 1, &symbol.whole, code, 1}, {0, sizeof(ctype)}}

BASIC(ompi_mpi_byte, unsigned char, 'B');
BASIC(ompi_mpi_char, char, 'c');
BASIC(ompi_mpi_int, int, 'i');
BASIC(ompi_mpi_unsigned, unsigned, 'u');
BASIC(ompi_mpi_long, long, 'l');
BASIC(ompi_mpi_unsigned_long, unsigned long, 'L');
BASIC(ompi_mpi_long_long_int, long long, 'l');
BASIC(ompi_mpi_int32_t, int32_t, 'i');
BASIC(ompi_mpi_int64_t, int64_t, 'l');
BASIC(ompi_mpi_uint64_t, uint64_t, 'L');
BASIC(ompi_mpi_uint8_t, uint8_t, 'B');
BASIC(ompi_mpi_uint32_t, uint32_t, 'u');
BASIC(ompi_mpi_unsigned_char, unsigned char, 'B');
BASIC(ompi_mpi_unsigned_long_long, unsigned long long, 'L');
BASIC(ompi_mpi_cxx_bool, unsigned char, 'B');
BASIC(ompi_mpi_c_bool, unsigned char, 'B');
BASIC(ompi_mpi_2int, vmpi_two_ints, '2');
BASIC(ompi_mpi_double_int, vmpi_double_int, 'D');
BASIC(ompi_mpi_float_int, vmpi_float_int, 'F');
BASIC(ompi_mpi_float, float, 'f');
BASIC(ompi_mpi_double, double, 'd');

size_t vmpi_packed_bytes(MPI_Datatype type, int count)
{
    return type->size * (size_t)count;
}

int vmpi_is_contiguous(MPI_Datatype type)
{
    return type->blocks == 1 && type->block[0].offset == 0 && (ptrdiff_t)type->block[0].bytes == type->extent;
}

void vmpi_pack(const void *buffer, int count, MPI_Datatype type, void *packed)
{
    if (vmpi_is_contiguous(type)) {
        if (count > 0 && type->size > 0)
            memcpy(packed, buffer, vmpi_packed_bytes(type, count));
        return;
    }
    char *to = packed;
    for (int i = 0; i < count; i++)
        for (int b = 0; b < type->blocks; b++) {
            memcpy(to, (const char *)buffer + (ptrdiff_t)i * type->extent + type->block[b].offset,
                   type->block[b].bytes);
            to += type->block[b].bytes;
        }
}

void vmpi_unpack(const void *packed, size_t bytes, void *buffer, MPI_Datatype type)
{
    if (vmpi_is_contiguous(type)) {
        if (bytes > 0)
            memcpy(buffer, packed, bytes);
        return;
    }
    const char *from = packed;
    for (ptrdiff_t i = 0; bytes > 0; i++)
        for (int b = 0; b < type->blocks && bytes > 0; b++) {
            size_t part = type->block[b].bytes < bytes ? type->block[b].bytes : bytes;
            memcpy((char *)buffer + i * type->extent + type->block[b].offset, from, part);
            from += part;
            bytes -= part;
        }
}

static MPI_Datatype new_type(int blocks)
{
    MPI_Datatype type = vmpi_alloc(1, sizeof *type);
    type->block = vmpi_alloc((size_t)blocks, sizeof *type->block);
    return type;
}

/* Adds `count` copies of `old`, each `stride` bytes on, at `offset`; joins blocks that touch. */
static void add(MPI_Datatype type, MPI_Datatype old, int count, ptrdiff_t offset, ptrdiff_t stride)
{
    for (int i = 0; i < count; i++)
        for (int b = 0; b < old->blocks; b++) {
            ptrdiff_t at = offset + i * stride + old->block[b].offset;
            vmpi_block_of_type *last = type->blocks ? &type->block[type->blocks - 1] : NULL;
            if (last && last->offset + (ptrdiff_t)last->bytes == at)
                last->bytes += old->block[b].bytes;
            else
                type->block[type->blocks++] = (vmpi_block_of_type){at, old->block[b].bytes};
            type->size += old->block[b].bytes;
        }
}

static void set_extent(MPI_Datatype type)
{
    ptrdiff_t low = 0, high = 0;
    for (int b = 0; b < type->blocks; b++) {
        ptrdiff_t end = type->block[b].offset + (ptrdiff_t)type->block[b].bytes;
        if (b == 0 || type->block[b].offset < low)
            low = type->block[b].offset;
        if (b == 0 || end > high)
            high = end;
    }
    type->extent = high - low;
}

int MPI_Type_contiguous(int count, MPI_Datatype old, MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_contiguous");
    *out = new_type(count * old->blocks);
    add(*out, old, count, 0, old->extent);
    set_extent(*out);
    return MPI_SUCCESS;
}

static int strided(int count, int length, ptrdiff_t stride, MPI_Datatype old, MPI_Datatype *out)
{
    *out = new_type(count * length * old->blocks);
    for (int i = 0; i < count; i++)
        add(*out, old, length, i * stride, old->extent);
    set_extent(*out);
    return MPI_SUCCESS;
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

static int structured(int count, const int lengths[], const MPI_Aint offsets[], const MPI_Datatype types[],
                      MPI_Datatype *out)
{
    int blocks = 0;
    for (int i = 0; i < count; i++)
        blocks += lengths[i] * types[i]->blocks;
    *out = new_type(blocks);
    for (int i = 0; i < count; i++)
        add(*out, types[i], lengths[i], offsets[i], types[i]->extent);
    set_extent(*out);
    return MPI_SUCCESS;
}

int MPI_Type_create_struct(int count, const int lengths[], const MPI_Aint offsets[], const MPI_Datatype types[],
                           MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_create_struct");
    return structured(count, lengths, offsets, types, out);
}

/* MPI-1 names that mpi.h only declares as removed; libraries built before still refer to them. */
#undef MPI_Type_struct
#undef MPI_Address
int MPI_Type_struct(int count, int lengths[], MPI_Aint offsets[], MPI_Datatype types[], MPI_Datatype *out);
int MPI_Type_struct(int count, int lengths[], MPI_Aint offsets[], MPI_Datatype types[], MPI_Datatype *out)
{
    VMPI_ENTER("MPI_Type_struct");
    return structured(count, lengths, offsets, types, out);
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
        vmpi_fail("a basic data type cannot be freed");
    free((*type)->block);
    free(*type);
    *type = NULL;
    return MPI_SUCCESS;
}

int MPI_Type_size(MPI_Datatype type, int *size)
{
    VMPI_ENTER("MPI_Type_size");
    *size = (int)type->size;
    return MPI_SUCCESS;
}

int MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count)
{
    VMPI_ENTER("MPI_Get_count");
    if (type->size == 0)
        *count = 0;
    else if (status->_ucount % type->size)
        *count = MPI_UNDEFINED;
    else
        *count = (int)(status->_ucount / type->size);
    return MPI_SUCCESS;
}

int MPI_Type_get_extent(MPI_Datatype type, MPI_Aint *lower, MPI_Aint *extent)
{
    VMPI_ENTER("MPI_Type_get_extent");
    *lower = 0;
    *extent = type->extent;
    return MPI_SUCCESS;
}

int MPI_Pack_size(int count, MPI_Datatype type, MPI_Comm comm, int *bytes)
{
    (void)comm;
    VMPI_ENTER("MPI_Pack_size");
    *bytes = (int)vmpi_packed_bytes(type, count);
    return MPI_SUCCESS;
}

int MPI_Pack(const void *buffer, int count, MPI_Datatype type, void *packed, int room, int *position, MPI_Comm comm)
{
    (void)comm;
    VMPI_ENTER("MPI_Pack");
    size_t bytes = vmpi_packed_bytes(type, count);
    if (*position < 0 || (size_t)*position + bytes > (size_t)room)
        vmpi_fail("%zu bytes from %d on do not fit into %d", bytes, *position, room);
    vmpi_pack(buffer, count, type, (char *)packed + *position);
    *position += (int)bytes;
    return MPI_SUCCESS;
}

int MPI_Unpack(const void *packed, int room, int *position, void *buffer, int count, MPI_Datatype type, MPI_Comm comm)
{
    (void)comm;
    VMPI_ENTER("MPI_Unpack");
    size_t bytes = vmpi_packed_bytes(type, count);
    if (*position < 0 || (size_t)*position + bytes > (size_t)room)
        vmpi_fail("%zu bytes from %d on are more than there are (%d)", bytes, *position, room);
    vmpi_unpack((const char *)packed + *position, bytes, buffer, type);
    *position += (int)bytes;
    return MPI_SUCCESS;
}
