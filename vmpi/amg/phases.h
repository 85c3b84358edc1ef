/* What phases.c and kernels.c know of a rank. */
#ifndef PHASES_H
#define PHASES_H

#include "amg.h"
#include "vmpi.h"

#define LEVELS_PER_KIND 64
#define HIERARCHIES 2

typedef struct {
    int in_setup, setup_level, in_cycle, hierarchies;
    int step;          /* of the level's set-up: the last exchange that began */
    int exchange_list; /* inside of hypre_DataExchangeList: its tags are multiples of this number; else 0 */
    hypre_ParAMGData *amg[HIERARCHIES];
    int offset[HIERARCHIES];
} rank_phases;

rank_phases *phases_of_rank(void);

#endif
