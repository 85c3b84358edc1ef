/* What a program can ask of the virtual-ranks MPI beyond the MPI standard.
 *
 * A program built for vmpi is an ordinary MPI program. Compile it with -Dmain=vmpi_rank_main: the library owns the
 * real main, reads its own options (see main.c), and calls the program's main once per rank, each on its own fiber.
 * All ranks share one address space, so the program must not keep per-rank state in globals. */
#ifndef VMPI_H
#define VMPI_H

#include <stdint.h>

/* The program's main, entered once per rank. */
int vmpi_rank_main(int argc, char **argv);

/* Labels every later message and collective of the calling rank with `phase` (0 at the start). The meaning of the
 * number is the program's. Returns the label that was in force. */
uint16_t vmpi_phase(uint16_t phase);

/* Switches recording on (1) or off (0) for the calling rank; on at the start. Returns the previous state. */
int vmpi_recording(int on);

/* A pointer of the calling rank's own, NULL at the start: the place for what would be a global in a program with one
 * process per rank. */
void **vmpi_rank_slot(void);

#endif
