/* Internal declarations of the virtual-ranks MPI. Programs include mpi.h (and vmpi.h), never this file.
 *
 * There is one process with one thread. A rank is a fiber. It runs until an MPI call cannot complete; then the scheduler
 * continues the rank that has been ready longest. A message is copied when it is sent: into the waiting receive, or into
 * a buffer. Nothing takes (simulated) time. The program alone determines all order, so a run is repeatable to the byte. */
#ifndef VMPI_RUNTIME_H
#define VMPI_RUNTIME_H

#include <mpi.h>
#include <setjmp.h>
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
    MPI_Win awaits_window; /* a change of which continues it */
    vmpi_exceptions exceptions;
    void *object;        /* communicator or window that the call concerns; NULL: none */
    int catches;         /* it has set an error handler that returns */
    int error, last_code;
    jmp_buf escape;      /* out of the outermost call, when it catches */
    int has_environment; /* a list of variables of its own (process.c) */
    uint16_t phase, step;
    uint8_t recording;
    uint8_t initialised;
    uint8_t finalised;
    int threads;     /* level of MPI_Init_thread */
    void *slot; /* vmpi_rank_slot */
    void *attached; /* MPI_Buffer_attach */
    void *attributes; /* names and attributes of communicators (handles.c) */
    int depth;                   /* depth of nested MPI calls */
    int quiet;                   /* above 0: calls are parts of one that is traced */
    char *held;                  /* line of the blocking call that it is in, not in the trace yet (trace.c) */
    uint32_t posts;              /* lines isend and irecv in the trace */
    int64_t left_ns, worked_ns;  /* processor time: when it was last read, and since the last line of the trace */
    char *image;                 /* saved global variables (globals.c) */
    int *random;                 /* state of Fortran's random numbers (random.c) */
    struct vmpi_exit *exits;     /* functions to run when it ends */
    struct message *arrived_first, *arrived_last; /* messages not received yet (match.c) */
    struct ompi_communicator_t *self;
    struct ompi_communicator_t *made; /* for it, by the last of some ranks that meet without a common communicator */
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
/* The same again, for Fortran: its library has handlers of its own. */
void vmpi_watch_faults(void);
int64_t vmpi_now_ns(void);
/* Ends the process with "vmpi: rank R in CALL: ..." on standard error and exit status 70. */
void vmpi_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* A mistake of the program in the call's arguments: to the error handler of the communicator or window that the call
 * concerns. With MPI_ERRORS_RETURN the outermost call returns `code`; else as vmpi_fail. */
