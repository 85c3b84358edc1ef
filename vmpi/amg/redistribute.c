/* One level on fewer ranks: rows (and later vectors) move to the first rank of each group of adjacent active ranks.
 * The global numbering does not change, because a group's rows are adjacent. */
#include <stdlib.h>
#include <string.h>

#include "amg.h"

enum { TAG_SIZES = 901, TAG_COLUMNS, TAG_VALUES, TAG_VECTOR, TAG_NUMBERS };

typedef struct {
    int rows, entries;
    HYPRE_Int *size;
    HYPRE_BigInt *column;
    double *value;
} row_block;

static row_block make_block(int rows, int entries)
{
    row_block b = {rows, entries, malloc(((size_t)rows + 1) * sizeof(HYPRE_Int)),
                   malloc(((size_t)entries + 1) * sizeof(HYPRE_BigInt)), malloc(((size_t)entries + 1) * sizeof(double))};
    if (!b.size || !b.column || !b.value)
        stop("out of memory for %d matrix entries", entries);
    return b;
}

static void free_block(row_block b)
{
    free(b.size);
    free(b.column);
    free(b.value);
}

static int copy_row(hypre_CSRMatrix *part, int row, const HYPRE_BigInt *column_map, HYPRE_BigInt first, row_block *b,
                    int at)
{
    for (int k = hypre_CSRMatrixI(part)[row]; k < hypre_CSRMatrixI(part)[row + 1]; k++, at++) {
        int local = hypre_CSRMatrixJ(part)[k];
        b->column[at] = column_map ? column_map[local] : first + local;
        b->value[at] = hypre_CSRMatrixData(part)[k];
    }
    return at;
}

/* Rows of this rank with global column numbers. */
static row_block local_block(HYPRE_ParCSRMatrix m)
{
    hypre_CSRMatrix *diagonal = hypre_ParCSRMatrixDiag(m), *rest = hypre_ParCSRMatrixOffd(m);
    int has_rest = hypre_CSRMatrixNumCols(rest) > 0;
    row_block b = make_block(hypre_CSRMatrixNumRows(diagonal),
                             hypre_CSRMatrixNumNonzeros(diagonal) + hypre_CSRMatrixNumNonzeros(rest));
    int at = 0;
    for (int row = 0; row < b.rows; row++) {
        int before = at;
        at = copy_row(diagonal, row, NULL, hypre_ParCSRMatrixFirstColDiag(m), &b, at);
        if (has_rest)
            at = copy_row(rest, row, hypre_ParCSRMatrixColMapOffd(m), 0, &b, at);
        b.size[row] = at - before;
    }
    return b;
}

/* Finds leaders and members from the row counts of all ranks. */
static void form_groups(regrouped *r, const int *rows, int ranks, int rank, int groups)
{
    int active = 0;
    for (int i = 0; i < ranks; i++)
        active += rows[i] > 0;
    if (groups > active)
        stop("%d groups do not fit %d active ranks", groups, active);
    r->leader = -1;
    r->member = malloc(((size_t)active + 1) * sizeof(int));
    r->member_rows = malloc(((size_t)active + 1) * sizeof(int));
    int index = 0, group = -1, left = 0, leader = -1;
    for (int i = 0; i < ranks; i++) {
        if (rows[i] == 0)
            continue;
        if (left == 0) {
            group++;
            left = active / groups + (group < active % groups);
            leader = i;
        }
        left--;
        index++;
        if (i == rank)
            r->leader = leader;
        if (leader == rank) {
            r->member[r->members] = i;
            r->member_rows[r->members++] = rows[i];
        }
    }
    r->is_leader = r->members > 0;
}

static void send_block(const row_block *b, int leader, MPI_Comm comm)
{
    MPI_Send(b->size, b->rows, HYPRE_MPI_INT, leader, TAG_SIZES, comm);
    MPI_Send(b->column, b->entries, HYPRE_MPI_BIG_INT, leader, TAG_COLUMNS, comm);
    MPI_Send(b->value, b->entries, MPI_DOUBLE, leader, TAG_VALUES, comm);
}

