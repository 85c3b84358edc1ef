/* Fortran's calls that mpi.h's prototypes do not describe: those with functions as arguments, attributes, the start, and the
 * numbers of handles in C. fortran_calls.awk makes the others. */
#include <stdlib.h>
#include <string.h>

#include "fortran.h"

void mpi_init_(int *error)
{
    vmpi_watch_faults();
    *error = MPI_Init(NULL, NULL);
}

void mpi_init_thread_(int *required, int *provided, int *error)
{
    vmpi_watch_faults();
    *error = MPI_Init_thread(NULL, NULL, *required, provided);
}

double mpi_wtime_(void)
{
    return MPI_Wtime();
}

double mpi_wtick_(void)
{
    return MPI_Wtick();
}

MPI_Aint mpi_aint_add_(MPI_Aint *base, MPI_Aint *distance)
{
    return *base + *distance;
}

MPI_Aint mpi_aint_diff_(MPI_Aint *one, MPI_Aint *other)
{
    return *one - *other;
}

void mpi_pcontrol_(int *level)
{
    (void)level;
}

/* ---- functions as arguments ---- */

void mpi_op_create_(MPI_User_function *function, int *commutes, int *op, int *error)
{
    MPI_Op made;
    *error = MPI_Op_create(function, *commutes, &made);
    vmpi_op_is_fortran(made);
    *op = vmpi_fortran_number(FORTRAN_OPERATION, made);
}

#define HANDLER(name, Kind)                                                                                            \
    void name(MPI_##Kind##_errhandler_function *function, int *handler, int *error)                                    \
    {                                                                                                                  \
        MPI_Errhandler made;                                                                                           \
        *error = MPI_##Kind##_create_errhandler(function, &made);                                                      \
        vmpi_handler_is_fortran(made);                                                                                 \
        *handler = vmpi_fortran_number(FORTRAN_ERRHANDLER, made);                                                      \
    }
HANDLER(mpi_comm_create_errhandler_, Comm)
HANDLER(mpi_errhandler_create_, Comm)
HANDLER(mpi_win_create_errhandler_, Win)

#define KEY(name, Kind, style, kind)                                                                                   \
    void name(MPI_##Kind##_copy_attr_function *copy, MPI_##Kind##_delete_attr_function *delete, int *key, void *extra, \
              int *error)                                                                                              \
    {                                                                                                                  \
        *error = MPI_##Kind##_create_keyval(copy, delete, key,                                                         \
                                            (void *)((style) == KEY_OF_OLD_FORTRAN ? *(int *)extra : *(MPI_Aint *)extra)); \
        vmpi_key_is_fortran(*key, style, kind);                                                                        \
    }
KEY(mpi_comm_create_keyval_, Comm, KEY_OF_FORTRAN, FORTRAN_COMMUNICATOR)
KEY(mpi_type_create_keyval_, Type, KEY_OF_FORTRAN, FORTRAN_TYPE)
KEY(mpi_win_create_keyval_, Win, KEY_OF_FORTRAN, FORTRAN_WINDOW)
KEY(mpi_keyval_create_, Comm, KEY_OF_OLD_FORTRAN, FORTRAN_COMMUNICATOR)

/* The predefined functions. */
#define FUNCTIONS(kind, number)                                                                                        \
    void mpi_##kind##null_copy_fn_(int *handle, int *key, number *extra, number *in, number *out, int *flag, int *error)   \
    {                                                                                                                  \
        *flag = 0;                                                                                                     \
        *error = MPI_SUCCESS;                                                                                          \
    }                                                                                                                  \
    void mpi_##kind##dup_fn_(int *handle, int *key, number *extra, number *in, number *out, int *flag, int *error)     \
    {                                                                                                                  \
        *out = *in;                                                                                                    \
        *flag = 1;                                                                                                     \
        *error = MPI_SUCCESS;                                                                                          \
    }                                                                                                                  \
    void mpi_##kind##null_delete_fn_(int *handle, int *key, number *value, number *extra, int *error)                  \
    {                                                                                                                  \
        *error = MPI_SUCCESS;                                                                                          \
    }
