/* Numbers that Fortran has for handles (fortran.c). */
#ifndef VMPI_FORTRAN_H
#define VMPI_FORTRAN_H

#include "runtime.h"

enum fortran_kind { FORTRAN_TYPE, FORTRAN_OPERATION, FORTRAN_COMMUNICATOR, FORTRAN_GROUP, FORTRAN_REQUEST };

void *vmpi_from_fortran(enum fortran_kind kind, int number);
/* The predefined one's, or a fresh number. */
int vmpi_to_fortran(enum fortran_kind kind, void *handle);
/* The number that a handle has already. */
int vmpi_fortran_number(enum fortran_kind kind, void *handle);
void vmpi_forget_fortran(enum fortran_kind kind, int number);
/* NULL, MPI_IN_PLACE or MPI_STATUS_IGNORE for the common block that stands for it. */
void *vmpi_fortran_buffer(void *buffer);
MPI_Status *vmpi_fortran_status(int *status);
/* Handles of a list of requests; those that are done get the number of MPI_REQUEST_NULL, and the list is freed. */
MPI_Request *vmpi_fortran_requests(int count, const int *number);
void vmpi_fortran_requests_done(int count, MPI_Request *all, int *number);

void vmpi_op_is_fortran(MPI_Op op);

#endif
