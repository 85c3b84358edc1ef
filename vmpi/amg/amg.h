/* The AMG hierarchy program: shared declarations. It builds a problem, runs hypre's BoomerAMG set-up (unmodified Debian
 * library), and writes the model's inputs per level and rank. The same source runs on vmpi and on real MPI processes;
 * only vmpi labels messages with phases. It has no per-rank globals. */
#ifndef AMG_H
#define AMG_H

#include <stdint.h>

/* hypre's internal header. The public headers do not declare the matrices, interpolations and communication packages of
 * levels (levels.c, phases.c), values of a vector and rows of a gathered level (redistribute.c), one sweep of a smoother
 * (cycle.c) and the function of a coarse row (hierarchy.c). All else comes from the public headers. */
#include "_hypre_parcsr_ls.h"

typedef struct {
    const char *problem;      /* laplace7 laplace27 anisotropic rotated file */
    const char *matrix_path;  /* problem = file: see problem.c */
    const char *out;          /* directory for the tables */
    int points[3];            /* per rank */
    int grid[3];              /* ranks per direction; product = ranks */
    double coefficient[3];    /* anisotropic: -cx u_xx - cy u_yy - cz u_zz */
    double angle, epsilon;    /* rotated: degrees, ratio */
    int coarsening, interpolation, max_elements, aggressive_levels, functions;
    int nodal;                /* hypre's norm of nodal coarsening; 0: unknown by unknown */
    int smoother[2];          /* hypre's types: downward sweep, upward sweep */
    double relax_weight;
    int w_cycle, f_cycle;     /* a V-cycle if neither */
    double strength, truncation;
    int max_levels;
    int solve;                /* also solve, with the first solver that succeeds */
    const char *solver[4];    /* cg gmres lgmres bicgstab */
    int solvers;
    int null_space;           /* constants are in the null space of the matrix */
    double tolerance;
    int max_iterations;
    int redistribute_level;   /* -1: no */
    int redistribute_ranks;
} amg_settings;

/* arguments.c: ends the program with exit status 2 and a message on a mistake. */
amg_settings read_arguments(int argc, char **argv, int ranks);

/* problem.c: the matrix of this rank's rows. */
HYPRE_ParCSRMatrix build_problem(MPI_Comm comm, const amg_settings *settings);
/* A matrix from this rank's rows low .. low + rows - 1 in compressed form; square, with columns partitioned like rows. */
HYPRE_ParCSRMatrix assemble(MPI_Comm comm, HYPRE_BigInt low, int rows, HYPRE_Int *row_sizes, HYPRE_BigInt *columns,
                            double *values);
/* A zero vector, distributed like the matrix's rows. */
HYPRE_ParVector vector_of_rows(HYPRE_ParCSRMatrix a);

/* levels.c: gathers and writes `OUT/PREFIXranks.table` and `OUT/PREFIXmessages.table`; `world_rank` names this rank
 * in them, `level_offset` is added to the level. Collective over comm. */
void write_levels(MPI_Comm comm, hypre_ParAMGData *amg, const char *out, const char *prefix, int world_rank,
                  int level_offset);

