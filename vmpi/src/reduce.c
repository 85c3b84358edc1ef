/* Reduction operations on basic types, and the user's own. Ranks are combined in rank order, so a sum of doubles is the
 * same in every run. */
#include <complex.h>
#include <stdlib.h>

#include "fortran.h"

struct ompi_op_t {
    char code; /* + * > < & | predefined operations; U for the user's */
    MPI_User_function *function;
    int fortran; /* its function expects the data type as a number */
    int commutes, references;
};

struct ompi_predefined_op_t {
    struct ompi_op_t op;
};

#define OPERATION(symbol, code)                                                                                        \
    struct ompi_predefined_op_t symbol = {{code, NULL, 0, 1, 1}}

OPERATION(ompi_mpi_op_sum, '+');
OPERATION(ompi_mpi_op_prod, '*');
OPERATION(ompi_mpi_op_max, '>');
OPERATION(ompi_mpi_op_min, '<');
OPERATION(ompi_mpi_op_land, '&');
OPERATION(ompi_mpi_op_lor, '|');
OPERATION(ompi_mpi_op_lxor, 'x');
OPERATION(ompi_mpi_op_band, 'A');
OPERATION(ompi_mpi_op_bor, 'O');
OPERATION(ompi_mpi_op_bxor, 'X');
OPERATION(ompi_mpi_op_replace, 'r');
OPERATION(ompi_mpi_op_no_op, 'n');
OPERATION(ompi_mpi_op_null, '0');
OPERATION(ompi_mpi_op_maxloc, 'M');
OPERATION(ompi_mpi_op_minloc, 'm');

/* The loop is inside the choice, so that the compiler can vectorise it. */
#define EACH(expression)                                                                                               \
    for (int i = 0; i < count; i++)                                                                                    \
        b[i] = (expression);                                                                                           \
    break

#define COMBINE(ctype)                                                                                                 \
    do {                                                                                                               \
        const ctype *a = in;                                                                                           \
        ctype *b = inout;                                                                                              \
        switch (op->code) {                                                                                            \
        case '+': EACH((ctype)(a[i] + b[i]));                                                                          \
        case '*': EACH((ctype)(a[i] * b[i]));                                                                          \
        case '>': EACH(a[i] > b[i] ? a[i] : b[i]);                                                                     \
        case '<': EACH(a[i] < b[i] ? a[i] : b[i]);                                                                     \
        case '&': EACH((ctype)(a[i] && b[i]));                                                                         \
        case '|': EACH((ctype)(a[i] || b[i]));                                                                         \
        case 'x': EACH((ctype)(!a[i] != !b[i]));                                                                       \
        default: vmpi_error(MPI_ERR_OP, "this reduction operation is not supported");                                  \
        }                                                                                                              \
    } while (0)

#define COMBINE_COMPLEX(ctype)                                                                                         \
    do {                                                                                                               \
        const ctype *a = in;                                                                                           \
        ctype *b = inout;                                                                                              \
        if (op->code != '+' && op->code != '*')                                                                        \
            vmpi_error(MPI_ERR_OP, "complex numbers support only sum and product");                                                \
        for (int i = 0; i < count; i++)                                                                                \
            b[i] = op->code == '+' ? a[i] + b[i] : a[i] * b[i];                                                        \
    } while (0)

#define COMBINE_BITS(ctype)                                                                                            \
    do {                                                                                                               \
        const ctype *a = in;                                                                                           \
        ctype *b = inout;                                                                                              \
        for (int i = 0; i < count; i++)                                                                                \
            b[i] = (ctype)(op->code == 'A' ? a[i] & b[i] : op->code == 'O' ? a[i] | b[i] : a[i] ^ b[i]);               \
    } while (0)

/* A value and its index; of equal values the lower index. */
#define COMBINE_PLACES(ctype)                                                                                          \
    do {                                                                                                               \
        const ctype *a = in;                                                                                           \
        ctype *b = inout;                                                                                              \
        for (int i = 0; i < count; i++) {                                                                              \
            int earlier = op->code == 'M' ? a[i].value > b[i].value : a[i].value < b[i].value;                         \
            if (earlier || (a[i].value == b[i].value && a[i].place < b[i].place))                                      \
                b[i] = a[i];                                                                                           \
        }                                                                                                              \
    } while (0)

static void reduce_bits(MPI_Op op, int element, int count, void *in, void *inout)
{
    switch (element) {
    case 'B': COMBINE_BITS(unsigned char); break;
    case 'c': COMBINE_BITS(signed char); break;
    case 's': COMBINE_BITS(short); break;
    case 'S': COMBINE_BITS(unsigned short); break;
    case 'i': COMBINE_BITS(int); break;
    case 'u': COMBINE_BITS(unsigned); break;
    case 'l': COMBINE_BITS(long); break;
    case 'L': COMBINE_BITS(unsigned long); break;
    case 'I': COMBINE_BITS(__int128); break;
    default: vmpi_error(MPI_ERR_OP, "bitwise reductions need integers");
    }
}

