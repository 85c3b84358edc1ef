/* Krylov methods with the cycle as preconditioner. The true residual b - A x decides whether they solved the system, not
 * the residual that the method reports. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "HYPRE_krylov.h"
#include "amg.h"

enum { RESTART = 30 };

typedef HYPRE_Int on_system(HYPRE_Solver, HYPRE_ParCSRMatrix, HYPRE_ParVector, HYPRE_ParVector);

typedef struct {
    const char *name;
    HYPRE_Int (*create)(MPI_Comm, HYPRE_Solver *);
    HYPRE_Int (*destroy)(HYPRE_Solver);
    HYPRE_Int (*set_tolerance)(HYPRE_Solver, HYPRE_Real);
    HYPRE_Int (*set_most)(HYPRE_Solver, HYPRE_Int);
    HYPRE_Int (*set_preconditioner)(HYPRE_Solver, HYPRE_PtrToParSolverFcn, HYPRE_PtrToParSolverFcn, HYPRE_Solver);
    on_system *set_up, *solve;
    HYPRE_Int (*iterations)(HYPRE_Solver, HYPRE_Int *);
    HYPRE_Int (*residual)(HYPRE_Solver, HYPRE_Real *);
} method;

static const method methods[] = {
    {"cg", HYPRE_ParCSRPCGCreate, HYPRE_ParCSRPCGDestroy, HYPRE_PCGSetTol, HYPRE_PCGSetMaxIter,
     HYPRE_ParCSRPCGSetPrecond, HYPRE_ParCSRPCGSetup, HYPRE_ParCSRPCGSolve, HYPRE_PCGGetNumIterations,
     HYPRE_PCGGetFinalRelativeResidualNorm},
    {"gmres", HYPRE_ParCSRGMRESCreate, HYPRE_ParCSRGMRESDestroy, HYPRE_GMRESSetTol, HYPRE_GMRESSetMaxIter,
     HYPRE_ParCSRGMRESSetPrecond, HYPRE_ParCSRGMRESSetup, HYPRE_ParCSRGMRESSolve, HYPRE_GMRESGetNumIterations,
     HYPRE_GMRESGetFinalRelativeResidualNorm},
    {"lgmres", HYPRE_ParCSRLGMRESCreate, HYPRE_ParCSRLGMRESDestroy, HYPRE_LGMRESSetTol, HYPRE_LGMRESSetMaxIter,
     HYPRE_ParCSRLGMRESSetPrecond, HYPRE_ParCSRLGMRESSetup, HYPRE_ParCSRLGMRESSolve, HYPRE_LGMRESGetNumIterations,
     HYPRE_LGMRESGetFinalRelativeResidualNorm},
    {"bicgstab", HYPRE_ParCSRBiCGSTABCreate, HYPRE_ParCSRBiCGSTABDestroy, HYPRE_BiCGSTABSetTol,
     HYPRE_BiCGSTABSetMaxIter, HYPRE_ParCSRBiCGSTABSetPrecond, HYPRE_ParCSRBiCGSTABSetup, HYPRE_ParCSRBiCGSTABSolve,
     HYPRE_BiCGSTABGetNumIterations, HYPRE_BiCGSTABGetFinalRelativeResidualNorm},
};

void check_hypre(int error, const char *call)
{
    char words[256] = "";
    if (!error)
        return;
    HYPRE_DescribeError(error, words);
    stop("hypre's %.40s ended with error %d: %s", call, error, words);
}

const char *solver_name(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strlen(methods[i].name) == length && strncmp(methods[i].name, name, length) == 0)
            return methods[i].name;
    return NULL;
}

static const method *method_of(const char *name)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i].name, name) == 0)
            return &methods[i];
    stop("unknown solver '%s'", name);
}

/* Applies the cycle; removes constants from the result if they are in the null space. */
typedef struct {
    HYPRE_PtrToParSolverFcn cycle;
    HYPRE_Solver with;
    int null_space;
} preconditioner;

void remove_mean(HYPRE_ParVector v)
{
    hypre_Vector *local = hypre_ParVectorLocalVector(v);
    double *values = hypre_VectorData(local), here = 0.0, all;
    int rows = hypre_VectorSize(local);
    for (int i = 0; i < rows; i++)
        here += values[i];
    MPI_Allreduce(&here, &all, 1, MPI_DOUBLE, MPI_SUM, hypre_ParVectorComm(v));
    for (int i = 0; i < rows; i++)
        values[i] -= all / (double)hypre_ParVectorGlobalSize(v);
}

