/* Internal declarations of the virtual-ranks MPI. Programs include mpi.h (and vmpi.h), never this file.
 *
 * There is one process with one thread. A rank is a fiber. It runs until an MPI call cannot complete; then the scheduler
 * continues the rank that has been ready longest. A message is copied when it is sent: into the waiting receive, or into
 * a buffer. Nothing takes (simulated) time. The program alone determines all order, so a run is repeatable to the byte. */
#ifndef VMPI_RUNTIME_H
#define VMPI_RUNTIME_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "fiber.h"

/* ---- ranks and scheduling (scheduler.c) ---- */

enum rank_state { RANK_READY, RANK_BLOCKED, RANK_POLLING, RANK_SLEEPING, RANK_FINISHED };

typedef struct {
    void *caught;
    unsigned uncaught;
} vmpi_exceptions;

typedef struct vmpi_rank {
    int world; /* rank in MPI_COMM_WORLD */
    enum rank_state state;
    fiber *fiber;
    struct vmpi_rank *next_ready;
    const char *call;    /* the MPI call the rank is in, for messages to the user */
    char detail[96];     /* what that call waits for */
    int outstanding;     /* requests that the rank waits for */
    int probing;         /* suspended in MPI_Probe: every arrival wakes the rank */
    int failed_polls;    /* unsuccessful tests and probes since the last arrival */
    int64_t wake_ns;     /* of a sleeping rank */
    vmpi_exceptions exceptions;
    int has_environment; /* a list of variables of its own (process.c) */
    uint16_t phase;
    uint8_t recording;
    uint8_t initialised;
    uint8_t finalised;
    int threads;     /* level of MPI_Init_thread */
    void *slot; /* vmpi_rank_slot */
    void *attached; /* MPI_Buffer_attach */
    void *attributes; /* names and attributes of communicators (handles.c) */
    int depth;                   /* depth of nested MPI calls */
    int quiet;                   /* above 0: calls are parts of one that is traced */
    int64_t left_ns, worked_ns;  /* processor time: at the end of its last call, and since the last line of the trace */
    char *image;                 /* saved global variables (globals.c) */
    struct vmpi_exit *exits;     /* functions to run when it ends */
    struct message *arrived_first, *arrived_last; /* messages not received yet (match.c) */
    struct ompi_communicator_t *self;
} vmpi_rank;

extern vmpi_rank *vmpi_current; /* the rank whose fiber runs */
extern int vmpi_world_size;

vmpi_rank *vmpi_rank_at(int world);
/* Creates the ranks and runs them to the end. Returns the largest exit status of the program's mains. */
int vmpi_schedule(int ranks, size_t stack_bytes, int argc, char **argv);
/* Suspends the calling rank until vmpi_wake. */
void vmpi_block(void);
/* Suspends it for so long. */
void vmpi_sleep(int64_t ns);
/* Ends the calling rank; others go on. `how` is the function that ended it. */
void vmpi_end_rank(int status, const char *how, int destruct) __attribute__((noreturn));
/* Lets others run after an unsuccessful test or probe. */
void vmpi_poll(void);
/* Makes a suspended rank ready; no effect on a ready one. Counts as progress for deadlock detection. */
void vmpi_wake(vmpi_rank *rank);

/* The process: reads vmpi's options and runs the ranks (start.c). */
int vmpi_start(int argc, char **argv);
/* Ranks per node, from the user; used by MPI_Comm_split_type. */
extern int vmpi_per_node;

/* The C library's functions that concern the process (process.c). Ends it: all that was printed and traced is kept. */
void vmpi_stop(int status) __attribute__((noreturn));
/* From now on faults are reported with rank and call. */
void vmpi_process_start(size_t stack_bytes);
int64_t vmpi_now_ns(void);
/* Ends the process with "vmpi: rank R in CALL: ..." on standard error and exit status 70. */
void vmpi_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* Stub of every MPI function that vmpi lacks: ends the process with its name and the line of the call. */
void vmpi_unsupported(const char *call, void *where) __attribute__((noreturn));
/* calloc that ends the process if memory runs out. */
void *vmpi_alloc(size_t count, size_t bytes);
void *vmpi_resize(void *old, size_t count, size_t bytes);

/* Notes the call for messages and checks that the rank is between MPI_Init and MPI_Finalize. */
#define VMPI_ENTER(name)                                                                                               \
    vmpi_enter(name);                                                                                                  \
    const int vmpi_scope __attribute__((cleanup(vmpi_trace_left), unused)) = 0
void vmpi_enter(const char *call);

/* ---- data types (datatype.c) ---- */

typedef struct {
    ptrdiff_t offset;
    size_t bytes;
} vmpi_block_of_type;

