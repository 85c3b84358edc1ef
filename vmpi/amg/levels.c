/* Data of each rank on each level: its rows, non-zeros, and the communication packages of the solve and interpolation
 * operators. These packages are the messages of every product with the operators. */
#include <stdio.h>
#include <stdlib.h>

#include "amg.h"

enum { OPERATOR_SOLVE, OPERATOR_INTERPOLATION };
enum { RANK_COLUMNS = 11, MESSAGE_COLUMNS = 5 };

static hypre_ParCSRCommPkg *package(hypre_ParCSRMatrix *matrix)
{
    if (!hypre_ParCSRMatrixCommPkg(matrix))
        hypre_MatvecCommPkgCreate(matrix);
    return hypre_ParCSRMatrixCommPkg(matrix);
}

static int64_t local_nonzeros(hypre_ParCSRMatrix *matrix)
{
    return (int64_t)hypre_CSRMatrixNumNonzeros(hypre_ParCSRMatrixDiag(matrix)) +
           hypre_CSRMatrixNumNonzeros(hypre_ParCSRMatrixOffd(matrix));
}

static int64_t elements_sent(hypre_ParCSRCommPkg *p)
{
    return hypre_ParCSRCommPkgSendMapStart(p, hypre_ParCSRCommPkgNumSends(p)) - hypre_ParCSRCommPkgSendMapStart(p, 0);
}

static int64_t elements_received(hypre_ParCSRCommPkg *p)
{
    return hypre_ParCSRCommPkgRecvVecStart(p, hypre_ParCSRCommPkgNumRecvs(p)) - hypre_ParCSRCommPkgRecvVecStart(p, 0);
}

static void append_messages(table *t, hypre_ParCSRMatrix *matrix, int level, int kind, const int64_t *world)
{
    hypre_ParCSRCommPkg *p = package(matrix);
    int sends = hypre_ParCSRCommPkgNumSends(p), me;
    MPI_Comm_rank(hypre_ParCSRMatrixComm(matrix), &me);
    int64_t *rows = malloc(((size_t)sends + 1) * MESSAGE_COLUMNS * sizeof *rows);
    for (int i = 0; i < sends; i++) {
        int64_t *row = rows + (size_t)i * MESSAGE_COLUMNS;
        row[0] = level;
        row[1] = kind;
        row[2] = world[me];
        row[3] = world[hypre_ParCSRCommPkgSendProc(p, i)];
        row[4] = hypre_ParCSRCommPkgSendMapStart(p, i + 1) - hypre_ParCSRCommPkgSendMapStart(p, i);
    }
    table_append(t, rows, sends);
    free(rows);
}

static void append_rank(table *t, hypre_ParCSRMatrix *a, hypre_ParCSRMatrix *p, int level, int world_rank)
{
    hypre_ParCSRCommPkg *solve = package(a);
    int64_t row[RANK_COLUMNS] = {level,
                                 world_rank,
                                 hypre_CSRMatrixNumRows(hypre_ParCSRMatrixDiag(a)),
                                 local_nonzeros(a),
                                 0,
                                 hypre_ParCSRCommPkgNumSends(solve),
                                 elements_sent(solve)};
    if (p) {
        hypre_ParCSRCommPkg *interpolation = package(p);
        row[4] = local_nonzeros(p);
        row[7] = hypre_ParCSRCommPkgNumSends(interpolation);
        row[8] = elements_sent(interpolation);
        row[9] = hypre_ParCSRCommPkgNumRecvs(interpolation);
        row[10] = elements_received(interpolation);
    }
    table_append(t, row, 1);
}

void write_levels(MPI_Comm comm, hypre_ParAMGData *amg, const char *out, const char *prefix, int world_rank,
                  int level_offset)
{
    int size, levels = hypre_ParAMGDataNumLevels(amg);
    MPI_Comm_size(comm, &size);
    int64_t mine = world_rank, *world = malloc((size_t)size * sizeof *world);
    MPI_Allgather(&mine, 1, MPI_LONG, world, 1, MPI_LONG, comm);

    char path[4096];
    snprintf(path, sizeof path, "%s/%sranks.table", out, prefix);
    table *ranks = table_create(comm, path, RANK_COLUMNS);
    snprintf(path, sizeof path, "%s/%smessages.table", out, prefix);
    table *messages = table_create(comm, path, MESSAGE_COLUMNS);
    for (int level = 0; level < levels; level++) {
        hypre_ParCSRMatrix *a = hypre_ParAMGDataAArray(amg)[level];
        hypre_ParCSRMatrix *p = level + 1 < levels ? hypre_ParAMGDataPArray(amg)[level] : NULL;
        append_rank(ranks, a, p, level + level_offset, world_rank);
        append_messages(messages, a, level + level_offset, OPERATOR_SOLVE, world);
        if (p)
            append_messages(messages, p, level + level_offset, OPERATOR_INTERPOLATION, world);
    }
    table_close(ranks);
    table_close(messages);
    free(world);
}