/* table.c: a table of 64-bit integers, written by rank 0 of `comm` from the rows of all ranks in rank order. */
typedef struct table table;
table *table_create(MPI_Comm comm, const char *path, int columns);
void table_append(table *t, const int64_t *rows, int64_t count); /* collective */
void table_close(table *t);                                       /* collective */
/* Ends all ranks with a message and exit status 3. */
void stop(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* solve.c: a Krylov method with the cycle as preconditioner. */
typedef struct {
    const char *solver;
    HYPRE_Int iterations;
    int error;             /* hypre's flag, the maximum over ranks */
    double residual;       /* relative, as reported by the method */
    double true_residual;  /* |f - A u| / |f| */
    int solved;
} solve_result;
/* The name of a known solver, or NULL. */
const char *solver_name(const char *name, size_t length);
solve_result solve(MPI_Comm comm, const amg_settings *s, HYPRE_ParCSRMatrix a, HYPRE_ParVector f, HYPRE_ParVector u,
                   HYPRE_PtrToParSolverFcn cycle, HYPRE_Solver with);
/* Ones; if constants are in the null space, numbers with mean 0. */
void set_right_hand_side(HYPRE_ParVector f, int null_space);
void remove_mean(HYPRE_ParVector v);
/* Ends the program if hypre flags an error. */
void check_hypre(int error, const char *call);
#define HYPRE(call) check_hypre(call, #call)

/* redistribute.c: one level's matrix on fewer ranks. */
typedef struct {
    MPI_Comm comm;      /* the ranks of the level's communicator */
    MPI_Comm leaders;   /* the ranks that keep data; MPI_COMM_NULL elsewhere */
    int leader;         /* rank in comm that keeps this rank's rows; -1 if it has none */
    int is_leader;
    int members;        /* leader: ranks whose rows it holds, itself included */
    int *member;        /* their ranks, ascending */
    int *member_rows;   /* and row counts */
    HYPRE_ParCSRMatrix matrix; /* leader: its rows of the level's matrix; same global numbering */
} regrouped;
/* The active ranks (ranks with rows) form `groups` groups of adjacent ranks; the first (active mod groups) have one rank
 * more. The first rank of each group holds the data. Collective. */
regrouped *regroup(HYPRE_ParCSRMatrix matrix, int groups);
/* A number per row of the level, at the leaders of the rows; hypre's memory, NULL elsewhere. */
HYPRE_Int *gather_numbers(const regrouped *r, const HYPRE_Int *own, int rows);
void gather_vector(const regrouped *r, HYPRE_ParVector fine, HYPRE_ParVector kept);
void scatter_vector(const regrouped *r, HYPRE_ParVector kept, HYPRE_ParVector fine);

/* cycle.c: a V-cycle over the levels of `fine`; one cycle of `coarse` on fewer ranks solves the last level. */
typedef struct {
    HYPRE_Solver fine;
    hypre_ParAMGData *fine_data;
    regrouped *level;
    HYPRE_Solver coarse; /* NULL on ranks without data */
    HYPRE_ParVector kept_f, kept_u;
    HYPRE_ParVector *residual;
    int smoother[2];
    double relax_weight;
} composite_cycle;
composite_cycle *composite_create(const amg_settings *s, HYPRE_Solver fine, regrouped *level, HYPRE_Solver coarse);
/* The preconditioner's solve function with hypre's signature. */
HYPRE_Int composite_solve(HYPRE_Solver cycle, HYPRE_ParCSRMatrix a, HYPRE_ParVector f, HYPRE_ParVector u);

/* phases.c: labels for the record of vmpi; empty on real MPI. */
enum phase_kind {
    PHASE_OTHER,
    PHASE_COARSEN,   /* set-up: selection of the coarse points */
    PHASE_GALERKIN,  /* set-up: the triple product, which is the coarse operator */
    PHASE_SMOOTH,
    PHASE_RESIDUAL,
    PHASE_RESTRICT,
    PHASE_INTERPOLATE,
    PHASE_DIRECT,    /* the coarsest level's direct solve */
    PHASE_REGROUP,   /* gathering a level on fewer ranks: matrix and vectors */
    PHASE_STRENGTH,  /* set-up: strength of connection, also over two edges (aggressive coarsening) */
    PHASE_WEIGHTS,   /* set-up: numbers of coarse points, and the weights of the interpolation */
    PHASE_PACKAGES,  /* set-up: communication packages, inside of any other kernel */
    PHASE_ELIMINATION /* set-up: factors of the coarsest matrix */
};
#ifdef VMPI
void phase_setup_begins(int level);
void phase_setup_ends(void);
void phase_add_hierarchy(hypre_ParAMGData *amg, int level_offset);
void phase_cycle(int inside);
int phase_enter(enum phase_kind kind, int level);
void phase_leave(int before);
void phase_record(int on);
#else
#define phase_setup_begins(level) ((void)(level))
#define phase_setup_ends() ((void)0)
#define phase_add_hierarchy(amg, level_offset) ((void)(amg))
#define phase_cycle(inside) ((void)(inside))
#define phase_enter(kind, level) (0)
#define phase_leave(before) ((void)(before))
#define phase_record(on) ((void)(on))
#endif

#endif