FUNCTIONS(comm_, MPI_Aint)
FUNCTIONS(type_, MPI_Aint)
FUNCTIONS(win_, MPI_Aint)
FUNCTIONS(, int)

/* ---- attributes are numbers; predefined ones are numbers in C, too, but a window's base is an address ---- */

#define GET(name, Kind, kind, number, is_pointer)                                                                      \
    void name(int *handle, int *key, number *value, int *flag, int *error)                                             \
    {                                                                                                                  \
        void *found = NULL;                                                                                            \
        *error = MPI_##Kind##_get_attr(vmpi_from_fortran(kind, *handle), *key, &found, flag);                          \
        if (*flag)                                                                                                     \
            *value = (number)(is_pointer(*key) ? (MPI_Aint)found : *key == MPI_WIN_SIZE ? *(MPI_Aint *)found : *(int *)found); \
    }
#define SET(name, Kind, kind, number)                                                                                  \
    void name(int *handle, int *key, number *value, int *error)                                                        \
    {                                                                                                                  \
        *error = MPI_##Kind##_set_attr(vmpi_from_fortran(kind, *handle), *key, (void *)(MPI_Aint)*value);              \
    }

static int is_pointer(int key)
{
    return key > MPI_WIN_MODEL || key == MPI_WIN_BASE; /* the program's keys follow the predefined ones */
}

GET(mpi_comm_get_attr_, Comm, FORTRAN_COMMUNICATOR, MPI_Aint, is_pointer)
GET(mpi_attr_get_, Comm, FORTRAN_COMMUNICATOR, int, is_pointer)
GET(mpi_type_get_attr_, Type, FORTRAN_TYPE, MPI_Aint, is_pointer)
GET(mpi_win_get_attr_, Win, FORTRAN_WINDOW, MPI_Aint, is_pointer)
SET(mpi_comm_set_attr_, Comm, FORTRAN_COMMUNICATOR, MPI_Aint)
SET(mpi_attr_put_, Comm, FORTRAN_COMMUNICATOR, int)
SET(mpi_type_set_attr_, Type, FORTRAN_TYPE, MPI_Aint)
SET(mpi_win_set_attr_, Win, FORTRAN_WINDOW, MPI_Aint)

/* ---- numbers of handles in C ---- */

#define NUMBERS(Kind, Handle, kind)                                                                                    \
    MPI_Fint MPI_##Kind##_c2f(Handle handle)                                                                           \
    {                                                                                                                  \
        return vmpi_fortran_number(kind, handle);                                                                      \
    }                                                                                                                  \
    Handle MPI_##Kind##_f2c(MPI_Fint number)                                                                           \
    {                                                                                                                  \
        return vmpi_from_fortran(kind, number);                                                                        \
    }
NUMBERS(Comm, MPI_Comm, FORTRAN_COMMUNICATOR)
NUMBERS(Type, MPI_Datatype, FORTRAN_TYPE)
NUMBERS(Op, MPI_Op, FORTRAN_OPERATION)
NUMBERS(Group, MPI_Group, FORTRAN_GROUP)
NUMBERS(Request, MPI_Request, FORTRAN_REQUEST)
NUMBERS(Errhandler, MPI_Errhandler, FORTRAN_ERRHANDLER)
NUMBERS(Info, MPI_Info, FORTRAN_INFO)
NUMBERS(Win, MPI_Win, FORTRAN_WINDOW)
NUMBERS(Message, MPI_Message, FORTRAN_MESSAGE)

/* A status has the same layout in both. */
int MPI_Status_c2f(const MPI_Status *status, MPI_Fint *numbers)
{
    memcpy(numbers, status, sizeof *status);
    return MPI_SUCCESS;
}

int MPI_Status_f2c(const MPI_Fint *numbers, MPI_Status *status)
{
    memcpy(status, numbers, sizeof *status);
    return MPI_SUCCESS;
}
