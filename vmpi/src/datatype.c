/* Data types: the basic ones under Open MPI's symbol names, packing, and sizes and extents of types. */
#include <complex.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "runtime.h"

/* Open MPI's handles are the addresses of these objects; their content is vmpi's own. */
struct ompi_predefined_datatype_t {
    struct ompi_datatype_t type;
    vmpi_piece part[2];
};

#define BASIC(symbol, mpi_name, ctype, code)                                                                           \
    struct ompi_predefined_datatype_t ompi_mpi_##symbol = {                                                            \
        {.size = sizeof(ctype), .extent = sizeof(ctype), .true_extent = sizeof(ctype), .pieces = 1, .elements = 1,     \
         .piece = ompi_mpi_##symbol.part, .element = code, .basic = 1, .alignment = _Alignof(ctype), .bounded = 1,     \
         .only = &ompi_mpi_##symbol.type, .name = "MPI_" #mpi_name},                                                   \
        {{.count = 1, .bytes = sizeof(ctype)}}}

/* A value and an index; gaps between or behind them are not part of the data. */
#define PADDED(symbol, mpi_name, ctype, value_type, code)                                                              \
    struct ompi_predefined_datatype_t ompi_mpi_##symbol = {                                                            \
        {.size = sizeof(value_type) + sizeof(int), .extent = sizeof(ctype), .pieces = 2, .elements = 1,                \
         .true_extent = offsetof(ctype, place) + sizeof(int), .piece = ompi_mpi_##symbol.part, .element = code,        \
         .basic = 1, .alignment = _Alignof(ctype), .bounded = 1, .only = &ompi_mpi_##symbol.type,                      \
         .name = "MPI_" #mpi_name},                                                                                    \
        {{.count = 1, .bytes = sizeof(value_type)},                                                                    \
         {.offset = offsetof(ctype, place), .count = 1, .bytes = sizeof(int)}}}

typedef struct {
    float complex one, two;
} two_complexes;
typedef struct {
    double complex one, two;
} two_double_complexes;

