/* The recorder: writes the MPI calls of a program on a real cluster as a trace (src/line.h), one file per rank.
 *
 *   calls.c ──► table.c: communicators and requests by handle
 *          └──► recorder.c: files, times, lines
 *
 * It defines MPI_x and calls PMPI_x, and needs MPI and the C library alone. */
#ifndef ODONATA_RECORDER_H
#define ODONATA_RECORDER_H

#include <mpi.h>
#include <stdint.h>

#include "../src/line.h"

/* ---- the trace (recorder.c) ---- */

extern FILE *recorder_file; /* NULL: nothing is written */
extern int recorder_rank;
extern int recorder_depth; /* calls of the program that are open: calls inside calls are not recorded */

void recorder_open(void);
void recorder_close(void);
/* The start of a call ends a computation; the end starts the next one. The time of the recorder is in neither. */
void recorder_enter(void);
void recorder_leave(const int *scope);
/* The place of a line, after the preceding computation. */
line_place recorder_place(int communicator);
/* A call that moves data and is not in the trace. The end of the run names it. */
void recorder_miss(const char *call);
/* Packed size. */
size_t recorder_bytes(MPI_Datatype type, MPI_Count count);
void *recorder_alloc(void *old, size_t count, size_t size);

/* ---- communicators (table.c) ---- */

typedef struct communicator {
    uint64_t handle;
    struct communicator *next;
    int number; /* in the trace; 0: the world, or one that has none */
    int named;  /* lines count ranks in it; otherwise ranks are the world's */
    int size, rank;
    int has_remote;  /* an inter-communicator */
    int *world;      /* not named: ranks of its peers in the world, MPI_UNDEFINED if they are not there */
    int peers;       /* their number */
    uint32_t begun;  /* nonblocking collectives so far */
    uint32_t duplicates; /* by MPI_Comm_idup so far */
    int freed, open; /* requests that still use it */
} communicator;

communicator *recorder_communicator(MPI_Comm comm);
/* A new communicator, or MPI_COMM_NULL for a rank that is not in it. `parent` NULL: not all its ranks took part. */
void recorder_created(communicator *parent, MPI_Comm made);
void recorder_freed(communicator *comm);
/* A rank of the communicator as lines name it; MPI_PROC_NULL: none of the trace. */
int recorder_peer(const communicator *comm, int rank);

/* ---- requests (table.c) ---- */

enum request_kind { NOTHING, SEND, RECEIVE, COLLECTIVE, NEIGHBOURS, DUPLICATE };

typedef struct request {
    uint64_t handle;
    struct request *next;
    enum request_kind kind;
    int persistent, active;
    communicator *comm;
    int peer, tag; /* as in lines */
    size_t bytes;
    uint32_t number;     /* of a collective, or of the new communicator */
    MPI_Comm *made;      /* it is known after the wait */
    int sources, others; /* neighbours; their ranks follow in one list */
    int *neighbour;
} request;

/* Several requests may have one handle: libraries share one handle for all sends that are complete at once. */
request *recorder_request(MPI_Request handle, enum request_kind kind, communicator *comm);
request *recorder_find(MPI_Request handle);
void recorder_forget(request *of);
/* The lines of a wait, if there are any, and the end of a request that is not persistent. */
void recorder_waited(request *of);

/* MPI_Comm_idup: it has a line now and a handle after the wait. */
void recorder_duplicate(MPI_Comm comm, MPI_Comm *made, MPI_Request handle);
void recorder_duplicated(const request *of);

/* The neighbours of the calling rank in a topology (neighbours.c): sources, then destinations. */
void recorder_find_neighbours(MPI_Comm comm, request *into);

/* ---- lines (messages.c) ---- */

void recorder_message(const char *action, MPI_Comm comm, int peer, int tag, size_t bytes);
void recorder_request_message(MPI_Request *handle, enum request_kind kind, MPI_Comm comm, int peer, int tag,
                              size_t bytes, int persistent);
void recorder_start(request *of);
int recorder_tag(int tag);

/* A wrapper: enters, calls the library, and records if this is a call of the program. */
#define CALL                                                                                                           \
    const int recorder_scope __attribute__((cleanup(recorder_leave), unused)) = 0;                                     \
    recorder_enter()
#define IS_RECORDED(error) ((error) == MPI_SUCCESS && recorder_file && recorder_depth == 1)

/* The library's function, and the second name of the wrapper: the Fortran bindings of Open MPI call PMPI_x. */
void *recorder_find_function(const char *name);
#define REAL(Name) REAL_OF(Name)
#define REAL_OF(Name)                                                                                                  \
    ({                                                                                                                 \
        static __typeof__(&MPI_##Name) function;                                                                       \
        if (!function)                                                                                                 \
            function = (__typeof__(&MPI_##Name))recorder_find_function("PMPI_" #Name);                                 \
        function;                                                                                                      \
    })
#define TWO_NAMES(Name) TWO_NAMES_OF(Name)
#define TWO_NAMES_OF(Name) extern __typeof__(MPI_##Name) PMPI_##Name __attribute__((alias("MPI_" #Name)));

/* Since MPI-4 a call with counts has a second form with large counts, MPI_Send_c. The files *_calls.h define both: they
 * are included once for each form, with FORM (the name), COUNT (the type of counts) and PLACE (of displacements). */
#define MPI_NAME(Name) JOIN(MPI_, FORM(Name))
#define JOIN(one, other) JOIN_OF(one, other)
#define JOIN_OF(one, other) one##other
#define STRING(Name) STRING_OF(Name)
#define STRING_OF(Name) #Name

#endif