/* Rows of the leader: its own and its members', in rank order. */
static row_block collect(const regrouped *r, const row_block *own, int rank)
{
    int rows = 0, entries = 0, row = 0, at = 0;
    for (int i = 0; i < r->members; i++)
        rows += r->member_rows[i];
    HYPRE_Int *sizes = malloc(((size_t)rows + 1) * sizeof *sizes);
    for (int i = 0; i < r->members; row += r->member_rows[i++])
        if (r->member[i] == rank)
            memcpy(sizes + row, own->size, (size_t)own->rows * sizeof *sizes);
        else
            MPI_Recv(sizes + row, r->member_rows[i], HYPRE_MPI_INT, r->member[i], TAG_SIZES, r->comm,
                     MPI_STATUS_IGNORE);
    for (int i = 0; i < rows; i++)
        entries += sizes[i];
    row_block b = make_block(rows, entries);
    memcpy(b.size, sizes, (size_t)rows * sizeof *sizes);
    free(sizes);
    row = 0;
    for (int i = 0; i < r->members; i++) {
        int count = 0;
        for (int k = 0; k < r->member_rows[i]; k++)
            count += b.size[row++];
        if (r->member[i] == rank) {
            memcpy(b.column + at, own->column, (size_t)count * sizeof *b.column);
            memcpy(b.value + at, own->value, (size_t)count * sizeof *b.value);
        } else {
            MPI_Recv(b.column + at, count, HYPRE_MPI_BIG_INT, r->member[i], TAG_COLUMNS, r->comm, MPI_STATUS_IGNORE);
            MPI_Recv(b.value + at, count, MPI_DOUBLE, r->member[i], TAG_VALUES, r->comm, MPI_STATUS_IGNORE);
        }
        at += count;
    }
    return b;
}

regrouped *regroup(HYPRE_ParCSRMatrix m, int groups)
{
    regrouped *r = calloc(1, sizeof *r);
    int rank, ranks;
    HYPRE(HYPRE_ParCSRMatrixGetComm(m, &r->comm));
    MPI_Comm_rank(r->comm, &rank);
    MPI_Comm_size(r->comm, &ranks);
    row_block own = local_block(m);
    int *rows = malloc((size_t)ranks * sizeof *rows);
    MPI_Allgather(&own.rows, 1, MPI_INT, rows, 1, MPI_INT, r->comm);
    form_groups(r, rows, ranks, rank, groups);
    free(rows);
    MPI_Comm_split(r->comm, r->is_leader ? 0 : MPI_UNDEFINED, rank, &r->leaders);
    if (r->is_leader) {
        row_block all = collect(r, &own, rank);
        r->matrix = assemble(r->leaders, hypre_ParCSRMatrixFirstRowIndex(m), all.rows, all.size, all.column, all.value);
        free_block(all);
    } else if (r->leader >= 0) {
        send_block(&own, r->leader, r->comm);
    }
    free_block(own);
    return r;
}

static double *values_of(HYPRE_ParVector v)
{
    return hypre_VectorData(hypre_ParVectorLocalVector(v));
}

void gather_vector(const regrouped *r, HYPRE_ParVector fine, HYPRE_ParVector kept)
{
    int rank, rows = hypre_VectorSize(hypre_ParVectorLocalVector(fine));
    MPI_Comm_rank(r->comm, &rank);
    if (!r->is_leader) {
        if (r->leader >= 0)
            MPI_Send(values_of(fine), rows, MPI_DOUBLE, r->leader, TAG_VECTOR, r->comm);
        return;
    }
    double *to = values_of(kept);
    for (int i = 0; i < r->members; to += r->member_rows[i++])
        if (r->member[i] == rank)
            memcpy(to, values_of(fine), (size_t)rows * sizeof *to);
        else
            MPI_Recv(to, r->member_rows[i], MPI_DOUBLE, r->member[i], TAG_VECTOR, r->comm, MPI_STATUS_IGNORE);
}

HYPRE_Int *gather_numbers(const regrouped *r, const HYPRE_Int *own, int rows)
{
    int rank, kept = 0, at = 0;
    MPI_Comm_rank(r->comm, &rank);
    if (!r->is_leader) {
        if (r->leader >= 0)
            MPI_Send(own, rows, HYPRE_MPI_INT, r->leader, TAG_NUMBERS, r->comm);
        return NULL;
    }
    for (int i = 0; i < r->members; i++)
        kept += r->member_rows[i];
    HYPRE_Int *all = hypre_CTAlloc(HYPRE_Int, kept + 1, HYPRE_MEMORY_HOST);
    for (int i = 0; i < r->members; at += r->member_rows[i++])
        if (r->member[i] == rank)
            memcpy(all + at, own, (size_t)rows * sizeof *all);
        else
            MPI_Recv(all + at, r->member_rows[i], HYPRE_MPI_INT, r->member[i], TAG_NUMBERS, r->comm,
                     MPI_STATUS_IGNORE);
    return all;
}

void scatter_vector(const regrouped *r, HYPRE_ParVector kept, HYPRE_ParVector fine)
{
    int rank, rows = hypre_VectorSize(hypre_ParVectorLocalVector(fine));
    MPI_Comm_rank(r->comm, &rank);
    if (!r->is_leader) {
        if (r->leader >= 0)
            MPI_Recv(values_of(fine), rows, MPI_DOUBLE, r->leader, TAG_VECTOR, r->comm, MPI_STATUS_IGNORE);
        return;
    }
    double *from = values_of(kept);
    for (int i = 0; i < r->members; from += r->member_rows[i++])
        if (r->member[i] == rank)
            memcpy(values_of(fine), from, (size_t)rows * sizeof *from);
        else
            MPI_Send(from, r->member_rows[i], MPI_DOUBLE, r->member[i], TAG_VECTOR, r->comm);
}
