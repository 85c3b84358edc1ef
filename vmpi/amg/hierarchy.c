/* amg-hierarchy: runs BoomerAMG and writes the sizes and messages of each level.
 *
 * Output in --out: ranks.table and messages.table (levels.c); with --redistribute also regrouped-ranks.table and
 * regrouped-messages.table from that level on; summary.txt with key=value lines. */
#include <stdio.h>
#include <stdlib.h>

#include "amg.h"

enum { GAUSS_SEIDEL_FORWARD = 3, GAUSS_SEIDEL_SYMMETRIC = 6, GAUSSIAN_ELIMINATION = 9 };
enum { SWEEPS_INSTEAD_OF_ELIMINATION = 20 };

static HYPRE_Solver create_amg(const amg_settings *s, int max_levels, int aggressive_levels, int coarsest_relaxation)
{
    HYPRE_Solver amg;
    HYPRE(HYPRE_BoomerAMGCreate(&amg));
    HYPRE(HYPRE_BoomerAMGSetCoarsenType(amg, s->coarsening));
    HYPRE(HYPRE_BoomerAMGSetInterpType(amg, s->interpolation));
    HYPRE(HYPRE_BoomerAMGSetPMaxElmts(amg, s->max_elements));
    HYPRE(HYPRE_BoomerAMGSetTruncFactor(amg, s->truncation));
    HYPRE(HYPRE_BoomerAMGSetAggNumLevels(amg, aggressive_levels));
    HYPRE(HYPRE_BoomerAMGSetStrongThreshold(amg, s->strength));
    HYPRE(HYPRE_BoomerAMGSetNumFunctions(amg, s->functions));
    HYPRE(HYPRE_BoomerAMGSetMaxLevels(amg, max_levels));
    HYPRE(HYPRE_BoomerAMGSetNumSweeps(amg, 1));
    if (s->nodal)
        HYPRE(HYPRE_BoomerAMGSetNodal(amg, s->nodal));
    HYPRE(HYPRE_BoomerAMGSetCycleType(amg, s->w_cycle ? 2 : 1));
    if (s->f_cycle)
        HYPRE(HYPRE_BoomerAMGSetFCycle(amg, 1));
    HYPRE(HYPRE_BoomerAMGSetCycleRelaxType(amg, s->smoother[0], 1));
    HYPRE(HYPRE_BoomerAMGSetCycleRelaxType(amg, s->smoother[1], 2));
    HYPRE(HYPRE_BoomerAMGSetRelaxWt(amg, s->relax_weight));
    HYPRE(HYPRE_BoomerAMGSetCycleRelaxType(amg, coarsest_relaxation, 3));
    if (s->null_space && coarsest_relaxation == GAUSSIAN_ELIMINATION) { /* not possible for a singular matrix */
        HYPRE(HYPRE_BoomerAMGSetCycleRelaxType(amg, GAUSS_SEIDEL_SYMMETRIC, 3));
        HYPRE(HYPRE_BoomerAMGSetCycleNumSweeps(amg, SWEEPS_INSTEAD_OF_ELIMINATION, 3));
    }
    HYPRE(HYPRE_BoomerAMGSetMaxIter(amg, 1));
    HYPRE(HYPRE_BoomerAMGSetTol(amg, 0.0));
    HYPRE(HYPRE_BoomerAMGSetPrintLevel(amg, 0));
    return amg;
}

static void set_up(HYPRE_Solver amg, HYPRE_ParCSRMatrix a, HYPRE_ParVector f, HYPRE_ParVector u, int level)
{
    phase_setup_begins(level);
    HYPRE(HYPRE_BoomerAMGSetup(amg, a, f, u));
    phase_setup_ends();
    phase_add_hierarchy((hypre_ParAMGData *)amg, level);
}

/* Peak memory of this process in bytes; 0 if the system does not report it. Not from getrusage, whose value includes the
 * process that started this program. */
static long long peak_bytes(void)
{
    char line[256];
    long long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %lld", &kib) == 1)
            break;
    if (status)
        fclose(status);
    return 1024 * kib;
}