void vmpi_error(int code, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
/* The error handler of an object, NULL: none was set; the largest code so far (errors.c). */
void *vmpi_handler_of(const void *object);
void vmpi_handler_set(const void *object, void *handler);
int vmpi_last_code(void);
/* Stub of every MPI function that vmpi lacks: ends the process with its name and the line of the call. */
void vmpi_unsupported(const char *call, void *where) __attribute__((noreturn));
/* calloc that ends the process if memory runs out. */
void *vmpi_alloc(size_t count, size_t bytes);
void *vmpi_resize(void *old, size_t count, size_t bytes);

/* Notes the call for messages and checks that the rank is between MPI_Init and MPI_Finalize. */
#define VMPI_ENTER(name)                                                                                               \
    vmpi_enter(name);                                                                                                  \
    const int vmpi_scope __attribute__((cleanup(vmpi_trace_left), unused)) = 0;                                        \
    if (vmpi_current->catches && vmpi_current->depth == 1 && setjmp(vmpi_current->escape))                             \
    return vmpi_current->error
void vmpi_enter(const char *call);

/* ---- data types (datatype.c) ---- */

/* `count` copies, `stride` bytes apart: of a type, or of so many bytes (`of` is NULL). */
typedef struct {
    ptrdiff_t offset, stride;
    size_t count, bytes;
    MPI_Datatype of;
} vmpi_piece;

/* A type is a description: pieces in order, repeated every `extent` bytes. Its size in memory follows the constructor's
 * arguments, not the data. */
struct ompi_datatype_t {
    size_t size;
    ptrdiff_t lower, extent;
    ptrdiff_t true_lower, true_extent; /* of its bytes alone */
    int pieces, room;
    vmpi_piece *piece;
    int element; /* a basic type's C type, for reductions */
    int basic;
    ptrdiff_t alignment;
    int bounded;       /* it is not empty */
    int marked;        /* a bound was set by MPI_LB (1) or MPI_UB (2) */
    MPI_Datatype only; /* the basic type of all elements; NULL: several or none */
    size_t elements;   /* basic elements */
    int references;    /* the program's handle, requests, types made from it */
    const char *name;  /* of a basic type */
    struct vmpi_recipe *recipe; /* how the program made it (envelope.c) */
};

/* A type in use lives on when its handle is freed. */
void vmpi_type_hold(MPI_Datatype type);
void vmpi_type_drop(MPI_Datatype type);
/* Notes the constructor's arguments: `numbers` and `types` are copied. */
void vmpi_recipe_set(MPI_Datatype type, int combiner, int numbers, const int *number, int addresses, const MPI_Aint *address,
                     int types, const MPI_Datatype *old);
void vmpi_recipe_free(MPI_Datatype type);
/* Basic elements in the first `*bytes` packed bytes; what is left over remains in `*bytes`. */
size_t vmpi_elements_in(MPI_Datatype type, size_t *bytes);

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

/* An operation in use lives on when its handle is freed. */
void vmpi_op_hold(MPI_Op op);
void vmpi_op_drop(MPI_Op op);
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
    int references;   /* ranks that use it */
    int *held;        /* per rank: its handle and its requests */
    int unnamed;      /* a trace has no communicator for it: its messages are traced as messages of the world */
    MPI_Comm remote;  /* the other side of an inter-communicator, with the same number; NULL: it is none */
    MPI_Comm both;    /* of an inter-communicator: the ranks of both sides, which meet there */
    MPI_Comm side[2]; /* of `both`: the sides */
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
    uint32_t *traced; /* number of those that are in the trace of each rank; NULL: none */
};

void vmpi_communicators_start(int ranks);
/* The communicator behind a handle (MPI_COMM_SELF stands for one of the calling rank). */
MPI_Comm vmpi_comm(MPI_Comm handle);
int vmpi_comm_rank_of(MPI_Comm comm, int world);
int vmpi_comm_world_of(MPI_Comm comm, int rank);
/* Ranks that messages can go to, and their ranks in the world: of the remote side, if there is one. */
int vmpi_peers(MPI_Comm comm);
int vmpi_peer_world(MPI_Comm comm, int peer);
/* Keeps it for a request of the calling rank, and no longer. */
void vmpi_comm_hold(MPI_Comm comm);
void vmpi_comm_drop(MPI_Comm comm, vmpi_rank *rank);
/* A new list of its ranks in the world. */
int *vmpi_comm_members(MPI_Comm comm);
/* Attributes, name and error handler of a communicator, type or window, for the calling rank. */
void vmpi_attributes_copy(const void *from, const void *to);
void vmpi_attributes_free(const void *object);
/* Whether it is a predefined attribute of a window. */
int vmpi_window_attribute(MPI_Win window, int key, void **value);
/* A communicator of `size` ranks; takes ownership of `world`. */
MPI_Comm vmpi_comm_create(int size, int *world);

void vmpi_comm_free(MPI_Comm comm);
/* For a meeting of both sides of an inter-communicator: gives each rank its new communicator (intercommunicator.c). */
void vmpi_inter_duplicate(MPI_Comm both);
void vmpi_inter_split(MPI_Comm both);
void vmpi_inter_create(MPI_Comm both);
void vmpi_inter_compare(MPI_Comm a, MPI_Comm b, int *result);

/* The sources and destinations of a rank in a topology, in its order (cartesian.c, neighbours.c). */
typedef struct vmpi_edges {
    int sources, destinations;
    int *source, *destination;
    int *source_weight, *destination_weight; /* NULL: none were given */
    int weighted;
} vmpi_edges;

