/* Lines of a trace: SimGrid's time-independent format, with communicators and nonblocking collectives. The
 * virtual-ranks MPI (trace.c) and the recorder for real clusters (recorder/) write them.
 *
 *   RANK ACTION ARGUMENTS [on COMMUNICATOR]
 *
 * Communicators extend SimGrid's format. `comm_split NEW RANKS KEY` creates communicator NEW (a unique number) of RANKS
 * ranks, in which this rank is KEY. A rank that is in no new communicator has `comm_split 0 0 0`. `comm_free` frees.
 * Lines that end with `on NUMBER`, also of these calls, belong to that communicator and count ranks in it; all other
 * lines belong to the world. `wait N` waits for the rank's Nth nonblocking collective of the communicator, from 0.
 * Amounts are bytes with type number 2 (one byte). `compute N` means N nanoseconds. A trace counts operations: at the
 * default of 10^9 per second a replay takes the measured time. Calls that move no data are left out. */
#ifndef VMPI_LINE_H
#define VMPI_LINE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { LINE_ANY_SOURCE = -333, LINE_ANY_TAG = -444 };

/* Tags that programs are unlikely to use: messages of neighbourhood collectives and of one-sided calls. */
enum { LINE_NEIGHBOUR = 2147480000, LINE_ONE_SIDED };

/* A file, the line's rank in the world, and its communicator (0: the world). */
typedef struct {
    FILE *file;
    int rank, communicator;
} line_place;

void line_plain(line_place at, const char *action);
void line_compute(line_place at, int64_t ns);
void line_note(line_place at, const char *note);
/* `at` has the old communicator. */
void line_split(line_place at, int made, int ranks, int own);
void line_free(line_place at);
void line_message(line_place at, const char *action, int peer, int tag, size_t bytes);
void line_sendrecv(line_place at, int to, size_t sent, int from, size_t received);
void line_wait(line_place at, int from, int to, int tag);
void line_wait_collective(line_place at, uint32_t number);

/* A collective: what its action needs of this. */
typedef struct {
    const char *action; /* as in SimGrid's format, of the blocking form */
    int nonblocking;
    int ranks, own, root;
    size_t sent, received; /* bytes of the block that this rank sends and receives; `sent` of a reduction: of the vector */
    const size_t *send_blocks, *receive_blocks; /* vector forms: bytes for and from each rank; NULL: zeros */
} line_collective;

void line_collective_call(line_place at, const line_collective *call);

#endif
