/* The matrices: hypre's generators for the model problems, and the user's matrix from a file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "HYPRE.h"
#include "HYPRE_IJ_mv.h"
#include "amg.h"

typedef struct {
    int index[3]; /* this rank's place in the grid of ranks, first direction fastest */
    HYPRE_BigInt size[3];
} place;

static place place_of(MPI_Comm comm, const amg_settings *s)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    place p = {.index = {rank % s->grid[0], rank / s->grid[0] % s->grid[1], rank / (s->grid[0] * s->grid[1])}};
    for (int d = 0; d < 3; d++)
        p.size[d] = (HYPRE_BigInt)s->grid[d] * s->points[d];
    return p;
}

static HYPRE_ParCSRMatrix seven_points(MPI_Comm comm, const amg_settings *s, const double c[3])
{
    place p = place_of(comm, s);
    double value[4] = {0.0, -c[0], -c[1], -c[2]};
    for (int d = 0; d < 3; d++)
        if (p.size[d] > 1)
            value[0] += 2.0 * c[d];
    return GenerateLaplacian(comm, p.size[0], p.size[1], p.size[2], s->grid[0], s->grid[1],
                                                   s->grid[2], p.index[0], p.index[1], p.index[2], value);
}

static HYPRE_ParCSRMatrix twenty_seven_points(MPI_Comm comm, const amg_settings *s)
{
    place p = place_of(comm, s);
    double value[2] = {26.0, -1.0};
    return GenerateLaplacian27pt(comm, p.size[0], p.size[1], p.size[2], s->grid[0], s->grid[1],
                                                       s->grid[2], p.index[0], p.index[1], p.index[2], value);
}

static HYPRE_ParCSRMatrix rotated(MPI_Comm comm, const amg_settings *s)
{
    place p = place_of(comm, s);
    return GenerateRotate7pt(comm, p.size[0], p.size[1], s->grid[0], s->grid[1], p.index[0],
                                                   p.index[1], s->angle, s->epsilon);
}

/* A matrix file: "ODOCSR02"; 64-bit rows, non-zeros and ranks; the first row of each rank and the number of rows
 * (64-bit); rows + 1 row starts (64-bit); the columns (32-bit); the values (double). All little-endian. The Python side
 * writes it from MatrixMarket or hypre IJ files. */
typedef struct {
    int descriptor;
    const char *path;
    int64_t rows, nonzeros, ranks;
} matrix_file;

enum { HEAD = 32 };

static void read_at(const matrix_file *f, void *buffer, size_t bytes, int64_t offset)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t got = pread(f->descriptor, (char *)buffer + done, bytes - done, offset + (int64_t)done);
        if (got <= 0)
            stop("%s ends at byte %lld", f->path, (long long)offset + (long long)done);
        done += (size_t)got;
    }
}

static matrix_file open_matrix(const char *path)
{
    matrix_file f = {.path = path, .descriptor = open(path, O_RDONLY)};
    char magic[8];
    int64_t sizes[3];
    if (f.descriptor < 0)
        stop("cannot open %s: %s", path, strerror(errno));
    read_at(&f, magic, 8, 0);
    if (memcmp(magic, "ODOCSR02", 8) != 0)
        stop("%s is not a matrix file", path);
    read_at(&f, sizes, sizeof sizes, 8);
    f.rows = sizes[0];
    f.nonzeros = sizes[1];
    f.ranks = sizes[2];
    return f;
}

HYPRE_ParCSRMatrix assemble(MPI_Comm comm, HYPRE_BigInt low, int rows, HYPRE_Int *row_sizes, HYPRE_BigInt *columns,
                             double *values)
{
    HYPRE_IJMatrix ij;
    HYPRE_BigInt *numbers = malloc(((size_t)rows + 1) * sizeof *numbers);
    for (int i = 0; i < rows; i++)
        numbers[i] = low + i;
    HYPRE(HYPRE_IJMatrixCreate(comm, low, low + rows - 1, low, low + rows - 1, &ij));
    HYPRE(HYPRE_IJMatrixSetObjectType(ij, HYPRE_PARCSR));
    HYPRE(HYPRE_IJMatrixSetRowSizes(ij, row_sizes));
    HYPRE(HYPRE_IJMatrixInitialize(ij));
    HYPRE(HYPRE_IJMatrixSetValues(ij, rows, row_sizes, numbers, columns, values));
    HYPRE(HYPRE_IJMatrixAssemble(ij));
    void *object;
    HYPRE(HYPRE_IJMatrixGetObject(ij, &object));
    HYPRE(HYPRE_IJMatrixSetObjectType(ij, -1)); /* keeps the matrix when the IJ object is destroyed */
    HYPRE(HYPRE_IJMatrixDestroy(ij));
    free(numbers);
    return object;
}