static void write_summary(const amg_settings *s, HYPRE_ParCSRMatrix a, int levels, const solve_result *solved)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/summary.txt", s->out);
    FILE *file = fopen(path, "w");
    if (!file)
        stop("cannot create %s", path);
    HYPRE_BigInt rows, columns;
    HYPRE(HYPRE_ParCSRMatrixGetDims(a, &rows, &columns));
    fprintf(file, "hypre=%s\nunknowns=%lld\nlevels=%d\n", HYPRE_RELEASE_VERSION, (long long)rows, levels);
    if (solved)
        fprintf(file, "iterations=%d\nsolver=%s\nrelative_residual=%.3e\ntrue_residual=%.3e\nhypre_error=%d\nsolved=%d\n",
                (int)solved->iterations, solved->solver, solved->residual, solved->true_residual, solved->error,
                solved->solved);
    fprintf(file, "peak_bytes=%lld\n", peak_bytes());
    fclose(file);
}

/* Gathers the last level of `fine` and continues coarsening; returns the solver of the composite. */
static composite_cycle *redistribute(const amg_settings *s, HYPRE_Solver fine, int rank)
{
    hypre_ParAMGData *data = (hypre_ParAMGData *)fine;
    int level = hypre_ParAMGDataNumLevels(data) - 1;
    if (level != s->redistribute_level)
        stop("the hierarchy has only levels 0 to %d, so level %d cannot be redistributed", level, s->redistribute_level);
    int before = phase_enter(PHASE_REGROUP, level);
    hypre_ParCSRMatrix *gathered = hypre_ParAMGDataAArray(data)[level];
    regrouped *r = regroup(gathered, s->redistribute_ranks);
    /* For systems: the function of each row. On coarse levels it is no longer row mod functions. */
    hypre_IntArray **functions = hypre_ParAMGDataDofFuncArray(data);
    HYPRE_Int *function_of_row = NULL;
    if (s->functions > 1 && functions)
        function_of_row = gather_numbers(r, functions[level] ? hypre_IntArrayData(functions[level]) : NULL,
                                         hypre_CSRMatrixNumRows(hypre_ParCSRMatrixDiag(gathered)));
    phase_leave(before);
    HYPRE_Solver coarse = NULL;
    if (r->is_leader) {
        coarse = create_amg(s, s->max_levels - level, 0, GAUSSIAN_ELIMINATION);
        if (function_of_row)
            HYPRE(HYPRE_BoomerAMGSetDofFunc(coarse, function_of_row));
        set_up(coarse, r->matrix, vector_of_rows(r->matrix), vector_of_rows(r->matrix), level);
        phase_record(0);
        write_levels(r->leaders, (hypre_ParAMGData *)coarse, s->out, "regrouped-", rank, level);
        phase_record(1);
    }
    return composite_create(s, fine, r, coarse);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    amg_settings s = read_arguments(argc, argv, ranks);
    HYPRE(HYPRE_Init());

    phase_record(0);
    HYPRE_ParCSRMatrix a = build_problem(MPI_COMM_WORLD, &s);
    if (!hypre_ParCSRMatrixCommPkg(a)) /* the set-up needs it anyway; made here, its messages do not count for level 0 */
        hypre_MatvecCommPkgCreate(a);
    /* Filled after the set-up, which has the peak memory and needs no values: until then these pages are zeros. */
    HYPRE_ParVector f = vector_of_rows(a), u = vector_of_rows(a);
    phase_record(1);

    int split = s.redistribute_level >= 0;
    HYPRE_Solver amg = create_amg(&s, split ? s.redistribute_level + 1 : s.max_levels, s.aggressive_levels,
                                  split ? GAUSS_SEIDEL_FORWARD : GAUSSIAN_ELIMINATION);
    set_up(amg, a, f, u, 0);
    phase_record(0);
    set_right_hand_side(f, s.null_space);
    HYPRE(HYPRE_ParVectorSetConstantValues(u, 0.0));
    phase_record(1);
    composite_cycle *composite = split ? redistribute(&s, amg, rank) : NULL;
    HYPRE_PtrToParSolverFcn cycle = split ? composite_solve : HYPRE_BoomerAMGSolve;
    HYPRE_Solver with = split ? (HYPRE_Solver)composite : amg;

    cycle(with, a, f, u); /* the recorded cycle */
    phase_record(0);
    write_levels(MPI_COMM_WORLD, (hypre_ParAMGData *)amg, s.out, "", rank, 0);
    solve_result solved = {0};
    if (s.solve)
        solved = solve(MPI_COMM_WORLD, &s, a, f, u, cycle, with);
    if (rank == 0)
        write_summary(&s, a, hypre_ParAMGDataNumLevels((hypre_ParAMGData *)amg), s.solve ? &solved : NULL);
    MPI_Finalize();
    return 0;
}
