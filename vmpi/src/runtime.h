/* The inside of the virtual-ranks MPI: what its files share. Programs include mpi.h (and vmpi.h), never this.
 *
 * One process, one thread. A rank is a fiber; it runs until an MPI call cannot complete, then the scheduler continues
 * the rank that has been ready longest. A message is copied the moment it is sent: straight into the receive that
 * waits for it, or into a buffer. Nothing takes (simulated) time. The order of everything follows from the program
 * alone, so a run is repeatable to the byte. */
#ifndef VMPI_RUNTIME_H
#define VMPI_RUNTIME_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "fiber.h"

/* ---- ranks and scheduling (scheduler.c) ---- */

enum rank_state { RANK_READY, RANK_BLOCKED, RANK_POLLING, RANK_FINISHED };

typedef struct vmpi_rank {
    int world; /* rank in MPI_COMM_WORLD */
    enum rank_state state;
    fiber *fiber;
    struct vmpi_rank *next_ready;
    const char *call;    /* the MPI call the rank is in, for messages to the user */
    char detail[96];     /* what that call waits for */
    int outstanding;     /* requests the rank waits for before it can go on */
    int probing;         /* suspended in MPI_Probe: any arrival is worth a look */
    int failed_polls;    /* unsuccessful tests and probes since something last arrived for the rank */
    uint16_t phase;
    uint8_t recording;
    uint8_t initialised;
    uint8_t finalised;
    void *slot; /* vmpi_rank_slot */
    void *attached; /* MPI_Buffer_attach */
    int depth;                   /* MPI calls the rank is in, one inside the other */
    int quiet;                   /* above 0: calls are parts of one that is traced */
    int64_t left_ns, worked_ns;  /* processor time: at the end of its last call, and since the last line of the trace */
    struct message *arrived_first, *arrived_last; /* messages that nobody has received yet (match.c) */
    struct ompi_communicator_t *self;
} vmpi_rank;

extern vmpi_rank *vmpi_current; /* the rank whose fiber runs */
extern int vmpi_world_size;

vmpi_rank *vmpi_rank_at(int world);
/* Creates the ranks and runs them to the end. Returns the largest exit status of the program's main. */
int vmpi_schedule(int ranks, size_t stack_bytes, int argc, char **argv);
/* Suspends the calling rank until vmpi_wake. */
void vmpi_block(void);
/* Lets others run after an unsuccessful test or probe. */
void vmpi_poll(void);
/* Makes a suspended rank ready; no effect on one that is ready. Counts as progress for the deadlock watch. */
void vmpi_wake(vmpi_rank *rank);

/* The process: reads vmpi's own options and runs the ranks (start.c). */
int vmpi_start(int argc, char **argv);
/* Ranks that share a node, as the user says; what MPI_Comm_split_type goes by. */
extern int vmpi_per_node;

/* Ends the process with "vmpi: rank R in CALL: ..." on standard error and exit status 70. */
void vmpi_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* What every MPI function that vmpi lacks does: ends the process with the function's name. */
void vmpi_unsupported(const char *call) __attribute__((noreturn));
/* calloc that ends the process when memory runs out. */
void *vmpi_alloc(size_t count, size_t bytes);

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
};

/* MPI_2INT, MPI_DOUBLE_INT, MPI_FLOAT_INT. */
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
    int *extent;      /* ranks along each */
    int *periodic;
    int arrived;      /* ranks inside the current collective */
    vmpi_arrival *at; /* what each of them called with */
};

void vmpi_communicators_start(int ranks);
/* The real communicator behind a handle (MPI_COMM_SELF stands for one of the calling rank's own). */
MPI_Comm vmpi_comm(MPI_Comm handle);
int vmpi_comm_rank_of(MPI_Comm comm, int world);
int vmpi_comm_world_of(MPI_Comm comm, int rank);
/* A communicator of `size` ranks; takes ownership of `world`. */
MPI_Comm vmpi_comm_create(int size, int *world);

/* ---- collectives (collective.c) ---- */

struct vmpi_arrival {
    const char *call;
    const void *send;
    void *receive;
    int send_count, receive_count;
    MPI_Datatype send_type, receive_type;
    const int *counts, *displacements;
    const int *send_counts, *send_displacements; /* where both sides have some */
    MPI_Op op;
    int root;
    int color, key;       /* MPI_Comm_split */
    MPI_Group group;      /* MPI_Comm_create */
    MPI_Comm communicator; /* result of the calls that make communicators */
};

/* Waits until every rank of `comm` is here with the same call; the last one runs `action` for all of them, which finds
 * their arguments in comm->at. */
void vmpi_meet(MPI_Comm comm, vmpi_arrival *mine, void (*action)(MPI_Comm));

/* Meets, and records what this rank contributes. */
int vmpi_exchange(vmpi_arrival mine, MPI_Comm handle, size_t bytes, void (*action)(MPI_Comm));
/* Copies packed data between two ranks' buffers of possibly different types. */
void vmpi_move(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count, MPI_Datatype to_type);
void *vmpi_at(void *buffer, ptrdiff_t elements, MPI_Datatype type);
/* Combines ranks 0 to `last` into a fresh buffer, in rank order. */
void *vmpi_combine(MPI_Comm comm, int last);

/* ---- point to point (request.c, match.c) ---- */

enum request_kind { REQUEST_SEND, REQUEST_RECEIVE };

struct ompi_request_t {
    enum request_kind kind;
    int done;
    int awaited; /* its owner is suspended until it is done */
    int persistent;
    int active;
    vmpi_rank *owner;
    MPI_Comm comm;
    int peer; /* rank in comm, or MPI_ANY_SOURCE */
    int tag;
    void *buffer;
    int count;
    MPI_Datatype type;
    MPI_Status status;
    uint64_t posted;             /* order of posting, to choose between an exact and an any-source receive */
    struct ompi_request_t *next; /* in its match queue */
};

/* Sends now: into a posted receive if one matches, else into a buffer of the receiver. */
void vmpi_deliver(MPI_Comm comm, int destination, int tag, const void *buffer, int count, MPI_Datatype type);
/* Completes the receive from what has already arrived, or posts it. */
void vmpi_post(MPI_Request receive);
/* Whether a message waits; fills `status`. */
int vmpi_peek(MPI_Comm comm, int source, int tag, MPI_Status *status);
void vmpi_complete(MPI_Request request, int source, int tag, size_t bytes);

/* ---- the trace (trace.c): nothing happens unless one is open ---- */

void vmpi_trace_open(const char *path);
void vmpi_trace_close(void);
/* The rank is in a call of MPI, or leaves it: what it computes between two is timed. */
void vmpi_trace_entered(void);
void vmpi_trace_left(const int *scope);
void vmpi_trace_plain(const char *action);
void vmpi_trace_message(const char *action, MPI_Comm comm, int peer, int tag, size_t bytes);
void vmpi_trace_sendrecv(MPI_Comm comm, int to, size_t sent, int from, size_t received);
void vmpi_trace_wait(MPI_Request request);
void vmpi_trace_collective(const vmpi_arrival *arrival, MPI_Comm comm);

/* ---- the record (record.c) ---- */

void vmpi_record_open(const char *path, int ranks);
void vmpi_record_message(int source, int destination, size_t bytes, int communicator);
void vmpi_record_collective(const char *call, int communicator, int size, size_t bytes);
void vmpi_record_close(void);

#endif
