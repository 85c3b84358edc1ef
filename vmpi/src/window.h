/* The memory of every rank that one-sided calls reach (window.c: windows; transfer.c: transfers; epoch.c: synchronisation). */
#ifndef VMPI_WINDOW_H
#define VMPI_WINDOW_H

#include "runtime.h"

/* A message in the trace whose wait is still to be written. */
typedef struct vmpi_traced {
    int peer, receives;
    struct vmpi_traced *next;
} vmpi_traced;

/* A rank of a window. */
typedef struct {
    char *base;
    MPI_Aint bytes;
    int unit;
    int own;              /* allocated by MPI_Win_allocate */
    int holder;           /* of the exclusive lock, or -1 */
    int sharers, waiters; /* of its lock */
    MPI_Group exposed, accessed; /* of MPI_Win_post and MPI_Win_start; NULL: none */
    int *posted;          /* per origin: its posts that have not been started */
    int completed;        /* origins that have completed since MPI_Win_post */
    MPI_Info hints;
    vmpi_traced *traced_first, *traced_last;
} vmpi_window_part;

struct ompi_win_t {
    MPI_Comm comm;
    int references, flavor, model;
    char *shared; /* memory of MPI_Win_allocate_shared */
    vmpi_window_part *part;
};

/* The rank of the caller; checks the handle and that errors go to the window's handler. */
int vmpi_window_rank(MPI_Win window);
void vmpi_window_check_target(MPI_Win window, int rank);
/* Another rank's state has changed: continues it if it polls or waits for that. */
void vmpi_window_notify(MPI_Win window, int rank);
/* In the trace a transfer is a message; the ranks wait for it at their next synchronisation. */
void vmpi_window_trace(MPI_Win window, int from, int to, size_t bytes);
void vmpi_window_trace_waits(MPI_Win window);

#endif
