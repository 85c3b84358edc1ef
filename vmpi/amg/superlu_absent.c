/* Debian's hypre can call SuperLU_DIST for coarsest levels. Nothing here requests it, and its library would add a second
 * MPI. These definitions satisfy the linker, and stop with the name if one is called. */
#include <stdio.h>
#include <stdlib.h>

#define ABSENT(name)                                                                                                   \
    void name(void);                                                                                                   \
    void name(void)                                                                                                    \
    {                                                                                                                  \
        fprintf(stderr, "amg-hierarchy: %s was called, but SuperLU_DIST is not linked\n", #name);                      \
        exit(70);                                                                                                      \
    }

ABSENT(Destroy_CompRowLoc_Matrix_dist)
ABSENT(PStatFree)
ABSENT(PStatInit)
ABSENT(dCreate_CompRowLoc_Matrix_dist)
ABSENT(dDestroy_LU)
ABSENT(dLUstructFree)
ABSENT(dLUstructInit)
ABSENT(dScalePermstructFree)
ABSENT(dScalePermstructInit)
ABSENT(dSolveFinalize)
ABSENT(pdgssvx)
ABSENT(set_default_options_dist)
ABSENT(superlu_gridexit)
ABSENT(superlu_gridinit)
