/* Data types: the basic ones under Open MPI's symbol names, and the derived ones as lists of byte blocks. */
#include <complex.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "runtime.h"

/* Open MPI's handles are the addresses of these objects; their content is vmpi's own. */
struct ompi_predefined_datatype_t {
    struct ompi_datatype_t type;
    vmpi_block_of_type part[2];
};

#define BASIC(symbol, ctype, code)                                                                                     \
    struct ompi_predefined_datatype_t symbol = {                                                                       \
        {sizeof(ctype), sizeof(ctype), 1, symbol.part, code, 1, _Alignof(ctype), 0, 1}, {{0, sizeof(ctype)}}}

/* A value and an index; gaps between or behind them are not part of the data. */
#define PADDED(symbol, ctype, value_type, code)                                                                        \
    struct ompi_predefined_datatype_t symbol = {{sizeof(value_type) + sizeof(int), sizeof(ctype), 2, symbol.part,      \
                                                 code, 1, _Alignof(ctype), 0, 1},                                      \
                                                {{0, sizeof(value_type)}, {offsetof(ctype, place), sizeof(int)}}}

BASIC(ompi_mpi_byte, unsigned char, 'B');
BASIC(ompi_mpi_packed, unsigned char, 'B');
BASIC(ompi_mpi_char, char, 'c');
BASIC(ompi_mpi_signed_char, signed char, 'c');
BASIC(ompi_mpi_int8_t, signed char, 'c');
BASIC(ompi_mpi_uint8_t, unsigned char, 'B');
BASIC(ompi_mpi_unsigned_char, unsigned char, 'B');
BASIC(ompi_mpi_short, short, 's');
BASIC(ompi_mpi_unsigned_short, unsigned short, 'S');
BASIC(ompi_mpi_int16_t, int16_t, 's');
BASIC(ompi_mpi_uint16_t, uint16_t, 'S');
BASIC(ompi_mpi_int, int, 'i');
BASIC(ompi_mpi_unsigned, unsigned, 'u');
BASIC(ompi_mpi_int32_t, int32_t, 'i');
BASIC(ompi_mpi_uint32_t, uint32_t, 'u');
BASIC(ompi_mpi_long, long, 'l');
BASIC(ompi_mpi_unsigned_long, unsigned long, 'L');
BASIC(ompi_mpi_long_long_int, long long, 'l');
BASIC(ompi_mpi_unsigned_long_long, unsigned long long, 'L');
BASIC(ompi_mpi_int64_t, int64_t, 'l');
BASIC(ompi_mpi_uint64_t, uint64_t, 'L');
BASIC(ompi_mpi_aint, MPI_Aint, 'l');
BASIC(ompi_mpi_offset, MPI_Offset, 'l');
BASIC(ompi_mpi_count, MPI_Count, 'l');
BASIC(ompi_mpi_wchar, wchar_t, 'i');
BASIC(ompi_mpi_cxx_bool, unsigned char, 'B');
BASIC(ompi_mpi_c_bool, unsigned char, 'B');
BASIC(ompi_mpi_float, float, 'f');
BASIC(ompi_mpi_double, double, 'd');
BASIC(ompi_mpi_long_double, long double, 'e');
BASIC(ompi_mpi_c_float_complex, float complex, 'C');
BASIC(ompi_mpi_c_double_complex, double complex, 'Z');
BASIC(ompi_mpi_cxx_cplex, float complex, 'C');
BASIC(ompi_mpi_cxx_dblcplex, double complex, 'Z');
BASIC(ompi_mpi_2int, vmpi_two_ints, '2');
PADDED(ompi_mpi_short_int, vmpi_short_int, short, 'H');
PADDED(ompi_mpi_long_int, vmpi_long_int, long, 'N');
BASIC(ompi_mpi_float_int, vmpi_float_int, 'F');
PADDED(ompi_mpi_double_int, vmpi_double_int, double, 'D');
PADDED(ompi_mpi_longdbl_int, vmpi_long_double_int, long double, 'E');
BASIC(ompi_mpi_character, char, 'c');
BASIC(ompi_mpi_logical, int, 'i');
BASIC(ompi_mpi_logical1, signed char, 'c');
BASIC(ompi_mpi_logical2, int16_t, 's');
BASIC(ompi_mpi_logical4, int32_t, 'i');
BASIC(ompi_mpi_logical8, int64_t, 'l');
BASIC(ompi_mpi_integer, int, 'i');
BASIC(ompi_mpi_integer1, signed char, 'c');
BASIC(ompi_mpi_integer2, int16_t, 's');
BASIC(ompi_mpi_integer4, int32_t, 'i');
BASIC(ompi_mpi_integer8, int64_t, 'l');
BASIC(ompi_mpi_real, float, 'f');
BASIC(ompi_mpi_real4, float, 'f');
BASIC(ompi_mpi_real8, double, 'd');
BASIC(ompi_mpi_dblprec, double, 'd');
BASIC(ompi_mpi_cplex, float complex, 'C');
BASIC(ompi_mpi_dblcplex, double complex, 'Z');
BASIC(ompi_mpi_complex8, float complex, 'C');
BASIC(ompi_mpi_complex16, double complex, 'Z');
BASIC(ompi_mpi_2integer, vmpi_two_ints, '2');
BASIC(ompi_mpi_2real, vmpi_two_floats, 'R');
BASIC(ompi_mpi_2dblprec, vmpi_two_doubles, 'P');
struct ompi_predefined_datatype_t ompi_mpi_datatype_null;

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

int MPI_Type_size_x(MPI_Datatype type, MPI_Count *size)
{
    VMPI_ENTER("MPI_Type_size_x");
    *size = (MPI_Count)type->size;
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
    *lower = type->lower;
    *extent = type->extent;
    return MPI_SUCCESS;
}

/* Bounds of the bytes alone, without MPI_Type_create_resized. */
int MPI_Type_get_true_extent(MPI_Datatype type, MPI_Aint *lower, MPI_Aint *extent)
{
    VMPI_ENTER("MPI_Type_get_true_extent");
    ptrdiff_t low = 0, high = 0;
    for (int b = 0; b < type->blocks; b++) {
        ptrdiff_t end = type->block[b].offset + (ptrdiff_t)type->block[b].bytes;
        low = b == 0 || type->block[b].offset < low ? type->block[b].offset : low;
        high = b == 0 || end > high ? end : high;
    }
    *lower = low;
    *extent = high - low;
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
        vmpi_fail("%zu bytes at position %d do not fit into %d bytes", bytes, *position, room);
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
        vmpi_fail("%zu bytes at position %d exceed the buffer of %d bytes", bytes, *position, room);
    vmpi_unpack((const char *)packed + *position, bytes, buffer, type);
    *position += (int)bytes;
    return MPI_SUCCESS;
}