static void reduce_places(MPI_Op op, int element, int count, void *in, void *inout)
{
    switch (element) {
    case '2': COMBINE_PLACES(vmpi_two_ints); break;
    case 'D': COMBINE_PLACES(vmpi_double_int); break;
    case 'F': COMBINE_PLACES(vmpi_float_int); break;
    case 'H': COMBINE_PLACES(vmpi_short_int); break;
    case 'N': COMBINE_PLACES(vmpi_long_int); break;
    case 'E': COMBINE_PLACES(vmpi_long_double_int); break;
    case 'R': COMBINE_PLACES(vmpi_two_floats); break;
    case 'P': COMBINE_PLACES(vmpi_two_doubles); break;
    default: vmpi_error(MPI_ERR_OP, "MPI_MAXLOC and MPI_MINLOC need pairs such as MPI_DOUBLE_INT");
    }
}

/* Elements in their memory layout. */
static void combine(MPI_Op op, MPI_Datatype type, int count, void *in, void *inout)
{
    if (op->code == 'U') {
        int number = op->fortran ? vmpi_fortran_number(FORTRAN_TYPE, type) : 0;
        op->function(in, inout, &count, op->fortran ? (MPI_Datatype *)&number : &type);
        return;
    }
    if (op->code == 'A' || op->code == 'O' || op->code == 'X') {
        reduce_bits(op, type->element, count, in, inout);
        return;
    }
    if (op->code == 'M' || op->code == 'm') {
        reduce_places(op, type->element, count, in, inout);
        return;
    }
    switch (type->element) {
    case 'B': COMBINE(unsigned char); break;
    case 'c': COMBINE(signed char); break;
    case 's': COMBINE(short); break;
    case 'S': COMBINE(unsigned short); break;
    case 'i': COMBINE(int); break;
    case 'u': COMBINE(unsigned); break;
    case 'l': COMBINE(long); break;
    case 'L': COMBINE(unsigned long); break;
    case 'f': COMBINE(float); break;
    case 'd': COMBINE(double); break;
    case 'e': COMBINE(long double); break;
    case 'I': COMBINE(__int128); break;
    case 'Q': COMBINE(_Float128); break;
    case 'Y': COMBINE_COMPLEX(long double complex); break;
    case 'C': COMBINE_COMPLEX(float complex); break;
    case 'Z': COMBINE_COMPLEX(double complex); break;
    default: vmpi_error(MPI_ERR_OP, "reductions on this data type are not supported");
    }
}

/* Packed elements of a type with gaps, in their memory layout; `*base` is the start of the first. */
static void *spread(const void *packed, int count, MPI_Datatype type, void **base)
{
    ptrdiff_t last = (count - 1) * type->extent, low = type->true_lower + (last < 0 ? last : 0);
    char *memory = vmpi_alloc(1, (size_t)(type->true_extent + type->extent + (last < 0 ? -last : last)));
    *base = memory - low;
    vmpi_unpack(packed, vmpi_packed_bytes(type, count), *base, type);
    return memory;
}

void vmpi_reduce(MPI_Op op, MPI_Datatype type, int count, void *in, void *inout)
{
    if (op->code != 'U' && !type->basic) { /* MPI allows it for one-sided calls: elements of one basic type, in packed order */
        if (!type->only)
            vmpi_error(MPI_ERR_OP, "predefined reductions need elements of one basic data type");
        count *= (int)type->elements;
        type = type->only;
    }
    if (count == 0 || vmpi_is_contiguous(type)) {
        combine(op, type, count, in, inout);
        return;
    }
    void *first, *second, *memory = spread(in, count, type, &first), *other = spread(inout, count, type, &second);
    combine(op, type, count, first, second);
    vmpi_pack(second, count, type, inout);
    free(memory);
    free(other);
}

int MPI_Op_create(MPI_User_function *function, int commute, MPI_Op *op)
{
    VMPI_ENTER("MPI_Op_create");
    *op = vmpi_alloc(1, sizeof **op);
    (*op)->commutes = commute != 0;
    (*op)->references = 1;
    (*op)->code = 'U';
    (*op)->function = function;
    return MPI_SUCCESS;
}

int MPI_Op_free(MPI_Op *op)
{
    VMPI_ENTER("MPI_Op_free");
    if ((*op)->code != 'U')
        vmpi_error(MPI_ERR_OP, "a predefined operation cannot be freed");
    vmpi_op_drop(*op);
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}

int MPI_Op_commutative(MPI_Op op, int *commutes)
{
    VMPI_ENTER("MPI_Op_commutative");
    *commutes = op->commutes;
    return MPI_SUCCESS;
}

void vmpi_op_hold(MPI_Op op)
{
    if (op && op->code == 'U')
        op->references++;
}

void vmpi_op_drop(MPI_Op op)
{
    if (op && op->code == 'U' && --op->references == 0)
        free(op);
}

void vmpi_op_is_fortran(MPI_Op op)
{
    op->fortran = 1;
}
