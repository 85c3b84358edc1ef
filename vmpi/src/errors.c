/* Errors: a mistake ends the run with a message, or goes to the error handler that the program has set for the
 * communicator or window: MPI_ERRORS_RETURN makes the outermost call return its class. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fortran.h"

struct ompi_errhandler_t {
    void (*function)(void *, int *, ...);
    int references, fortran;
};
struct ompi_predefined_errhandler_t {
    struct ompi_errhandler_t handler;
};
struct ompi_predefined_errhandler_t ompi_mpi_errors_are_fatal, ompi_mpi_errors_return, ompi_mpi_errhandler_null;
struct ompi_predefined_errhandler_t ompi_mpi_errors_throw_exceptions;

static int is_predefined(MPI_Errhandler handler)
{
    return handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_RETURN || handler == MPI_ERRHANDLER_NULL;
}

/* Calls the program's function; what is left to do: MPI_ERRORS_ARE_FATAL ends the run. */
static MPI_Errhandler handle(void *object, int code)
{
    MPI_Errhandler handler = vmpi_handler_of(object);
    if (handler && !is_predefined(handler) && handler->fortran) {
        int number = vmpi_fortran_number(FORTRAN_COMMUNICATOR, object);
        handler->function((void *)&number, &code);
    } else if (handler && !is_predefined(handler)) {
        handler->function(&object, &code);
    }
    return handler ? handler : MPI_ERRORS_ARE_FATAL;
}

void vmpi_error(int code, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    vmpi_rank *rank = vmpi_current;
    void *object = rank->object ? rank->object : MPI_COMM_WORLD;
    if (!rank->catches || rank->depth == 0)
        vmpi_fail("%s", text);
    int quiet = rank->quiet;
    if (handle(object, code) == MPI_ERRORS_ARE_FATAL)
        vmpi_fail("%s", text);
    rank->quiet = quiet > 0 ? 0 : quiet;
    rank->probing = 0;
    rank->depth = 1;
    rank->error = code;
    longjmp(rank->escape, 1);
}

/* ---- handlers ---- */

static int create(void *function, MPI_Errhandler *handler)
{
    *handler = vmpi_alloc(1, sizeof **handler);
    (*handler)->function = (void (*)(void *, int *, ...))function;
    (*handler)->references = 1;
    return MPI_SUCCESS;
}

void vmpi_handler_is_fortran(MPI_Errhandler handler)
{
    handler->fortran = 1;
}

int MPI_Errhandler_free(MPI_Errhandler *handler)
{
    VMPI_ENTER("MPI_Errhandler_free");
    if (!is_predefined(*handler) && --(*handler)->references == 0)
        free(*handler);
    *handler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}

static int attach(void *object, MPI_Errhandler handler)
{
    if (!handler || handler == MPI_ERRHANDLER_NULL)
        vmpi_error(MPI_ERR_ARG, "MPI_ERRHANDLER_NULL is no error handler");
    handler->references++;
    vmpi_handler_set(object, handler);
    if (handler != MPI_ERRORS_ARE_FATAL)
        vmpi_current->catches = 1;
    return MPI_SUCCESS;
}

static int get(void *object, MPI_Errhandler *handler)
{
    MPI_Errhandler now = vmpi_handler_of(object);
    *handler = now ? now : MPI_ERRORS_ARE_FATAL;
    (*handler)->references++;
    return MPI_SUCCESS;
}

static int call(void *object, int code)
{
    if (handle(object, code) == MPI_ERRORS_ARE_FATAL)
        vmpi_fail("the program called MPI_ERRORS_ARE_FATAL with code %d", code);
    return MPI_SUCCESS;
}