HYPRE_ParVector vector_of_rows(HYPRE_ParCSRMatrix a)
{
    MPI_Comm comm;
    HYPRE_BigInt rows, columns, range[2], first_column, last_column;
    HYPRE_ParVector v;
    HYPRE(HYPRE_ParCSRMatrixGetComm(a, &comm));
    HYPRE(HYPRE_ParCSRMatrixGetDims(a, &rows, &columns));
    HYPRE(HYPRE_ParCSRMatrixGetLocalRange(a, &range[0], &range[1], &first_column, &last_column));
    range[1]++; /* a partition holds the first row after the last one */
    HYPRE(HYPRE_ParVectorCreate(comm, rows, range, &v));
    HYPRE(HYPRE_ParVectorInitialize(v));
    return v;
}

static HYPRE_ParCSRMatrix from_file(MPI_Comm comm, const amg_settings *s)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    matrix_file f = open_matrix(s->matrix_path);
    if (f.ranks != size)
        stop("%s is partitioned for %lld ranks, not %d", f.path, (long long)f.ranks, size);
    int64_t mine[2];
    read_at(&f, mine, sizeof mine, HEAD + 8 * (int64_t)rank);
    HYPRE_BigInt low = (HYPRE_BigInt)mine[0], high = (HYPRE_BigInt)mine[1];
    if (low < 0 || high < low || high > f.rows)
        stop("%s: rank %d has the rows %lld to %lld of %lld", f.path, rank, (long long)low, (long long)high,
             (long long)f.rows);
    int rows = (int)(high - low);
    int64_t starts_at = HEAD + 8 * (f.ranks + 1);
    int64_t *start = calloc((size_t)rows + 1, sizeof *start);
    read_at(&f, start, ((size_t)rows + 1) * sizeof *start, starts_at + 8 * (int64_t)low);
    int64_t first = start[0];
    size_t count = (size_t)(start[rows] - first);
    HYPRE_BigInt *columns = malloc((count + 1) * sizeof *columns);
    double *values = malloc((count + 1) * sizeof *values);
    int64_t columns_at = starts_at + 8 * (f.rows + 1);
    int32_t *stored = calloc(count + 1, sizeof *stored);
    read_at(&f, stored, count * sizeof *stored, columns_at + (int64_t)sizeof *stored * first);
    for (size_t k = 0; k < count; k++)
        columns[k] = stored[k];
    free(stored);
    read_at(&f, values, count * 8, columns_at + 4 * f.nonzeros + 8 * first);
    close(f.descriptor);

    HYPRE_Int *sizes = malloc(((size_t)rows + 1) * sizeof *sizes);
    for (int i = 0; i < rows; i++)
        sizes[i] = (HYPRE_Int)(start[i + 1] - start[i]);
    HYPRE_ParCSRMatrix matrix = assemble(comm, low, rows, sizes, columns, values);
    free(start);
    free(columns);
    free(values);
    free(sizes);
    return matrix;
}

HYPRE_ParCSRMatrix build_problem(MPI_Comm comm, const amg_settings *s)
{
    static const double one[3] = {1.0, 1.0, 1.0};
    if (strcmp(s->problem, "laplace7") == 0)
        return seven_points(comm, s, one);
    if (strcmp(s->problem, "anisotropic") == 0)
        return seven_points(comm, s, s->coefficient);
    if (strcmp(s->problem, "laplace27") == 0)
        return twenty_seven_points(comm, s);
    if (strcmp(s->problem, "rotated") == 0)
        return rotated(comm, s);
    if (strcmp(s->problem, "file") == 0 && s->matrix_path)
        return from_file(comm, s);
    stop("unknown problem '%s'", s->problem);
}
