/* Labels the messages of hypre's set-up with the kernel and the exchange that they belong to, as phases.c does with level
 * and phase. All ranks make the same exchanges in the same order, also those that send nothing, so an exchange has the
 * same number everywhere. A kernel lasts until the next one begins. */
#include "phases.h"

static void kernel_begins(enum phase_kind kind)
{
    rank_phases *p = phases_of_rank();
    if (p->in_setup)
        phase_enter(kind, p->setup_level);
}

static void exchange_begins(void)
{
    rank_phases *p = phases_of_rank();
    if (p->in_setup)
        vmpi_step((uint16_t)++p->step);
}

/* An exchange of its own: hypre sends some messages of packages directly. */
static int packages_begin(void)
{
    rank_phases *p = phases_of_rank();
    exchange_begins();
    return p->in_setup ? phase_enter(PHASE_PACKAGES, p->setup_level) : -1;
}

static void packages_end(int before)
{
    if (before >= 0)
        phase_leave(before);
}

/* ---- kernels ---- */

HYPRE_Int __real_hypre_BoomerAMGCreateS(hypre_ParCSRMatrix *a, HYPRE_Real strength, HYPRE_Real row_sum,
                                        HYPRE_Int functions, HYPRE_Int *function, hypre_ParCSRMatrix **strong);
HYPRE_Int __wrap_hypre_BoomerAMGCreateS(hypre_ParCSRMatrix *a, HYPRE_Real strength, HYPRE_Real row_sum,
                                        HYPRE_Int functions, HYPRE_Int *function, hypre_ParCSRMatrix **strong)
{
    kernel_begins(PHASE_STRENGTH);
    HYPRE_Int status = __real_hypre_BoomerAMGCreateS(a, strength, row_sum, functions, function, strong);
    kernel_begins(PHASE_COARSEN);
    return status;
}

/* Strength over two edges, for aggressive coarsening. */
HYPRE_Int __real_hypre_BoomerAMGCreate2ndS(hypre_ParCSRMatrix *strong, HYPRE_Int *marker, HYPRE_Int paths,
                                           HYPRE_BigInt *starts, hypre_ParCSRMatrix **second);
HYPRE_Int __wrap_hypre_BoomerAMGCreate2ndS(hypre_ParCSRMatrix *strong, HYPRE_Int *marker, HYPRE_Int paths,
                                           HYPRE_BigInt *starts, hypre_ParCSRMatrix **second)
{
    kernel_begins(PHASE_STRENGTH);
    HYPRE_Int status = __real_hypre_BoomerAMGCreate2ndS(strong, marker, paths, starts, second);
    kernel_begins(PHASE_COARSEN);
    return status;
}

/* Every coarsening ends with this, and an interpolation of any kind follows. */
HYPRE_Int __real_hypre_BoomerAMGCoarseParms(MPI_Comm comm, HYPRE_Int rows, HYPRE_Int functions,
                                            hypre_IntArray *function, hypre_IntArray *marker,
                                            hypre_IntArray **coarse_function, HYPRE_BigInt *starts);
HYPRE_Int __wrap_hypre_BoomerAMGCoarseParms(MPI_Comm comm, HYPRE_Int rows, HYPRE_Int functions,
                                            hypre_IntArray *function, hypre_IntArray *marker,
                                            hypre_IntArray **coarse_function, HYPRE_BigInt *starts)
{
    kernel_begins(PHASE_WEIGHTS);
    return __real_hypre_BoomerAMGCoarseParms(comm, rows, functions, function, marker, coarse_function, starts);
}

HYPRE_Int __real_hypre_GaussElimSetup(hypre_ParAMGData *amg, HYPRE_Int level, HYPRE_Int type);
HYPRE_Int __wrap_hypre_GaussElimSetup(hypre_ParAMGData *amg, HYPRE_Int level, HYPRE_Int type)
{
    kernel_begins(PHASE_ELIMINATION);
    return __real_hypre_GaussElimSetup(amg, level, type);
}

HYPRE_Int __real_hypre_MatvecCommPkgCreate(hypre_ParCSRMatrix *matrix);
HYPRE_Int __wrap_hypre_MatvecCommPkgCreate(hypre_ParCSRMatrix *matrix)
{
    int before = packages_begin();
    HYPRE_Int status = __real_hypre_MatvecCommPkgCreate(matrix);
    packages_end(before);
    return status;
}

