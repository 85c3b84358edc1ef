/* Fortran's MPI calls: handles are numbers, arguments are addresses, the error is the last argument.
 *
 * It follows mpif.h and the module mpi of Open MPI: numbers of predefined handles, and common blocks whose addresses
 * stand for MPI_BOTTOM and similar constants. A status has the layout of C's. This file has numbers and handles;
 * fortran_calls.awk makes the calls from mpi.h's prototypes, fortran_more.c has those that need more. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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
    [16] = MPI_REAL16,
    [18] = MPI_COMPLEX,
    [19] = MPI_COMPLEX8,
    [20] = MPI_COMPLEX16,
    [21] = MPI_COMPLEX32,
    [22] = MPI_DOUBLE_COMPLEX,
    [23] = MPI_2REAL,
    [24] = MPI_2DOUBLE_PRECISION,
    [25] = MPI_2INTEGER,
    [26] = MPI_2COMPLEX,
    [27] = MPI_2DOUBLE_COMPLEX,
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
    [58] = MPI_INT8_T,
    [60] = MPI_INT16_T,
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
    [11] = MPI_MAXLOC, [12] = MPI_MINLOC, [13] = MPI_REPLACE, [14] = MPI_NO_OP,
};
static void *communicators[FIRST] = {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL};
static void *groups[FIRST] = {MPI_GROUP_NULL, MPI_GROUP_EMPTY};
static void *requests[FIRST] = {MPI_REQUEST_NULL};
static void *handlers[FIRST] = {MPI_ERRHANDLER_NULL, MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN};
static void *hints[FIRST] = {MPI_INFO_NULL, MPI_INFO_ENV};
static void *windows[FIRST] = {MPI_WIN_NULL};
static void *messages[FIRST] = {MPI_MESSAGE_NULL, MPI_MESSAGE_NO_PROC};
static void **const predefined[] = {types, operations, communicators, groups, requests, handlers, hints, windows, messages};
static void *const none[] = {MPI_DATATYPE_NULL, MPI_OP_NULL, MPI_COMM_NULL, MPI_GROUP_NULL, MPI_REQUEST_NULL,
                             MPI_ERRHANDLER_NULL, MPI_INFO_NULL, MPI_WIN_NULL, MPI_MESSAGE_NULL};
static numbers of[sizeof predefined / sizeof *predefined];

void *vmpi_fortran_handle(enum fortran_kind kind, int number)
{
    if (number >= 0 && number < FIRST)
        return predefined[kind][number];
    return number >= FIRST && number - FIRST < of[kind].used ? of[kind].handle[number - FIRST] : NULL;
}

void *vmpi_from_fortran(enum fortran_kind kind, int number)
{
    void *handle = vmpi_fortran_handle(kind, number);
    if (!handle)
        vmpi_fail("handle %d is not a handle of MPI", number);
    return handle;
}

/* A new number, or the number of a predefined handle. */
static int new_number(enum fortran_kind kind, void *handle)
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

int vmpi_fortran_number(enum fortran_kind kind, void *handle)
{
    for (int i = 0; i < of[kind].used; i++)
        if (of[kind].handle[i] == handle)
            return FIRST + i;
    return new_number(kind, handle);
}

/* A freed handle gives its number back. */
void vmpi_fortran_update(enum fortran_kind kind, int *number, void *before, void *now)
{
    if (before == now)
        return;
    if (before && now == none[kind] && *number >= FIRST) {
        of[kind].handle[*number - FIRST] = NULL;
        of[kind].spare[of[kind].spares++] = *number - FIRST;
    }
    *number = new_number(kind, now);
}

void **vmpi_fortran_list(enum fortran_kind kind, int count, const int *number)
{
    void **all = vmpi_alloc((size_t)(count > 0 ? count : 0), sizeof *all);
    for (int i = 0; i < count; i++)
        all[i] = vmpi_fortran_handle(kind, number[i]);
    return all;
}

void vmpi_fortran_list_done(enum fortran_kind kind, int count, int *number, void **handles)
{
    for (int i = 0; i < count; i++)
        vmpi_fortran_update(kind, &number[i], vmpi_fortran_handle(kind, number[i]), handles[i]);
    free(handles);
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

int *vmpi_fortran_numbers(int *numbers)
{
    return numbers == &mpi_fortran_unweighted_      ? MPI_UNWEIGHTED
           : numbers == &mpi_fortran_weights_empty_ ? MPI_WEIGHTS_EMPTY
                                                    : numbers;
}

MPI_Status *vmpi_fortran_status(int *status)
{
    return status == mpi_fortran_status_ignore_ || status == mpi_fortran_statuses_ignore_ ? MPI_STATUS_IGNORE
                                                                                          : (MPI_Status *)status;
}

char *vmpi_fortran_string(const char *text, size_t length)
{
    enum { LONGEST_RESULT = 1024 };
    char *copy = vmpi_alloc(1, length + LONGEST_RESULT);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    for (; length > 0 && isspace((unsigned char)*text); length--)
        text++;
    memcpy(copy, text, length);
    return copy;
}

void vmpi_fortran_string_done(char *text, size_t length, char *copy, int is_result)
{
    size_t used = strlen(copy);
    if (is_result) {
        memset(text, ' ', length);
        memcpy(text, copy, used < length ? used : length);
    }
    free(copy);
}

void vmpi_fortran_from_one(int *index, int count)
{
    for (int i = 0; count != MPI_UNDEFINED && i < count; i++)
        if (index[i] != MPI_UNDEFINED)
            index[i]++;
}
