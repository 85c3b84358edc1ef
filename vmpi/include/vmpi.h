/* Functions of the virtual-ranks MPI beyond the MPI standard.
 *
 * A program for vmpi is an ordinary MPI program. Compile it with -Dmain=vmpi_rank_main: the library has the real main,
 * reads its own options (see start.c), and calls the program's main once per rank, each on its own fiber.
 * All ranks share one address space, so the program must not keep per-rank state in globals. */
#ifndef VMPI_H
#define VMPI_H

#include <stdint.h>

/* The program's main, called once per rank. */
int vmpi_rank_main(int argc, char **argv);

/* Labels all later messages and collectives of the calling rank with `phase` (0 at the start). The program defines the
 * meaning of the number. Returns the previous label. */
uint16_t vmpi_phase(uint16_t phase);

/* Numbers all later messages and collectives of the calling rank in the record (0 at the start), for example by the
 * exchange of a phase that they belong to. Returns the previous number. */
uint16_t vmpi_step(uint16_t step);

/* Switches recording on (1) or off (0) for the calling rank; it is on at the start. Returns the previous state. */
int vmpi_recording(int on);

/* A pointer of the calling rank, NULL at the start. It replaces a global variable of a program with one process per
 * rank. */
void **vmpi_rank_slot(void);

#endif
