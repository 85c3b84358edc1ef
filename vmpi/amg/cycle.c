/* A V-cycle whose coarse part runs on fewer ranks. The fine part repeats BoomerAMG's cycle for these settings: one
 * sweep, residual, restriction; interpolation, one sweep. Smoothers that need l1 norms or eigenvalues are refused. */
#include <stdlib.h>

#include "amg.h"

enum { DOWN, UP };
enum { ALL_POINTS = 0 };

composite_cycle *composite_create(const amg_settings *s, HYPRE_Solver fine, regrouped *level, HYPRE_Solver coarse)
{
    composite_cycle *c = calloc(1, sizeof *c);
    c->smoother[DOWN] = s->smoother[DOWN];
    c->smoother[UP] = s->smoother[UP];
    c->relax_weight = s->relax_weight;
    c->fine = fine;
    c->fine_data = (hypre_ParAMGData *)fine;
    c->level = level;
    c->coarse = coarse;
    if (level->is_leader) {
        c->kept_f = vector_of_rows(level->matrix);
        c->kept_u = vector_of_rows(level->matrix);
    }
    int levels = hypre_ParAMGDataNumLevels(c->fine_data);
    c->residual = malloc((size_t)levels * sizeof *c->residual);
    for (int i = 0; i < levels; i++)
        c->residual[i] = vector_of_rows(hypre_ParAMGDataAArray(c->fine_data)[i]);
    return c;
}

static void relax(const composite_cycle *c, int level, HYPRE_ParVector f, HYPRE_ParVector u, int way)
{
    HYPRE_ParCSRMatrix a = hypre_ParAMGDataAArray(c->fine_data)[level];
    hypre_BoomerAMGRelax(a, f, NULL, c->smoother[way], ALL_POINTS, c->relax_weight, 1.0, NULL, u, c->residual[level],
                         NULL);
}

static void coarse_part(composite_cycle *c, HYPRE_ParVector f, HYPRE_ParVector u, int level)
{
    int before = phase_enter(PHASE_REGROUP, level);
    gather_vector(c->level, f, c->kept_f);
    phase_leave(before);
    if (c->level->is_leader) {
        HYPRE_ParVectorSetConstantValues(c->kept_u, 0.0);
        HYPRE_BoomerAMGSolve(c->coarse, c->level->matrix, c->kept_f, c->kept_u);
    }
    before = phase_enter(PHASE_REGROUP, level);
    scatter_vector(c->level, c->kept_u, u);
    phase_leave(before);
}

HYPRE_Int composite_solve(HYPRE_Solver cycle, HYPRE_ParCSRMatrix matrix, HYPRE_ParVector b, HYPRE_ParVector x)
{
    composite_cycle *c = (composite_cycle *)cycle;
    HYPRE_ParCSRMatrix *a = hypre_ParAMGDataAArray(c->fine_data), *p = hypre_ParAMGDataPArray(c->fine_data);
    HYPRE_ParVector *f = hypre_ParAMGDataFArray(c->fine_data), *u = hypre_ParAMGDataUArray(c->fine_data);
    int last = hypre_ParAMGDataNumLevels(c->fine_data) - 1;
    (void)matrix;
    phase_cycle(1);
    f[0] = b;
    u[0] = x;
    for (int i = 0; i < last; i++) {
        relax(c, i, f[i], u[i], DOWN);
        HYPRE_ParVectorCopy(f[i], c->residual[i]);
        HYPRE_ParCSRMatrixMatvec(-1.0, a[i], u[i], 1.0, c->residual[i]);
        HYPRE_ParCSRMatrixMatvecT(1.0, p[i], c->residual[i], 0.0, f[i + 1]);
        HYPRE_ParVectorSetConstantValues(u[i + 1], 0.0);
    }
    coarse_part(c, f[last], u[last], last);
    for (int i = last - 1; i >= 0; i--) {
        HYPRE_ParCSRMatrixMatvec(1.0, p[i], u[i + 1], 1.0, u[i]);
        relax(c, i, f[i], u[i], UP);
    }
    phase_cycle(0);
    return 0;
}