/* The rank `steps` from `rank` along a dimension; MPI_PROC_NULL outside. */
int vmpi_cart_neighbour(MPI_Comm comm, int rank, int dimension, int steps);
/* MPI_Dims_create like which MPI. */
void vmpi_dims_choose(const char *like);
void vmpi_edges_free(MPI_Comm comm);
/* Neighbours of the calling rank. */
int vmpi_sources(MPI_Comm comm);
int vmpi_destinations(MPI_Comm comm);
void vmpi_topology_copy(MPI_Comm from, MPI_Comm to);

/* ---- collectives (meet.c; rooted.c, alltoall.c, reduction.c, neighbours.c) ---- */

/* The ranks whose data moves in a collective: all to all, or one side of an inter-communicator to the other. */
typedef struct {
    MPI_Comm comm;
    vmpi_arrival *from, *to;
    int senders, receivers;
    int inter;
} vmpi_sides;

struct vmpi_arrival {
    const char *call;
    void (*move)(const vmpi_sides *); /* moves the data when all have arrived */
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
    int color, key, tag;  /* MPI_Comm_split, MPI_Intercomm_create */
    MPI_Group group;      /* MPI_Comm_create */
    MPI_Comm communicator; /* result of the calls that make communicators */
    MPI_Request request;   /* of a nonblocking call */
    MPI_Datatype *held_types; /* copies of its lists of types */
};

/* Waits until every rank of `comm` has made the same call. The last one runs `action` for all of them, with their
 * arguments in comm->at. */
void vmpi_meet(MPI_Comm comm, vmpi_arrival *mine, void (*action)(MPI_Comm));

/* Records and traces the contribution of this rank, and joins the collective; with a request it does not wait. */
int vmpi_exchange(vmpi_arrival mine, MPI_Comm handle, size_t bytes, void (*move)(const vmpi_sides *), MPI_Request *request);
/* The root among the senders or receivers of these sides; NULL: it is not there. */
vmpi_arrival *vmpi_root_in(const vmpi_sides *sides, vmpi_arrival *list, int count);
/* As vmpi_exchange, for calls that make communicators. */
int vmpi_begin(vmpi_arrival mine, MPI_Comm handle, void (*action)(MPI_Comm), MPI_Request *request);
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
void vmpi_gather_into(const vmpi_sides *sides, vmpi_arrival *to);
/* The block for or from a rank (or along an edge): one size for all, one per rank, or a type per rank. */
vmpi_part vmpi_sent_to(const vmpi_arrival *arrival, int peer);
vmpi_part vmpi_received_from(const vmpi_arrival *arrival, int peer);
/* The data of a rank that sends one block. */
size_t vmpi_bytes_sent(const vmpi_arrival *arrival);

/* ---- point to point (request.c, match.c) ---- */

enum request_kind { REQUEST_SEND, REQUEST_RECEIVE, REQUEST_COLLECTIVE, REQUEST_GENERAL };

struct ompi_request_t {
    enum request_kind kind;
    int done;
    int awaited; /* its owner is suspended until it is done */
    int persistent;
    int active;
    int orphan; /* the program has freed it; it frees itself when it is done */
    struct message *sent; /* of a send, while it is not received */
    struct vmpi_general *general; /* of a generalized request */
    vmpi_rank *owner;
    MPI_Comm comm;
    const char *call; /* of a collective */
    uint32_t traced;  /* its number among collectives of the communicator, or messages, in the trace of its owner; 0: none */
    int neighbours;   /* in the trace, it is messages between neighbours */
    int peer; /* rank in comm, or MPI_ANY_SOURCE */
    int tag;
    void *buffer;
    int count;
    MPI_Datatype type;
    MPI_Status status;
    uint64_t posted;             /* order of posting, to choose between an exact and an any-source receive */
    struct ompi_request_t *next; /* in its match queue */
};