/* ---- exchanges ---- */

hypre_ParCSRCommHandle *__real_hypre_ParCSRCommHandleCreate(HYPRE_Int job, hypre_ParCSRCommPkg *package, void *out,
                                                            void *in);
hypre_ParCSRCommHandle *__wrap_hypre_ParCSRCommHandleCreate(HYPRE_Int job, hypre_ParCSRCommPkg *package, void *out,
                                                            void *in)
{
    exchange_begins();
    return __real_hypre_ParCSRCommHandleCreate(job, package, out, in);
}

/* A rank asks others, which it knows and they do not expect, and they answer. A rank that is done notifies its parent
 * in a binomial tree, whose root then notifies all. So there are four steps: questions, answers, up the tree, down the
 * tree. hypre gives each its own tag. */
enum { STEP_QUESTION, STEP_ANSWER, STEP_UP, STEP_DOWN, STEPS_OF_LIST };

HYPRE_Int __real_hypre_DataExchangeList(HYPRE_Int contacts, HYPRE_Int *list, void *out, HYPRE_Int *starts,
                                        HYPRE_Int size, HYPRE_Int answer_size, hypre_DataExchangeResponse *answer,
                                        HYPRE_Int most, HYPRE_Int number, MPI_Comm comm, void **in,
                                        HYPRE_Int **in_starts);
HYPRE_Int __wrap_hypre_DataExchangeList(HYPRE_Int contacts, HYPRE_Int *list, void *out, HYPRE_Int *starts,
                                        HYPRE_Int size, HYPRE_Int answer_size, hypre_DataExchangeResponse *answer,
                                        HYPRE_Int most, HYPRE_Int number, MPI_Comm comm, void **in,
                                        HYPRE_Int **in_starts)
{
    rank_phases *p = phases_of_rank();
    int before = packages_begin();
    p->exchange_list = p->in_setup ? number : 0;
    HYPRE_Int status = __real_hypre_DataExchangeList(contacts, list, out, starts, size, answer_size, answer, most,
                                                     number, comm, in, in_starts);
    p->exchange_list = 0;
    if (p->in_setup) {
        p->step += STEPS_OF_LIST - 1;
        vmpi_step((uint16_t)p->step);
    }
    packages_end(before);
    return status;
}

static void label_part_of_list(HYPRE_Int to, HYPRE_Int tag, MPI_Comm comm)
{
    rank_phases *p = phases_of_rank();
    int rank, part = STEP_ANSWER; /* also the rest of a long answer */
    if (p->exchange_list == 0)
        return;
    MPI_Comm_rank(comm, &rank);
    if (tag == 1000 * p->exchange_list)
        part = STEP_QUESTION;
    else if (tag == 1004 * p->exchange_list)
        part = to < rank ? STEP_UP : STEP_DOWN;
    vmpi_step((uint16_t)(p->step + part));
}

HYPRE_Int __real_hypre_MPI_Isend(void *out, HYPRE_Int count, MPI_Datatype type, HYPRE_Int to, HYPRE_Int tag,
                                 MPI_Comm comm, MPI_Request *request);
HYPRE_Int __wrap_hypre_MPI_Isend(void *out, HYPRE_Int count, MPI_Datatype type, HYPRE_Int to, HYPRE_Int tag,
                                 MPI_Comm comm, MPI_Request *request)
{
    label_part_of_list(to, tag, comm);
    return __real_hypre_MPI_Isend(out, count, type, to, tag, comm, request);
}

HYPRE_Int __real_hypre_MPI_Send(void *out, HYPRE_Int count, MPI_Datatype type, HYPRE_Int to, HYPRE_Int tag,
                                MPI_Comm comm);
HYPRE_Int __wrap_hypre_MPI_Send(void *out, HYPRE_Int count, MPI_Datatype type, HYPRE_Int to, HYPRE_Int tag,
                                MPI_Comm comm)
{
    label_part_of_list(to, tag, comm);
    return __real_hypre_MPI_Send(out, count, type, to, tag, comm);
}