#define HANDLER_CALLS(Kind, Handle, object)                                                                            \
    int MPI_##Kind##_create_errhandler(MPI_##Kind##_errhandler_function *function, MPI_Errhandler *handler)            \
    {                                                                                                                  \
        VMPI_ENTER("MPI_" #Kind "_create_errhandler");                                                                 \
        return create((void *)function, handler);                                                                      \
    }                                                                                                                  \
    int MPI_##Kind##_set_errhandler(Handle handle, MPI_Errhandler handler)                                             \
    {                                                                                                                  \
        VMPI_ENTER("MPI_" #Kind "_set_errhandler");                                                                    \
        return attach(object, handler);                                                                                \
    }                                                                                                                  \
    int MPI_##Kind##_get_errhandler(Handle handle, MPI_Errhandler *handler)                                            \
    {                                                                                                                  \
        VMPI_ENTER("MPI_" #Kind "_get_errhandler");                                                                    \
        return get(object, handler);                                                                                   \
    }                                                                                                                  \
    int MPI_##Kind##_call_errhandler(Handle handle, int code)                                                          \
    {                                                                                                                  \
        VMPI_ENTER("MPI_" #Kind "_call_errhandler");                                                                   \
        return call(object, code);                                                                                     \
    }
HANDLER_CALLS(Comm, MPI_Comm, vmpi_comm(handle))
HANDLER_CALLS(Win, MPI_Win, handle)

#undef MPI_Errhandler_set
#undef MPI_Errhandler_get
#undef MPI_Errhandler_create
int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler handler);
int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler handler)
{
    return MPI_Comm_set_errhandler(comm, handler);
}

int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *handler);
int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *handler)
{
    return MPI_Comm_get_errhandler(comm, handler);
}

int MPI_Errhandler_create(MPI_Comm_errhandler_function *function, MPI_Errhandler *handler);
int MPI_Errhandler_create(MPI_Comm_errhandler_function *function, MPI_Errhandler *handler)
{
    return MPI_Comm_create_errhandler(function, handler);
}

/* ---- codes: a class is a code; the program may add others ---- */

static struct {
    int class;
    char *text;
} *added;
static int added_used;

/* Texts by class, from MPI_SUCCESS. */
static const char *const texts[] = {
    "MPI_SUCCESS: no errors", "MPI_ERR_BUFFER: invalid buffer pointer", "MPI_ERR_COUNT: invalid count argument",
    "MPI_ERR_TYPE: invalid datatype", "MPI_ERR_TAG: invalid tag", "MPI_ERR_COMM: invalid communicator",
    "MPI_ERR_RANK: invalid rank", "MPI_ERR_REQUEST: invalid request", "MPI_ERR_ROOT: invalid root",
    "MPI_ERR_GROUP: invalid group", "MPI_ERR_OP: invalid reduce operation", "MPI_ERR_TOPOLOGY: invalid communicator topology",
    "MPI_ERR_DIMS: invalid topology dimension", "MPI_ERR_ARG: invalid argument of some other kind",
    "MPI_ERR_UNKNOWN: unknown error", "MPI_ERR_TRUNCATE: message truncated", "MPI_ERR_OTHER: known error not in list",
    "MPI_ERR_INTERN: internal error", "MPI_ERR_IN_STATUS: error code in status", "MPI_ERR_PENDING: pending request"};

int vmpi_last_code(void)
{
    return MPI_ERR_LASTCODE + added_used;
}

static int add(int class)
{
    added = vmpi_resize(added, (size_t)added_used + 1, sizeof *added);
    added[added_used].class = class ? class : vmpi_last_code() + 1;
    added[added_used++].text = NULL;
    return vmpi_last_code();
}

int MPI_Add_error_class(int *class)
{
    VMPI_ENTER("MPI_Add_error_class");
    *class = add(0);
    return MPI_SUCCESS;
}

int MPI_Add_error_code(int class, int *code)
{
    VMPI_ENTER("MPI_Add_error_code");
    *code = add(class);
    return MPI_SUCCESS;
}

int MPI_Add_error_string(int code, const char *text)
{
    VMPI_ENTER("MPI_Add_error_string");
    if (code <= MPI_ERR_LASTCODE || code > vmpi_last_code())
        vmpi_error(MPI_ERR_ARG, "code %d was not added by the program", code);
    free(added[code - MPI_ERR_LASTCODE - 1].text);
    added[code - MPI_ERR_LASTCODE - 1].text = strdup(text);
    return MPI_SUCCESS;
}

int MPI_Error_class(int code, int *class)
{
    *class = code > MPI_ERR_LASTCODE && code <= vmpi_last_code() ? added[code - MPI_ERR_LASTCODE - 1].class : code;
    return MPI_SUCCESS;
}

int MPI_Error_string(int code, char *text, int *length)
{
    const char *known = code >= 0 && code < (int)(sizeof texts / sizeof *texts) ? texts[code] : NULL;
    if (code > MPI_ERR_LASTCODE && code <= vmpi_last_code())
        known = added[code - MPI_ERR_LASTCODE - 1].text ? added[code - MPI_ERR_LASTCODE - 1].text : "";
    *length = known ? snprintf(text, MPI_MAX_ERROR_STRING, "%s", known)
                    : snprintf(text, MPI_MAX_ERROR_STRING, "MPI error class %d", code);
    return MPI_SUCCESS;
}
