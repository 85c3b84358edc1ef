/* Labels messages with hypre's current phase. The linker's --wrap redirects some of hypre's internal calls to this file,
 * and the matrix identifies the level. hypre itself is unmodified. Label = kind * 64 + level. */
#include <stdio.h>
#include <stdlib.h>

#include "phases.h"

rank_phases *phases_of_rank(void)
{
    void **slot = vmpi_rank_slot();
    if (!*slot)
        *slot = calloc(1, sizeof(rank_phases));
    return *slot;
}

int phase_enter(enum phase_kind kind, int level)
{
    return vmpi_phase((uint16_t)((int)kind * LEVELS_PER_KIND + level));
}

void phase_leave(int before)
{
    vmpi_phase((uint16_t)before);
}

void phase_record(int on)
{
    vmpi_recording(on);
}

void phase_setup_begins(int level)
{
    rank_phases *p = phases_of_rank();
    p->in_setup = 1;
    p->setup_level = level;
    p->step = 0;
    vmpi_step(0);
    phase_enter(PHASE_STRENGTH, level);
}

void phase_setup_ends(void)
{
    phases_of_rank()->in_setup = 0;
    vmpi_step(0);
    phase_enter(PHASE_OTHER, 0);
}

void phase_add_hierarchy(hypre_ParAMGData *amg, int level_offset)
{
    rank_phases *p = phases_of_rank();
    p->amg[p->hierarchies] = amg;
    p->offset[p->hierarchies++] = level_offset;
}

void phase_cycle(int inside)
{
    phases_of_rank()->in_cycle += inside ? 1 : -1;
}

/* The level with `matrix` as solve (or interpolation) operator, or -1. */
static int level_of(hypre_ParCSRMatrix *matrix, int interpolation)
{
    rank_phases *p = phases_of_rank();
    for (int h = 0; h < p->hierarchies; h++) {
        hypre_ParCSRMatrix **operators =
            interpolation ? hypre_ParAMGDataPArray(p->amg[h]) : hypre_ParAMGDataAArray(p->amg[h]);
        int count = hypre_ParAMGDataNumLevels(p->amg[h]) - interpolation;
        for (int level = 0; level < count; level++)
            if (operators[level] == matrix)
                return level + p->offset[h];
    }
    return -1;
}

/* Enters the phase for a matrix inside a cycle; returns the previous label, or -1 if nothing changed. */
static int enter_for(hypre_ParCSRMatrix *matrix, int interpolation, enum phase_kind kind)
{
    int level = phases_of_rank()->in_cycle ? level_of(matrix, interpolation) : -1;
    return level < 0 ? -1 : phase_enter(kind, level);
}

static void leave_for(int before)
{
    if (before >= 0)
        phase_leave(before);
}

/* ---- set-up ---- */

static int galerkin_begins(void)
{
    rank_phases *p = phases_of_rank();
    if (p->in_setup != 1)
        return 0;
    p->in_setup = 2; /* nested calls of the wrapped functions are not new levels */
    phase_enter(PHASE_GALERKIN, p->setup_level);
    return 1;
}

static void galerkin_ends(int outermost, hypre_ParCSRMatrix *coarse)
{
    int rank;
    if (!outermost)
        return;
    rank_phases *p = phases_of_rank();
    p->in_setup = 1;
    p->setup_level++;
    p->step = 0;
    vmpi_step(0);
    phase_enter(PHASE_STRENGTH, p->setup_level);
    MPI_Comm_rank(hypre_ParCSRMatrixComm(coarse), &rank);
    if (rank == 0)
        fprintf(stderr, "level %d unknowns %lld\n", p->setup_level,
                (long long)hypre_ParCSRMatrixGlobalNumRows(coarse));
}

HYPRE_Int __real_hypre_BoomerAMGBuildCoarseOperatorKT(hypre_ParCSRMatrix *rt, hypre_ParCSRMatrix *a,
                                                      hypre_ParCSRMatrix *p, HYPRE_Int keep,
                                                      hypre_ParCSRMatrix **coarse);
HYPRE_Int __wrap_hypre_BoomerAMGBuildCoarseOperatorKT(hypre_ParCSRMatrix *rt, hypre_ParCSRMatrix *a,
                                                      hypre_ParCSRMatrix *p, HYPRE_Int keep,
                                                      hypre_ParCSRMatrix **coarse)
{
    int outermost = galerkin_begins();
    HYPRE_Int status = __real_hypre_BoomerAMGBuildCoarseOperatorKT(rt, a, p, keep, coarse);
    galerkin_ends(outermost, *coarse);
    return status;
}

hypre_ParCSRMatrix *__real_hypre_ParCSRMatrixRAPKT(hypre_ParCSRMatrix *r, hypre_ParCSRMatrix *a,
                                                   hypre_ParCSRMatrix *p, HYPRE_Int keep);
hypre_ParCSRMatrix *__wrap_hypre_ParCSRMatrixRAPKT(hypre_ParCSRMatrix *r, hypre_ParCSRMatrix *a,
                                                   hypre_ParCSRMatrix *p, HYPRE_Int keep)
{
    int outermost = galerkin_begins();
    hypre_ParCSRMatrix *coarse = __real_hypre_ParCSRMatrixRAPKT(r, a, p, keep);
    galerkin_ends(outermost, coarse);
    return coarse;
}

/* ---- the cycle ---- */

HYPRE_Int __real_hypre_BoomerAMGCycle(void *amg, hypre_ParVector **f, hypre_ParVector **u);
HYPRE_Int __wrap_hypre_BoomerAMGCycle(void *amg, hypre_ParVector **f, hypre_ParVector **u)
{
    phase_cycle(1);
    HYPRE_Int status = __real_hypre_BoomerAMGCycle(amg, f, u);
    phase_cycle(0);
    return status;
}