BASIC(byte, BYTE, unsigned char, 'B');
BASIC(packed, PACKED, unsigned char, 'B');
BASIC(char, CHAR, char, 'c');
BASIC(signed_char, SIGNED_CHAR, signed char, 'c');
BASIC(int8_t, INT8_T, signed char, 'c');
BASIC(uint8_t, UINT8_T, unsigned char, 'B');
BASIC(unsigned_char, UNSIGNED_CHAR, unsigned char, 'B');
BASIC(short, SHORT, short, 's');
BASIC(unsigned_short, UNSIGNED_SHORT, unsigned short, 'S');
BASIC(int16_t, INT16_T, int16_t, 's');
BASIC(uint16_t, UINT16_T, uint16_t, 'S');
BASIC(int, INT, int, 'i');
BASIC(unsigned, UNSIGNED, unsigned, 'u');
BASIC(int32_t, INT32_T, int32_t, 'i');
BASIC(uint32_t, UINT32_T, uint32_t, 'u');
BASIC(long, LONG, long, 'l');
BASIC(unsigned_long, UNSIGNED_LONG, unsigned long, 'L');
BASIC(long_long_int, LONG_LONG_INT, long long, 'l');
BASIC(unsigned_long_long, UNSIGNED_LONG_LONG, unsigned long long, 'L');
BASIC(int64_t, INT64_T, int64_t, 'l');
BASIC(uint64_t, UINT64_T, uint64_t, 'L');
BASIC(aint, AINT, MPI_Aint, 'l');
BASIC(offset, OFFSET, MPI_Offset, 'l');
BASIC(count, COUNT, MPI_Count, 'l');
BASIC(wchar, WCHAR, wchar_t, 'i');
BASIC(cxx_bool, CXX_BOOL, unsigned char, 'B');
BASIC(c_bool, C_BOOL, unsigned char, 'B');
BASIC(float, FLOAT, float, 'f');
BASIC(double, DOUBLE, double, 'd');
BASIC(long_double, LONG_DOUBLE, long double, 'e');
BASIC(c_float_complex, C_COMPLEX, float complex, 'C');
BASIC(c_double_complex, C_DOUBLE_COMPLEX, double complex, 'Z');
BASIC(cxx_cplex, CXX_FLOAT_COMPLEX, float complex, 'C');
BASIC(cxx_dblcplex, CXX_DOUBLE_COMPLEX, double complex, 'Z');
BASIC(2int, 2INT, vmpi_two_ints, '2');
PADDED(short_int, SHORT_INT, vmpi_short_int, short, 'H');
PADDED(long_int, LONG_INT, vmpi_long_int, long, 'N');
BASIC(float_int, FLOAT_INT, vmpi_float_int, 'F');
PADDED(double_int, DOUBLE_INT, vmpi_double_int, double, 'D');
PADDED(longdbl_int, LONG_DOUBLE_INT, vmpi_long_double_int, long double, 'E');
BASIC(character, CHARACTER, char, 'c');
BASIC(logical, LOGICAL, int, 'i');
BASIC(logical1, LOGICAL1, signed char, 'c');
BASIC(logical2, LOGICAL2, int16_t, 's');
BASIC(logical4, LOGICAL4, int32_t, 'i');
BASIC(logical8, LOGICAL8, int64_t, 'l');
BASIC(integer, INTEGER, int, 'i');
BASIC(integer1, INTEGER1, signed char, 'c');
BASIC(integer2, INTEGER2, int16_t, 's');
BASIC(integer4, INTEGER4, int32_t, 'i');
BASIC(integer8, INTEGER8, int64_t, 'l');
BASIC(real, REAL, float, 'f');
BASIC(real4, REAL4, float, 'f');
BASIC(real8, REAL8, double, 'd');
BASIC(dblprec, DOUBLE_PRECISION, double, 'd');
BASIC(cplex, COMPLEX, float complex, 'C');
BASIC(dblcplex, DOUBLE_COMPLEX, double complex, 'Z');
BASIC(complex8, COMPLEX8, float complex, 'C');
BASIC(complex16, COMPLEX16, double complex, 'Z');
BASIC(2integer, 2INTEGER, vmpi_two_ints, '2');
BASIC(2real, 2REAL, vmpi_two_floats, 'R');
BASIC(2dblprec, 2DOUBLE_PRECISION, vmpi_two_doubles, 'P');
BASIC(c_long_double_complex, C_LONG_DOUBLE_COMPLEX, long double complex, 'Y');
BASIC(cxx_ldblcplex, CXX_LONG_DOUBLE_COMPLEX, long double complex, 'Y');
BASIC(2cplex, 2COMPLEX, two_complexes, 0);
BASIC(2dblcplex, 2DOUBLE_COMPLEX, two_double_complexes, 0);
BASIC(integer16, INTEGER16, __int128, 'I');
BASIC(real16, REAL16, _Float128, 'Q');
BASIC(complex32, COMPLEX32, _Complex _Float128, 0);
struct ompi_predefined_datatype_t ompi_mpi_datatype_null = {{.basic = 1, .name = "MPI_DATATYPE_NULL"}, {{0}}};
/* Markers of MPI-1: they move a bound of a structure (derived.c). */
struct ompi_predefined_datatype_t ompi_mpi_lb = {{.basic = 1, .bounded = 1, .name = "MPI_LB"}, {{0}}};
struct ompi_predefined_datatype_t ompi_mpi_ub = {{.basic = 1, .bounded = 1, .name = "MPI_UB"}, {{0}}};

size_t vmpi_packed_bytes(MPI_Datatype type, int count)
{
    return type->size * (size_t)count;
}

int vmpi_is_contiguous(MPI_Datatype type)
{
    return type->pieces == 1 && !type->piece->of && type->piece->count == 1 && type->piece->offset == 0 &&
           (ptrdiff_t)type->piece->bytes == type->extent;
}

/* ---- packing ---- */

typedef struct {
    char *packed;
    size_t left;
    int unpack;
} walk;

static void copy(walk *w, char *at, size_t bytes)
{
    size_t part = bytes < w->left ? bytes : w->left;
    if (w->unpack)
        memcpy(at, w->packed, part);
    else
        memcpy(w->packed, at, part);
    w->packed += part;
    w->left -= part;
}

