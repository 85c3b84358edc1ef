/* Fortran's MPI calls whose arguments need more work: the start, requests, names, operations. See fortran.c for handles. */
#include <stdlib.h>
#include <string.h>

#include "fortran.h"

void mpi_init_(int *error)
{
    *error = MPI_Init(NULL, NULL);
}

void mpi_init_thread_(int *required, int *provided, int *error)
{
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

/* Strings are padded with blanks; their lengths follow all arguments. */
static void pad(char *text, size_t used, size_t room)
{
    if (used < room)
        memset(text + used, ' ', room - used);
}

void mpi_get_processor_name_(char *name, int *length, int *error, size_t room)
{
    char text[MPI_MAX_PROCESSOR_NAME];
    *error = MPI_Get_processor_name(text, length);
    *length = (size_t)*length < room ? *length : (int)room;
    memcpy(name, text, (size_t)*length);
    pad(name, (size_t)*length, room);
}

void mpi_error_string_(int *code, char *text, int *length, int *error, size_t room)
{
    char message[MPI_MAX_ERROR_STRING];
    *error = MPI_Error_string(*code, message, length);
    *length = (size_t)*length < room ? *length : (int)room;
    memcpy(text, message, (size_t)*length);
    pad(text, (size_t)*length, room);
}

void mpi_comm_set_errhandler_(int *comm, int *handler, int *error)
{
    (void)handler;
    *error = MPI_Comm_set_errhandler(vmpi_from_fortran(FORTRAN_COMMUNICATOR, *comm), MPI_ERRORS_RETURN);
}

void mpi_comm_split_type_(int *comm, int *type, int *key, int *info, int *out, int *error)
{
    (void)info;
    MPI_Comm made;
    *error = MPI_Comm_split_type(vmpi_from_fortran(FORTRAN_COMMUNICATOR, *comm), *type, *key, MPI_INFO_NULL, &made);
    *out = vmpi_to_fortran(FORTRAN_COMMUNICATOR, made);
}

void mpi_comm_free_(int *comm, int *error)
{
    MPI_Comm handle = vmpi_from_fortran(FORTRAN_COMMUNICATOR, *comm);
    *error = MPI_Comm_free(&handle);
    vmpi_forget_fortran(FORTRAN_COMMUNICATOR, *comm);
    *comm = vmpi_to_fortran(FORTRAN_COMMUNICATOR, MPI_COMM_NULL);
}

void mpi_group_free_(int *group, int *error)
{
    MPI_Group handle = vmpi_from_fortran(FORTRAN_GROUP, *group);
    *error = MPI_Group_free(&handle);
    vmpi_forget_fortran(FORTRAN_GROUP, *group);
    *group = 0;
}

void mpi_type_commit_(int *type, int *error)
{
    MPI_Datatype handle = vmpi_from_fortran(FORTRAN_TYPE, *type);
    *error = MPI_Type_commit(&handle);
}

void mpi_type_free_(int *type, int *error)
{
    MPI_Datatype handle = vmpi_from_fortran(FORTRAN_TYPE, *type);
    *error = MPI_Type_free(&handle);
    vmpi_forget_fortran(FORTRAN_TYPE, *type);
    *type = 0;
}

void mpi_type_create_struct_(int *count, int *lengths, MPI_Aint *offsets, int *types, int *out, int *error)
{
    MPI_Datatype *old = vmpi_alloc((size_t)*count, sizeof *old), made;
    for (int i = 0; i < *count; i++)
        old[i] = vmpi_from_fortran(FORTRAN_TYPE, types[i]);
    *error = MPI_Type_create_struct(*count, lengths, offsets, old, &made);
    *out = vmpi_to_fortran(FORTRAN_TYPE, made);
    free(old);
}

void mpi_op_create_(MPI_User_function *function, int *commutes, int *op, int *error)
{
    MPI_Op made;
    *error = MPI_Op_create(function, *commutes, &made);
    vmpi_op_is_fortran(made);
    *op = vmpi_to_fortran(FORTRAN_OPERATION, made);
}

void mpi_op_free_(int *op, int *error)
{
    MPI_Op handle = vmpi_from_fortran(FORTRAN_OPERATION, *op);
    *error = MPI_Op_free(&handle);
    vmpi_forget_fortran(FORTRAN_OPERATION, *op);
    *op = vmpi_to_fortran(FORTRAN_OPERATION, MPI_OP_NULL);
}

void mpi_wait_(int *request, int *status, int *error)
{
    MPI_Request *one = vmpi_fortran_requests(1, request);
    *error = MPI_Wait(one, vmpi_fortran_status(status));
    vmpi_fortran_requests_done(1, one, request);
}

void mpi_waitall_(int *count, int *request, int *statuses, int *error)
{
    MPI_Request *all = vmpi_fortran_requests(*count, request);
    *error = MPI_Waitall(*count, all, vmpi_fortran_status(statuses));
    vmpi_fortran_requests_done(*count, all, request);
}

/* Fortran counts from 1. */
static void from_one(int *index, int count)
{
    for (int i = 0; i < count; i++)
        if (index[i] != MPI_UNDEFINED)
            index[i]++;
}

void mpi_waitany_(int *count, int *request, int *index, int *status, int *error)
{
    MPI_Request *all = vmpi_fortran_requests(*count, request);
    *error = MPI_Waitany(*count, all, index, vmpi_fortran_status(status));
    vmpi_fortran_requests_done(*count, all, request);
    from_one(index, 1);
}

void mpi_waitsome_(int *count, int *request, int *done, int *index, int *statuses, int *error)
{
    MPI_Request *all = vmpi_fortran_requests(*count, request);
    *error = MPI_Waitsome(*count, all, done, index, vmpi_fortran_status(statuses));
    vmpi_fortran_requests_done(*count, all, request);
    from_one(index, *done == MPI_UNDEFINED ? 0 : *done);
}

void mpi_test_(int *request, int *flag, int *status, int *error)
{
    MPI_Request *one = vmpi_fortran_requests(1, request);
    *error = MPI_Test(one, flag, vmpi_fortran_status(status));
    vmpi_fortran_requests_done(1, one, request);
}

void mpi_testall_(int *count, int *request, int *flag, int *statuses, int *error)
{
    MPI_Request *all = vmpi_fortran_requests(*count, request);
    *error = MPI_Testall(*count, all, flag, vmpi_fortran_status(statuses));
    vmpi_fortran_requests_done(*count, all, request);
}

void mpi_start_(int *request, int *error)
{
    MPI_Request handle = vmpi_from_fortran(FORTRAN_REQUEST, *request);
    *error = MPI_Start(&handle);
}

void mpi_startall_(int *count, int *request, int *error)
{
    MPI_Request *all = vmpi_fortran_requests(*count, request);
    *error = MPI_Startall(*count, all);
    free(all);
}

void mpi_request_free_(int *request, int *error)
{
    MPI_Request *one = vmpi_fortran_requests(1, request);
    *error = MPI_Request_free(one);
    vmpi_fortran_requests_done(1, one, request);
}