void set_right_hand_side(HYPRE_ParVector f, int null_space)
{
    HYPRE(HYPRE_ParVectorSetConstantValues(f, 1.0));
    if (!null_space)
        return;
    /* A constant has no solution here, so use numbers that depend only on the row, minus their mean. */
    double *values = hypre_VectorData(hypre_ParVectorLocalVector(f));
    for (int i = 0; i < hypre_VectorSize(hypre_ParVectorLocalVector(f)); i++) {
        uint64_t x = (uint64_t)(hypre_ParVectorFirstIndex(f) + i) + 0x9e3779b97f4a7c15u;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
        values[i] = (double)((x ^ (x >> 31)) >> 11) * 0x1p-53 - 0.5;
    }
    remove_mean(f);
}

static HYPRE_Int precondition(HYPRE_Solver solver, HYPRE_ParCSRMatrix a, HYPRE_ParVector f, HYPRE_ParVector u)
{
    preconditioner *p = (preconditioner *)solver;
    p->cycle(p->with, a, f, u);
    if (p->null_space)
        remove_mean(u);
    return 0;
}

static HYPRE_Int already_set_up(HYPRE_Solver s, HYPRE_ParCSRMatrix a, HYPRE_ParVector f, HYPRE_ParVector u)
{
    (void)s;
    (void)a;
    (void)f;
    (void)u;
    return 0;
}

/* |f - A u| / |f|. */
static double true_residual(HYPRE_ParCSRMatrix a, HYPRE_ParVector f, HYPRE_ParVector u)
{
    HYPRE_ParVector r = vector_of_rows(a);
    double squared, of_f;
    HYPRE(HYPRE_ParVectorCopy(f, r));
    HYPRE(HYPRE_ParCSRMatrixMatvec(-1.0, a, u, 1.0, r));
    HYPRE(HYPRE_ParVectorInnerProd(r, r, &squared));
    HYPRE(HYPRE_ParVectorInnerProd(f, f, &of_f));
    HYPRE(HYPRE_ParVectorDestroy(r));
    return sqrt(squared / of_f);
}

static solve_result solve_once(const method *m, MPI_Comm comm, const amg_settings *s, HYPRE_ParCSRMatrix a,
                               HYPRE_ParVector f, HYPRE_ParVector u, preconditioner *p)
{
    HYPRE_Solver solver;
    solve_result result = {.solver = m->name};
    HYPRE(m->create(comm, &solver));
    HYPRE(m->set_tolerance(solver, s->tolerance));
    HYPRE(m->set_most(solver, s->max_iterations));
    if (m->create == HYPRE_ParCSRPCGCreate)
        HYPRE(HYPRE_PCGSetTwoNorm(solver, 1));
    if (m->create == HYPRE_ParCSRGMRESCreate)
        HYPRE(HYPRE_GMRESSetKDim(solver, RESTART)); /* hypre's default of 5 is too small */
    HYPRE(m->set_preconditioner(solver, precondition, already_set_up, (HYPRE_Solver)p));
    HYPRE(HYPRE_ParVectorSetConstantValues(u, 0.0));
    HYPRE(m->set_up(solver, a, f, u));
    /* An error does not stop the run: the residual shows that a method that broke down did not solve the system. */
    m->solve(solver, a, f, u);
    int error = HYPRE_GetError(), most;
    MPI_Allreduce(&error, &most, 1, MPI_INT, MPI_MAX, comm);
    HYPRE_ClearAllErrors();
    result.error = most;
    m->iterations(solver, &result.iterations);
    m->residual(solver, &result.residual);
    m->destroy(solver);
    result.true_residual = true_residual(a, f, u);
    /* The reported residual may differ from the true one in the last digits. */
    result.solved = result.true_residual <= 10.0 * s->tolerance;
    HYPRE_ClearAllErrors();
    return result;
}

solve_result solve(MPI_Comm comm, const amg_settings *s, HYPRE_ParCSRMatrix a, HYPRE_ParVector f, HYPRE_ParVector u,
                   HYPRE_PtrToParSolverFcn cycle, HYPRE_Solver with)
{
    preconditioner p = {cycle, with, s->null_space};
    solve_result result = {0};
    for (int i = 0; i < s->solvers && !result.solved; i++)
        result = solve_once(method_of(s->solver[i]), comm, s, a, f, u, &p);
    return result;
}
