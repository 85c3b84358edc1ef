/* Reduction operations on basic types, and the user's own. Ranks are combined in rank order, so that a sum of doubles
 * is the same in every run. */
#include <stdlib.h>

#include "runtime.h"

struct ompi_op_t {
    char code; /* + * > < & | of the predefined ones; U for the user's */
    MPI_User_function *function;
};

struct ompi_predefined_op_t {
    struct ompi_op_t op;
};

#define OPERATION(symbol, code)                                                                                        \
    struct ompi_predefined_op_t symbol = {{code, NULL}}

OPERATION(ompi_mpi_op_sum, '+');
OPERATION(ompi_mpi_op_prod, '*');
OPERATION(ompi_mpi_op_max, '>');
OPERATION(ompi_mpi_op_min, '<');
OPERATION(ompi_mpi_op_land, '&');
OPERATION(ompi_mpi_op_lor, '|');

#define COMBINE(ctype)                                                                                                 \
    do {                                                                                                               \
        const ctype *a = in;                                                                                           \
        ctype *b = inout;                                                                                              \
        for (int i = 0; i < count; i++)                                                                                \
            switch (op->code) {                                                                                        \
            case '+': b[i] = (ctype)(a[i] + b[i]); break;                                                              \
            case '*': b[i] = (ctype)(a[i] * b[i]); break;                                                              \
            case '>': b[i] = a[i] > b[i] ? a[i] : b[i]; break;                                                         \
            case '<': b[i] = a[i] < b[i] ? a[i] : b[i]; break;                                                         \
            case '&': b[i] = (ctype)(a[i] && b[i]); break;                                                             \
            case '|': b[i] = (ctype)(a[i] || b[i]); break;                                                             \
            default: vmpi_fail("this reduction operation is not supported");                                           \
            }                                                                                                          \
    } while (0)

void vmpi_reduce(MPI_Op op, MPI_Datatype type, int count, void *in, void *inout)
{
    if (op->code == 'U') {
        op->function(in, inout, &count, &type);
        return;
    }
    if (!type->basic)
        vmpi_fail("predefined reductions need a basic data type");
    switch (type->element) {
    case 'B': COMBINE(unsigned char); break;
    case 'c': COMBINE(char); break;
    case 'i': COMBINE(int); break;
    case 'u': COMBINE(unsigned); break;
    case 'l': COMBINE(long); break;
    case 'L': COMBINE(unsigned long); break;
    case 'f': COMBINE(float); break;
    case 'd': COMBINE(double); break;
    default: vmpi_fail("reductions on this data type are not supported");
    }
}

int MPI_Op_create(MPI_User_function *function, int commute, MPI_Op *op)
{
    (void)commute;
    VMPI_ENTER("MPI_Op_create");
    *op = vmpi_alloc(1, sizeof **op);
    (*op)->code = 'U';
    (*op)->function = function;
    return MPI_SUCCESS;
}

int MPI_Op_free(MPI_Op *op)
{
    VMPI_ENTER("MPI_Op_free");
    if ((*op)->code != 'U')
        vmpi_fail("a predefined operation cannot be freed");
    free(*op);
    *op = NULL;
    return MPI_SUCCESS;
}
