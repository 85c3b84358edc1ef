/* Fortran's numbers of handles and its arguments (fortran.c). */
#ifndef VMPI_FORTRAN_H
#define VMPI_FORTRAN_H

#include "runtime.h"

enum fortran_kind {
    FORTRAN_TYPE,
    FORTRAN_OPERATION,
    FORTRAN_COMMUNICATOR,
    FORTRAN_GROUP,
    FORTRAN_REQUEST,
    FORTRAN_ERRHANDLER,
    FORTRAN_INFO,
    FORTRAN_WINDOW,
    FORTRAN_MESSAGE
};

/* Attribute functions of C, of Fortran, and of Fortran with numbers of default size (MPI-1). */
enum fortran_key { KEY_OF_C, KEY_OF_FORTRAN, KEY_OF_OLD_FORTRAN };
void vmpi_key_is_fortran(int key, enum fortran_key style, enum fortran_kind kind);

/* The handle of a number; the second ends the run if there is none. */
void *vmpi_fortran_handle(enum fortran_kind kind, int number);
void *vmpi_from_fortran(enum fortran_kind kind, int number);
/* The number of a handle, a new one if it has none. */
int vmpi_fortran_number(enum fortran_kind kind, void *handle);
/* The call has turned the handle `before` into `now`. */
void vmpi_fortran_update(enum fortran_kind kind, int *number, void *before, void *now);
/* A list of handles, and its return. */
void **vmpi_fortran_list(enum fortran_kind kind, int count, const int *number);
void vmpi_fortran_list_done(enum fortran_kind kind, int count, int *number, void **handles);
/* C's constant for the common block that represents it. */
void *vmpi_fortran_buffer(void *buffer);
int *vmpi_fortran_numbers(int *numbers);
MPI_Status *vmpi_fortran_status(int *status);
/* A string without its blanks, with room for a result; its return. */
char *vmpi_fortran_string(const char *text, size_t length);
void vmpi_fortran_string_done(char *text, size_t length, char *copy, int is_result);
/* Indices that count from 1. */
void vmpi_fortran_from_one(int *index, int count);

void vmpi_op_is_fortran(MPI_Op op);
void vmpi_handler_is_fortran(MPI_Errhandler handler);

#endif