HYPRE_Int __real_hypre_BoomerAMGRelaxIF(hypre_ParCSRMatrix *a, hypre_ParVector *f, HYPRE_Int *marker, HYPRE_Int type,
                                        HYPRE_Int order, HYPRE_Int cycle, HYPRE_Real weight, HYPRE_Real omega,
                                        HYPRE_Real *l1, hypre_ParVector *u, hypre_ParVector *v, hypre_ParVector *z);
HYPRE_Int __wrap_hypre_BoomerAMGRelaxIF(hypre_ParCSRMatrix *a, hypre_ParVector *f, HYPRE_Int *marker, HYPRE_Int type,
                                        HYPRE_Int order, HYPRE_Int cycle, HYPRE_Real weight, HYPRE_Real omega,
                                        HYPRE_Real *l1, hypre_ParVector *u, hypre_ParVector *v, hypre_ParVector *z)
{
    int before = enter_for(a, 0, PHASE_SMOOTH);
    HYPRE_Int status =
        __real_hypre_BoomerAMGRelaxIF(a, f, marker, type, order, cycle, weight, omega, l1, u, v, z);
    leave_for(before);
    return status;
}

HYPRE_Int __real_hypre_BoomerAMGRelax(hypre_ParCSRMatrix *a, hypre_ParVector *f, HYPRE_Int *marker, HYPRE_Int type,
                                      HYPRE_Int points, HYPRE_Real weight, HYPRE_Real omega, HYPRE_Real *l1,
                                      hypre_ParVector *u, hypre_ParVector *v, hypre_ParVector *z);
HYPRE_Int __wrap_hypre_BoomerAMGRelax(hypre_ParCSRMatrix *a, hypre_ParVector *f, HYPRE_Int *marker, HYPRE_Int type,
                                      HYPRE_Int points, HYPRE_Real weight, HYPRE_Real omega, HYPRE_Real *l1,
                                      hypre_ParVector *u, hypre_ParVector *v, hypre_ParVector *z)
{
    int before = enter_for(a, 0, PHASE_SMOOTH);
    HYPRE_Int status = __real_hypre_BoomerAMGRelax(a, f, marker, type, points, weight, omega, l1, u, v, z);
    leave_for(before);
    return status;
}

/* A product with a solve operator forms a residual; with an interpolation operator it interpolates. */
static int enter_product(hypre_ParCSRMatrix *matrix)
{
    int before = enter_for(matrix, 0, PHASE_RESIDUAL);
    return before >= 0 ? before : enter_for(matrix, 1, PHASE_INTERPOLATE);
}

HYPRE_Int __real_hypre_ParCSRMatrixMatvec(HYPRE_Complex alpha, hypre_ParCSRMatrix *a, hypre_ParVector *x,
                                          HYPRE_Complex beta, hypre_ParVector *y);
HYPRE_Int __wrap_hypre_ParCSRMatrixMatvec(HYPRE_Complex alpha, hypre_ParCSRMatrix *a, hypre_ParVector *x,
                                          HYPRE_Complex beta, hypre_ParVector *y)
{
    int before = enter_product(a);
    HYPRE_Int status = __real_hypre_ParCSRMatrixMatvec(alpha, a, x, beta, y);
    leave_for(before);
    return status;
}

HYPRE_Int __real_hypre_ParCSRMatrixMatvecOutOfPlace(HYPRE_Complex alpha, hypre_ParCSRMatrix *a, hypre_ParVector *x,
                                                    HYPRE_Complex beta, hypre_ParVector *b, hypre_ParVector *y);
HYPRE_Int __wrap_hypre_ParCSRMatrixMatvecOutOfPlace(HYPRE_Complex alpha, hypre_ParCSRMatrix *a, hypre_ParVector *x,
                                                    HYPRE_Complex beta, hypre_ParVector *b, hypre_ParVector *y)
{
    int before = enter_product(a);
    HYPRE_Int status = __real_hypre_ParCSRMatrixMatvecOutOfPlace(alpha, a, x, beta, b, y);
    leave_for(before);
    return status;
}

HYPRE_Int __real_hypre_ParCSRMatrixMatvecT(HYPRE_Complex alpha, hypre_ParCSRMatrix *a, hypre_ParVector *x,
                                           HYPRE_Complex beta, hypre_ParVector *y);
HYPRE_Int __wrap_hypre_ParCSRMatrixMatvecT(HYPRE_Complex alpha, hypre_ParCSRMatrix *a, hypre_ParVector *x,
                                           HYPRE_Complex beta, hypre_ParVector *y)
{
    int before = enter_for(a, 1, PHASE_RESTRICT);
    HYPRE_Int status = __real_hypre_ParCSRMatrixMatvecT(alpha, a, x, beta, y);
    leave_for(before);
    return status;
}

HYPRE_Int __real_hypre_GaussElimSolve(hypre_ParAMGData *amg, HYPRE_Int level, HYPRE_Int type);
HYPRE_Int __wrap_hypre_GaussElimSolve(hypre_ParAMGData *amg, HYPRE_Int level, HYPRE_Int type)
{
    int at = level_of(hypre_ParAMGDataAArray(amg)[level], 0);
    int before = at < 0 ? -1 : phase_enter(PHASE_DIRECT, at);
    HYPRE_Int status = __real_hypre_GaussElimSolve(amg, level, type);
    leave_for(before);
    return status;
}
