/* Tables of 64-bit integers: 8 bytes "ODOTABLE", then columns and rows (little-endian 64-bit), then the rows. The
 * number of rows is written last, so that a truncated table is recognized. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amg.h"

struct table {
    MPI_Comm comm;
    int rank, size, columns;
    int64_t rows;
    FILE *file;
    char path[4096];
};

void stop(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("amg-hierarchy: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    MPI_Abort(MPI_COMM_WORLD, 3);
    abort();
}

static void write_head(table *t)
{
    int64_t head[2] = {t->columns, t->rows};
    if (fwrite("ODOTABLE", 1, 8, t->file) != 8 || fwrite(head, sizeof head, 1, t->file) != 1)
        stop("cannot write %s: %s", t->path, strerror(errno));
}

table *table_create(MPI_Comm comm, const char *path, int columns)
{
    table *t = calloc(1, sizeof *t);
    t->comm = comm;
    t->columns = columns;
    MPI_Comm_rank(comm, &t->rank);
    MPI_Comm_size(comm, &t->size);
    snprintf(t->path, sizeof t->path, "%s", path);
    if (t->rank == 0) {
        t->file = fopen(path, "wb");
        if (!t->file)
            stop("cannot create %s: %s", path, strerror(errno));
        t->rows = -1;
        write_head(t);
        t->rows = 0;
    }
    return t;
}

void table_append(table *t, const int64_t *rows, int64_t count)
{
    int values = (int)(count * t->columns);
    int *counts = NULL, *offsets = NULL;
    int64_t *all = NULL;
    int total = 0;
    if (t->rank == 0) {
        counts = malloc((size_t)t->size * sizeof *counts);
        offsets = malloc((size_t)t->size * sizeof *offsets);
    }
    MPI_Gather(&values, 1, MPI_INT, counts, 1, MPI_INT, 0, t->comm);
    if (t->rank == 0) {
        for (int i = 0; i < t->size; i++) {
            offsets[i] = total;
            total += counts[i];
        }
        all = malloc((size_t)(total ? total : 1) * sizeof *all);
        if (!counts || !offsets || !all)
            stop("out of memory for %d values of %s", total, t->path);
    }
    MPI_Gatherv(rows, values, MPI_LONG, all, counts, offsets, MPI_LONG, 0, t->comm);
    if (t->rank == 0) {
        if (total && fwrite(all, sizeof *all, (size_t)total, t->file) != (size_t)total)
            stop("cannot write %s: %s", t->path, strerror(errno));
        t->rows += total / t->columns;
    }
    free(all);
    free(counts);
    free(offsets);
}

void table_close(table *t)
{
    if (t->rank == 0) {
        if (fseek(t->file, 0, SEEK_SET) != 0)
            stop("cannot rewind %s: %s", t->path, strerror(errno));
        write_head(t);
        if (fclose(t->file) != 0)
            stop("cannot write %s: %s", t->path, strerror(errno));
    }
    free(t);
}
