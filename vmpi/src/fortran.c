/* Fortran's MPI calls: handles are numbers, arguments are addresses, the error is the last argument.
 *
 * It follows mpif.h and the module mpi of Open MPI: numbers of predefined handles, and common blocks whose addresses
 * stand for MPI_BOTTOM and similar constants. A status has the layout of C's. This file has numbers and handles;
 * fortran_calls.table and fortran_more.c have the calls. */
#include <stdlib.h>

#include "fortran.h"

typedef struct {
    void **handle;
    int used, room;
    int *spare, spares;
} numbers;

/* Numbers of mpif-handles.h; handles that the program creates get later numbers. */
enum { FIRST = 128 };
static void *types[FIRST] = {
    [0] = MPI_DATATYPE_NULL,
    [1] = MPI_BYTE,
    [2] = MPI_PACKED,
    [5] = MPI_CHARACTER,
    [6] = MPI_LOGICAL,
    [7] = MPI_INTEGER,
    [8] = MPI_INTEGER1,
    [9] = MPI_INTEGER2,
    [10] = MPI_INTEGER4,
    [11] = MPI_INTEGER8,
    [13] = MPI_REAL,
    [14] = MPI_REAL4,
    [15] = MPI_REAL8,
    [17] = MPI_DOUBLE_PRECISION,
    [18] = MPI_COMPLEX,
    [19] = MPI_COMPLEX8,
    [20] = MPI_COMPLEX16,
    [22] = MPI_DOUBLE_COMPLEX,
    [23] = MPI_2REAL,
    [24] = MPI_2DOUBLE_PRECISION,
    [25] = MPI_2INTEGER,
    [29] = MPI_LOGICAL1,
    [30] = MPI_LOGICAL2,
    [31] = MPI_LOGICAL4,
    [32] = MPI_LOGICAL8,
    [34] = MPI_CHAR,
    [35] = MPI_UNSIGNED_CHAR,
    [36] = MPI_SIGNED_CHAR,
    [37] = MPI_SHORT,
    [38] = MPI_UNSIGNED_SHORT,
    [39] = MPI_INT,
    [40] = MPI_UNSIGNED,
    [41] = MPI_LONG,
    [42] = MPI_UNSIGNED_LONG,
    [43] = MPI_LONG_LONG,
    [45] = MPI_FLOAT,
    [46] = MPI_DOUBLE,
    [47] = MPI_LONG_DOUBLE,
    [48] = MPI_FLOAT_INT,
    [49] = MPI_DOUBLE_INT,
    [51] = MPI_LONG_INT,
    [52] = MPI_2INT,
    [53] = MPI_SHORT_INT,
    [62] = MPI_INT32_T,
    [64] = MPI_INT64_T,
    [66] = MPI_AINT,
    [67] = MPI_OFFSET,
    [68] = MPI_C_BOOL,
    [72] = MPI_COUNT,
};
static void *operations[FIRST] = {
    [0] = MPI_OP_NULL,
    [1] = MPI_MAX,     [2] = MPI_MIN,     [3] = MPI_SUM,      [4] = MPI_PROD, [5] = MPI_LAND,
    [6] = MPI_BAND,    [7] = MPI_LOR,     [8] = MPI_BOR,      [9] = MPI_LXOR, [10] = MPI_BXOR,
    [11] = MPI_MAXLOC, [12] = MPI_MINLOC, [13] = MPI_REPLACE,
};
static void *communicators[FIRST] = {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL};
static void *groups[FIRST] = {MPI_GROUP_NULL, MPI_GROUP_EMPTY};
static void *requests[FIRST] = {MPI_REQUEST_NULL};
static void **const predefined[] = {types, operations, communicators, groups, requests};
static numbers of[sizeof predefined / sizeof *predefined];

void *vmpi_from_fortran(enum fortran_kind kind, int number)
{
    void *handle = NULL;
    if (number >= 0 && number < FIRST)
        handle = predefined[kind][number];
    else if (number >= FIRST && number - FIRST < of[kind].used)
        handle = of[kind].handle[number - FIRST];
    if (!handle)
        vmpi_fail("handle %d is not a handle of MPI", number);
    return handle;
}

int vmpi_to_fortran(enum fortran_kind kind, void *handle)
{
    for (int i = 0; i < FIRST; i++)
        if (predefined[kind][i] == handle)
            return i;
    numbers *n = &of[kind];
    if (n->spares > 0) {
        int place = n->spare[--n->spares];
        n->handle[place] = handle;
        return FIRST + place;
    }
    if (n->used == n->room) {
        n->room = n->room ? 2 * n->room : 256;
        n->handle = vmpi_resize(n->handle, (size_t)n->room, sizeof *n->handle);
        n->spare = vmpi_resize(n->spare, (size_t)n->room, sizeof *n->spare);
    }
    n->handle[n->used] = handle;
    return FIRST + n->used++;
}

void vmpi_forget_fortran(enum fortran_kind kind, int number)
{
    if (number < FIRST)
        return;
    of[kind].handle[number - FIRST] = NULL;
    of[kind].spare[of[kind].spares++] = number - FIRST;
}

int vmpi_fortran_number(enum fortran_kind kind, void *handle)
{
    for (int i = 0; i < of[kind].used; i++)
        if (of[kind].handle[i] == handle)
            return FIRST + i;
    return vmpi_to_fortran(kind, handle);
}

/* The common blocks. */
#define COMMON __attribute__((aligned(16))) /* gfortran's alignment */
COMMON int mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_errcodes_ignore_, mpi_fortran_unweighted_;
COMMON int mpi_fortran_weights_empty_, mpi_fortran_status_ignore_[6], mpi_fortran_statuses_ignore_[6];
COMMON char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;

void *vmpi_fortran_buffer(void *buffer)
{
    return buffer == &mpi_fortran_in_place_ ? MPI_IN_PLACE : buffer == &mpi_fortran_bottom_ ? MPI_BOTTOM : buffer;
}

MPI_Status *vmpi_fortran_status(int *status)
{
    return status == mpi_fortran_status_ignore_ || status == mpi_fortran_statuses_ignore_ ? MPI_STATUS_IGNORE
                                                                                          : (MPI_Status *)status;
}

MPI_Request *vmpi_fortran_requests(int count, const int *number)
{
    MPI_Request *all = vmpi_alloc((size_t)count, sizeof *all);
    for (int i = 0; i < count; i++)
        all[i] = vmpi_from_fortran(FORTRAN_REQUEST, number[i]);
    return all;
}

void vmpi_fortran_requests_done(int count, MPI_Request *all, int *number)
{
    for (int i = 0; i < count; i++)
        if (all[i] == MPI_REQUEST_NULL) {
            vmpi_forget_fortran(FORTRAN_REQUEST, number[i]);
            number[i] = 0;
        }
    free(all);
}