/* A type is a list of byte blocks repeated every `extent` bytes. `element` names a basic type's C type for reductions. */
struct ompi_datatype_t {
    size_t size;
    ptrdiff_t extent;
    int blocks;
    vmpi_block_of_type *block;
    int element;
    int basic;
    ptrdiff_t alignment;
    ptrdiff_t lower; /* start of the extent */
    int bounded;     /* for a type under construction: it is not empty */
};

/* MPI_2INT, MPI_DOUBLE_INT and similar types. */
typedef struct {
    int value, place;
} vmpi_two_ints;
typedef struct {
    double value;
    int place;
} vmpi_double_int;
typedef struct {
    float value;
    int place;
} vmpi_float_int;
typedef struct {
    short value;
    int place;
} vmpi_short_int;
typedef struct {
    long value;
    int place;
} vmpi_long_int;
typedef struct {
    long double value;
    int place;
} vmpi_long_double_int;
typedef struct {
    float value, place;
} vmpi_two_floats;
typedef struct {
    double value, place;
} vmpi_two_doubles;

size_t vmpi_packed_bytes(MPI_Datatype type, int count);
int vmpi_is_contiguous(MPI_Datatype type);
void vmpi_pack(const void *buffer, int count, MPI_Datatype type, void *packed);
/* Copies at most `bytes` packed bytes into the buffer. */
void vmpi_unpack(const void *packed, size_t bytes, void *buffer, MPI_Datatype type);

/* ---- reductions (reduce.c) ---- */

/* inout = in op inout, element by element, for packed data. */
void vmpi_reduce(MPI_Op op, MPI_Datatype type, int count, void *in, void *inout);

/* ---- communicators (communicator.c) ---- */

typedef struct vmpi_arrival vmpi_arrival;

struct ompi_group_t {
    int size;
    int *world;
};

struct ompi_communicator_t {
    int id; /* 0 = world; unique over the run */
    int size;
    int references;
    int *world;       /* rank here -> rank in the world; NULL: the same */
    int *rank_of;     /* rank in the world -> rank here or -1; NULL: the same */
    int dimensions;   /* of its Cartesian topology; 0: it has none */
    int *extent;      /* ranks along each dimension */
    int *periodic;
    struct vmpi_edges *edges; /* edges of its graph topology, per rank; NULL: none */
    int graph;        /* MPI_GRAPH or MPI_DIST_GRAPH */
    int arrived;      /* ranks inside the current collective */
    vmpi_arrival *at; /* arguments of each rank */
    struct vmpi_meeting *open; /* nonblocking collectives with missing ranks */
    uint32_t *begun;  /* number of those that each rank has started; NULL: none */
};

void vmpi_communicators_start(int ranks);
/* The communicator behind a handle (MPI_COMM_SELF stands for one of the calling rank). */
MPI_Comm vmpi_comm(MPI_Comm handle);
int vmpi_comm_rank_of(MPI_Comm comm, int world);
int vmpi_comm_world_of(MPI_Comm comm, int rank);
/* A new list of its ranks in the world. */
int *vmpi_comm_members(MPI_Comm comm);
void vmpi_attributes_copy(MPI_Comm from, MPI_Comm to);
void vmpi_attributes_free(MPI_Comm comm);
/* A communicator of `size` ranks; takes ownership of `world`. */
MPI_Comm vmpi_comm_create(int size, int *world);

/* The sources and destinations of a rank in a topology, in its order (cartesian.c, neighbours.c). */
typedef struct vmpi_edges {
    int sources, destinations;
    int *source, *destination;
    int *source_weight, *destination_weight; /* NULL: none were given */
} vmpi_edges;

/* The rank `steps` from `rank` along a dimension; MPI_PROC_NULL outside. */
int vmpi_cart_neighbour(MPI_Comm comm, int rank, int dimension, int steps);
/* MPI_Dims_create like which MPI. */
void vmpi_dims_choose(const char *like);
void vmpi_edges_free(MPI_Comm comm);
void vmpi_topology_copy(MPI_Comm from, MPI_Comm to);

/* ---- collectives (meet.c; rooted.c, alltoall.c, reduction.c, neighbours.c) ---- */

struct vmpi_arrival {
    const char *call;
    const char *action; /* name in the trace; NULL: it moves no data */
    const void *send;
    void *receive;
    int send_count, receive_count;
    MPI_Datatype send_type, receive_type;
    const int *counts, *displacements;
    const int *send_counts, *send_displacements; /* if both sides have them */
    const MPI_Datatype *send_types, *receive_types; /* MPI_Alltoallw */
    const MPI_Aint *send_offsets, *offsets;         /* MPI_Neighbor_alltoallw: displacements */
    int one_block;        /* MPI_Neighbor_allgather: same block for all */
    MPI_Op op;
    int root;
    int color, key;       /* MPI_Comm_split */
    MPI_Group group;      /* MPI_Comm_create */
    MPI_Comm communicator; /* result of the calls that make communicators */
    MPI_Request request;   /* of a nonblocking call */
};

/* Waits until every rank of `comm` has made the same call. The last one runs `action` for all of them, with their
 * arguments in comm->at. */
