/* Fortran's numbers of handles (fortran.c). */
#ifndef VMPI_FORTRAN_H
#define VMPI_FORTRAN_H

#include "runtime.h"

enum fortran_kind { FORTRAN_TYPE, FORTRAN_OPERATION, FORTRAN_COMMUNICATOR, FORTRAN_GROUP, FORTRAN_REQUEST };

/* Attribute functions of C, of Fortran, and of Fortran with numbers of default size (MPI-1). */
enum fortran_key { KEY_OF_C, KEY_OF_FORTRAN, KEY_OF_OLD_FORTRAN };
void vmpi_key_is_fortran(int key, enum fortran_key style, enum fortran_kind kind);

void *vmpi_from_fortran(enum fortran_kind kind, int number);
/* The number of a predefined handle, or a new number. */
int vmpi_to_fortran(enum fortran_kind kind, void *handle);
/* The existing number of a handle. */
int vmpi_fortran_number(enum fortran_kind kind, void *handle);
void vmpi_forget_fortran(enum fortran_kind kind, int number);
/* NULL, MPI_IN_PLACE or MPI_STATUS_IGNORE for the common block that represents it. */
void *vmpi_fortran_buffer(void *buffer);
MPI_Status *vmpi_fortran_status(int *status);
/* Returns a list of requests to Fortran and frees it; completed ones get the number of MPI_REQUEST_NULL. */
MPI_Request *vmpi_fortran_requests(int count, const int *number);
void vmpi_fortran_requests_done(int count, MPI_Request *all, int *number);

void vmpi_op_is_fortran(MPI_Op op);

#endif