/* A request of the calling rank; it keeps its communicator and type. */
MPI_Request vmpi_request(enum request_kind kind, MPI_Comm comm, MPI_Datatype type);
void vmpi_request_start(MPI_Request request);
void vmpi_wait(MPI_Request *request, MPI_Status *status);
/* The rank's detail: the message it waits for, and `more` others. */
void vmpi_describe_message(int source, int tag, MPI_Comm comm, int more);
void vmpi_general_query(MPI_Request request);
void vmpi_general_free(MPI_Request request);
void vmpi_general_cancel(MPI_Request request);
/* Sends now: into a matching posted receive, else into a buffer of the receiver. */
struct message *vmpi_deliver(MPI_Comm comm, int destination, int tag, const void *buffer, int count, MPI_Datatype type);
/* Its message can no longer be cancelled. */
void vmpi_forget_send(MPI_Request send);
/* The request to which the message's withdrawal belongs. */
void vmpi_deliver_for(MPI_Request send);
/* Completes the receive from an arrived message, or posts it. */
void vmpi_post(MPI_Request receive);
/* Takes back a posted receive. */
void vmpi_withdraw(MPI_Request receive);
/* Takes back the message of a send; returns whether it had not been received. */
int vmpi_withdraw_sent(MPI_Request send);
/* Removes the first message of that sender and tag; completes a receive with it. */
struct message *vmpi_take(MPI_Comm comm, int source, int tag);
void vmpi_receive_taken(MPI_Request receive, struct message *message);
/* Whether a message waits; fills `status`. */
int vmpi_peek(MPI_Comm comm, int source, int tag, MPI_Status *status);
void vmpi_complete(MPI_Request request, int source, int tag, size_t bytes);

/* ---- global variables (globals.c): no effect unless they are private to each rank ---- */

void vmpi_globals_capture(void (*run_constructors)(void));
/* Makes room for the variables of so many ranks, or ends the run if they do not fit into memory. */
void vmpi_globals_start(int ranks);
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
/* The phase of the rank changes. */
void vmpi_trace_phase_ends(void);
void vmpi_trace_plain(const char *action);
/* A line that a replay skips: where the program is, or which of several paths a call takes. */
void vmpi_trace_note(const char *note);
uint32_t vmpi_trace_message(const char *action, MPI_Comm comm, int peer, int tag, size_t bytes);
/* A message that is cancelled leaves the trace. */
void vmpi_trace_cancel(MPI_Request request);
void vmpi_trace_sendrecv(MPI_Comm comm, int to, size_t sent, int from, size_t received);
void vmpi_trace_wait(MPI_Request request);
/* Starts a message of a neighbourhood collective, or waits for it. */
void vmpi_trace_neighbour(MPI_Comm comm, int peer, int receives, size_t bytes);
void vmpi_trace_neighbour_wait(MPI_Comm comm, vmpi_rank *rank, int peer, int receives);
void vmpi_neighbours_trace_waits(MPI_Comm comm, vmpi_rank *owner);
/* A transfer is a message from one rank of a communicator to another, which both wait for later. */
void vmpi_trace_one_sided(MPI_Comm comm, int from, int to, size_t bytes);
void vmpi_trace_one_sided_wait(MPI_Comm comm, int peer, int receives);
/* A rank is in a new communicator, or in none of the split (NULL). */
void vmpi_trace_split(int world, MPI_Comm parent, MPI_Comm made);
void vmpi_trace_free(MPI_Comm comm);
uint32_t vmpi_trace_collective(const vmpi_arrival *arrival, MPI_Comm comm, int nonblocking);

/* ---- the record (record.c) ---- */

void vmpi_record_open(const char *path, int ranks);
void vmpi_record_message(int source, int destination, size_t bytes);
int vmpi_record_is_open(void);
/* Processor time of a rank in its phase. */
void vmpi_record_work(const vmpi_rank *rank, int64_t ns);
void vmpi_record_collective(const char *call, int communicator, int size, size_t bytes);
void vmpi_record_close(void);

#endif