void vmpi_meet(MPI_Comm comm, vmpi_arrival *mine, void (*action)(MPI_Comm));

/* Records and traces the contribution of this rank, and joins the collective; with a request it does not wait. */
int vmpi_exchange(vmpi_arrival mine, MPI_Comm handle, size_t bytes, void (*action)(MPI_Comm), MPI_Request *request);
/* A piece of a rank's buffer. */
typedef struct {
    void *at;
    int count;
    MPI_Datatype type;
} vmpi_part;
/* Copies packed data between two ranks' buffers of possibly different types. */
void vmpi_move(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count, MPI_Datatype to_type);
void *vmpi_at(void *buffer, ptrdiff_t elements, MPI_Datatype type);
/* Gathers the data of all ranks into `to`, with given or uniform counts and displacements (elements). */
void vmpi_gather_into(MPI_Comm comm, vmpi_arrival *to);
/* The block for or from a rank (or along an edge): one size for all, one per rank, or a type per rank. */
vmpi_part vmpi_sent_to(const vmpi_arrival *arrival, int peer);
vmpi_part vmpi_received_from(const vmpi_arrival *arrival, int peer);
/* The data of a rank that sends one block. */
size_t vmpi_bytes_sent(const vmpi_arrival *arrival);

/* ---- point to point (request.c, match.c) ---- */

enum request_kind { REQUEST_SEND, REQUEST_RECEIVE, REQUEST_COLLECTIVE };

struct ompi_request_t {
    enum request_kind kind;
    int done;
    int awaited; /* its owner is suspended until it is done */
    int persistent;
    int active;
    vmpi_rank *owner;
    MPI_Comm comm;
    const char *call; /* of a collective */
    int peer; /* rank in comm, or MPI_ANY_SOURCE */
    int tag;
    void *buffer;
    int count;
    MPI_Datatype type;
    MPI_Status status;
    uint64_t posted;             /* order of posting, to choose between an exact and an any-source receive */
    struct ompi_request_t *next; /* in its match queue */
};

/* Sends now: into a matching posted receive, else into a buffer of the receiver. */
void vmpi_deliver(MPI_Comm comm, int destination, int tag, const void *buffer, int count, MPI_Datatype type);
/* Completes the receive from an arrived message, or posts it. */
void vmpi_post(MPI_Request receive);
/* Whether a message waits; fills `status`. */
int vmpi_peek(MPI_Comm comm, int source, int tag, MPI_Status *status);
void vmpi_complete(MPI_Request request, int source, int tag, size_t bytes);

/* ---- global variables (globals.c): no effect unless they are private to each rank ---- */

void vmpi_globals_capture(void (*run_constructors)(void));
/* Ends the run if the variables of so many ranks do not fit into memory. */
void vmpi_globals_check(int ranks);
/* Puts the rank's variables in place; runs constructors and later destructors of its static objects; discards them. */
void vmpi_globals_enter(vmpi_rank *rank);
void vmpi_globals_construct(void);
void vmpi_globals_destruct(void);
void vmpi_globals_leave(vmpi_rank *rank);
int vmpi_at_exit(void (*function)(void *), void *argument);
/* Current address of a rank's byte; the same for all buffers of an arrival. */
void *vmpi_address(const vmpi_rank *rank, const void *address);
void vmpi_addresses(vmpi_arrival *arrival, const vmpi_rank *rank);
void vmpi_check_bottom(const void *buffer, size_t bytes);

/* ---- the trace (trace.c): no effect unless one is open ---- */

void vmpi_trace_open(const char *path);
void vmpi_trace_close(void);
int vmpi_trace_is_open(void);
/* The rank enters or leaves an MPI call; the computation between two calls is timed. */
void vmpi_trace_entered(void);
void vmpi_trace_left(const int *scope);
void vmpi_trace_plain(const char *action);
void vmpi_trace_message(const char *action, MPI_Comm comm, int peer, int tag, size_t bytes);
void vmpi_trace_sendrecv(MPI_Comm comm, int to, size_t sent, int from, size_t received);
void vmpi_trace_wait(MPI_Request request);
/* Starts a message of a neighbourhood collective, or waits for it. */
void vmpi_trace_neighbour(MPI_Comm comm, int peer, int receives, int wait, size_t bytes);
/* A rank is in a new communicator, or in none of the split (NULL). */
void vmpi_trace_split(int world, MPI_Comm parent, MPI_Comm made);
void vmpi_trace_free(MPI_Comm comm);
void vmpi_trace_collective(const vmpi_arrival *arrival, MPI_Comm comm);

/* ---- the record (record.c) ---- */

void vmpi_record_open(const char *path, int ranks);
void vmpi_record_message(int source, int destination, size_t bytes, int communicator);
void vmpi_record_collective(const char *call, int communicator, int size, size_t bytes);
void vmpi_record_close(void);

#endif