/* Blocks of one size. Sizes of numbers are constants here, so that a copy is one instruction and no call. */
#define COPY_BLOCKS(BYTES)                                                                                             \
    for (size_t i = 0; i < count; i++, at += stride, packed += BYTES) {                                                \
        if (w->unpack)                                                                                                 \
            memcpy(at, packed, BYTES);                                                                                 \
        else                                                                                                           \
            memcpy(packed, at, BYTES);                                                                                 \
    }

static void copy_blocks(walk *w, char *at, ptrdiff_t stride, size_t count, size_t bytes)
{
    char *packed = w->packed;
    switch (bytes) {
    case 4: COPY_BLOCKS(4) break;
    case 8: COPY_BLOCKS(8) break;
    case 16: COPY_BLOCKS(16) break;
    default: COPY_BLOCKS(bytes) break;
    }
    w->packed = packed;
    w->left -= count * bytes;
}

static void walk_type(walk *w, char *at, MPI_Datatype type)
{
    for (const vmpi_piece *p = type->piece, *end = p + type->pieces; p < end && w->left > 0; p++) {
        char *there = at + p->offset;
        if (!p->of && p->count * p->bytes <= w->left) {
            copy_blocks(w, there, p->stride, p->count, p->bytes);
            continue;
        }
        for (size_t i = 0; i < p->count && w->left > 0; i++, there += p->stride)
            if (p->of)
                walk_type(w, there, p->of);
            else
                copy(w, there, p->bytes);
    }
}

static void walk_all(walk w, char *at, MPI_Datatype type)
{
    if (w.left == 0)
        return;
    if (vmpi_is_contiguous(type)) {
        copy(&w, at, w.left);
        return;
    }
    for (; w.left > 0; at += type->extent)
        walk_type(&w, at, type);
}

void vmpi_pack(const void *buffer, int count, MPI_Datatype type, void *packed)
{
    walk_all((walk){packed, vmpi_packed_bytes(type, count), 0}, (char *)buffer, type);
}

void vmpi_unpack(const void *packed, size_t bytes, void *buffer, MPI_Datatype type)
{
    walk_all((walk){(char *)packed, bytes, 1}, buffer, type);
}

int MPI_Type_size(MPI_Datatype type, int *size)
{
    VMPI_ENTER("MPI_Type_size");
    *size = type->size > INT32_MAX ? MPI_UNDEFINED : (int)type->size;
    return MPI_SUCCESS;
}

int MPI_Type_size_x(MPI_Datatype type, MPI_Count *size)
{
    VMPI_ENTER("MPI_Type_size_x");
    *size = (MPI_Count)type->size;
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
    *lower = type->true_lower;
    *extent = type->true_extent;
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

/* MPI's names for numbers of more than 32 bits; all of them are here anyway. */
int MPI_Type_get_extent_x(MPI_Datatype type, MPI_Count *lower, MPI_Count *extent)
{
    *lower = type->lower;
    *extent = type->extent;
    return MPI_SUCCESS;
}

int MPI_Type_get_true_extent_x(MPI_Datatype type, MPI_Count *lower, MPI_Count *extent)
{
    *lower = type->true_lower;
    *extent = type->true_extent;
    return MPI_SUCCESS;
}

int MPI_Type_match_size(int class, int bytes, MPI_Datatype *type)
{
    VMPI_ENTER("MPI_Type_match_size");
    const MPI_Datatype known[3][4] = {{MPI_REAL4, MPI_REAL8, MPI_REAL16, NULL},
                                      {MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8},
                                      {MPI_COMPLEX8, MPI_COMPLEX16, MPI_COMPLEX32, NULL}};
    const int row = class == MPI_TYPECLASS_REAL ? 0 : class == MPI_TYPECLASS_INTEGER ? 1 : 2;
    for (int i = 0; i < 4; i++)
        if (known[row][i] && known[row][i]->size == (size_t)bytes) {
            *type = known[row][i];
            return MPI_SUCCESS;
        }
    vmpi_fail("no type of this class has %d bytes", bytes);
}
