/* Derived data types, their bounds, complex and small numbers, groups, names, attributes and hints. */
#include <complex.h>
#include <stddef.h>
#include <string.h>

#include "expect.h"

typedef struct {
    double x;
    char c;
    short s[3];
} cell;

static void bounds(void)
{
    MPI_Aint lower, extent;
    int size;
    MPI_Datatype type, wide;
    MPI_Type_create_struct(3, (int[]){1, 1, 3}, (MPI_Aint[]){offsetof(cell, x), offsetof(cell, c), offsetof(cell, s)},
                           (MPI_Datatype[]){MPI_DOUBLE, MPI_CHAR, MPI_SHORT}, &type);
    MPI_Type_commit(&type);
    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_size(type, &size);
    EXPECT(lower == 0 && extent == (MPI_Aint)sizeof(cell) && size == 15);
    cell sent[2] = {{1.5, 'a', {1, 2, 3}}, {2.5, 'b', {4, 5, 6}}}, got[2];
    memset(got, 0, sizeof got);
    MPI_Sendrecv(sent, 2, type, 0, 1, got, 2, type, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    EXPECT(got[1].x == 2.5 && got[1].c == 'b' && got[1].s[2] == 6 && got[0].s[0] == 1);
    MPI_Type_free(&type);

    MPI_Type_indexed(2, (int[]){2, 1}, (int[]){1, 5}, MPI_INT, &type); /* elements 1, 2 and 5 */
    MPI_Type_get_extent(type, &lower, &extent);
    EXPECT(lower == 4 && extent == 20);
    MPI_Type_create_resized(type, 0, 32, &wide);
    MPI_Type_get_extent(wide, &lower, &extent);
    EXPECT(lower == 0 && extent == 32);
    MPI_Type_get_true_extent(wide, &lower, &extent);
    EXPECT(lower == 4 && extent == 20);
    MPI_Type_commit(&wide);
    int from[16], to[6];
    for (int i = 0; i < 16; i++)
        from[i] = i;
    MPI_Sendrecv(from, 2, wide, 0, 1, to, 6, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    EXPECT(to[0] == 1 && to[1] == 2 && to[2] == 5 && to[3] == 9 && to[4] == 10 && to[5] == 13);
    MPI_Type_free(&wide);
    MPI_Type_free(&type);

    int grid[4][5], corner[6] = {0};
    for (int i = 0; i < 20; i++)
        (&grid[0][0])[i] = i;
    MPI_Type_create_subarray(2, (int[]){4, 5}, (int[]){2, 3}, (int[]){1, 2}, MPI_ORDER_C, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_get_extent(type, &lower, &extent);
    EXPECT(lower == 0 && extent == 80);
    MPI_Sendrecv(grid, 1, type, 0, 1, corner, 6, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    EXPECT(corner[0] == 7 && corner[2] == 9 && corner[3] == 12 && corner[5] == 14);
    MPI_Type_free(&type);
    MPI_Type_create_subarray(2, (int[]){5, 4}, (int[]){3, 2}, (int[]){2, 1}, MPI_ORDER_FORTRAN, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(grid, 1, type, 0, 1, corner, 6, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    EXPECT(corner[0] == 7 && corner[2] == 9 && corner[3] == 12 && corner[5] == 14);
    MPI_Type_free(&type);

    MPI_Type_create_indexed_block(2, 2, (int[]){3, 0}, MPI_INT, &type); /* elements 3, 4, then 0, 1 */
    MPI_Type_commit(&type);
    MPI_Sendrecv(from, 1, type, 0, 1, to, 4, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    EXPECT(to[0] == 3 && to[1] == 4 && to[2] == 0 && to[3] == 1);
    MPI_Type_dup(type, &wide);
    MPI_Sendrecv(from, 1, wide, 0, 1, to, 4, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    EXPECT(to[0] == 3 && to[3] == 1);
    MPI_Type_free(&wide);
    MPI_Type_free(&type);
    MPI_Type_create_hindexed(2, (int[]){1, 2}, (MPI_Aint[]){8, 20}, MPI_INT, &type); /* elements 2, 5, 6 */
    MPI_Type_commit(&type);
    MPI_Sendrecv(from, 1, type, 0, 1, to, 3, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    EXPECT(to[0] == 2 && to[1] == 5 && to[2] == 6);
    MPI_Type_free(&type);
}

/* What the user's function below combines: 12 bytes of data, 16 in memory. */
typedef struct {
    double value;
    int place;
} largest;

static void larger(void *in, void *inout, int *count, MPI_Datatype *type)
{
    largest *a = in, *b = inout;
    (void)type;
    for (int i = 0; i < *count; i++)
        if (a[i].value > b[i].value)
            b[i] = a[i];
}

static void padded(int rank, int n)
{
    int size;
    MPI_Aint lower, extent;
    MPI_Type_size(MPI_SHORT_INT, &size);
    EXPECT(size == sizeof(short) + sizeof(int));
    MPI_Type_size(MPI_LONG_INT, &size);
    EXPECT(size == sizeof(long) + sizeof(int));
    MPI_Type_size(MPI_DOUBLE_INT, &size);
    MPI_Type_get_extent(MPI_DOUBLE_INT, &lower, &extent);
    EXPECT(size == sizeof(double) + sizeof(int) && extent == sizeof(largest));
    largest mine[2] = {{1.0 + rank, rank}, {-1.0 * rank, rank}}, most[2];
    MPI_Allreduce(mine, most, 2, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    EXPECT(most[0].value == n && most[0].place == n - 1 && most[1].value == 0 && most[1].place == 0);

    MPI_Datatype part, type, kinds[2] = {MPI_DOUBLE, MPI_INT};
    MPI_Aint offsets[2] = {0, sizeof(double)};
    int lengths[2] = {1, 1};
    MPI_Op op;
    MPI_Type_create_struct(2, lengths, offsets, kinds, &part);
    MPI_Type_create_resized(part, 0, sizeof(largest), &type);
    MPI_Type_commit(&type);
    MPI_Op_create(larger, 1, &op);
    MPI_Allreduce(mine, most, 2, type, op, MPI_COMM_WORLD);
    EXPECT(most[0].value == n && most[0].place == n - 1 && most[1].value == 0 && most[1].place == 0);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    MPI_Type_free(&part);
}

static void numbers(int rank, int n)
{
    double complex term = rank + 1 + 2 * I * rank, sum;
    MPI_Allreduce(&term, &sum, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(creal(sum) == n * (n + 1) / 2.0 && cimag(sum) == (double)n * (n - 1));
    short small = (short)rank, most;
    MPI_Allreduce(&small, &most, 1, MPI_SHORT, MPI_MAX, MPI_COMM_WORLD);
    EXPECT(most == n - 1);
    long double half = 0.5L, halves;
    MPI_Allreduce(&half, &halves, 1, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(halves == 0.5L * n);
    struct {
        long value;
        int place;
    } mine = {-rank, rank}, first;
    MPI_Allreduce(&mine, &first, 1, MPI_LONG_INT, MPI_MINLOC, MPI_COMM_WORLD);
    EXPECT(first.value == 1 - n && first.place == n - 1);
    int in = 3, inout = 4;
    MPI_Reduce_local(&in, &inout, 1, MPI_INT, MPI_PROD);
    EXPECT(inout == 12);
}

static void groups(int rank, int n)
{
    MPI_Group world, odd, even, all, none, range;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int size, place, *odds = malloc(sizeof(int) * (size_t)n), count = 0, result;
    for (int i = 1; i < n; i += 2)
        odds[count++] = i;
    MPI_Group_incl(world, count, odds, &odd);
    MPI_Group_excl(world, count, odds, &even);
    MPI_Group_size(odd, &size);
    EXPECT(size == n / 2);
    MPI_Group_rank(odd, &place);
    EXPECT(place == (rank % 2 ? rank / 2 : MPI_UNDEFINED));
    MPI_Group_union(even, odd, &all);
    MPI_Group_compare(all, world, &result);
    EXPECT(result == (n > 2 ? MPI_SIMILAR : MPI_IDENT));
    MPI_Group_intersection(even, odd, &none);
    MPI_Group_size(none, &size);
    EXPECT(size == 0);
    MPI_Group_difference(world, even, &range);
    MPI_Group_compare(range, odd, &result);
    EXPECT(result == MPI_IDENT);
    MPI_Group_free(&range);
    MPI_Group_range_incl(world, 1, (int[][3]){{n - 1, 0, -1}}, &range);
    MPI_Group_translate_ranks(world, 1, &rank, range, &place);
    EXPECT(place == n - 1 - rank);
    MPI_Comm reversed;
    MPI_Comm_create(MPI_COMM_WORLD, range, &reversed);
    MPI_Comm_rank(reversed, &place);
    EXPECT(place == n - 1 - rank);
    MPI_Comm_free(&reversed);
    MPI_Group_free(&world), MPI_Group_free(&odd), MPI_Group_free(&even), MPI_Group_free(&all), MPI_Group_free(&range);
    free(odds);
}

static int twice(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    *(int **)out = (int *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static void handles(int rank)
{
    int key, flag, values[2] = {rank, rank + 100}, *got, length, *most;
    char text[MPI_MAX_OBJECT_NAME];
    MPI_Comm twin;
    MPI_Comm_create_keyval(twice, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &got, &flag);
    EXPECT(!flag);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, values);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_get_attr(twin, key, &got, &flag);
    EXPECT(flag && *got == rank + 100);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &got, &flag);
    EXPECT(!flag);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &flag);
    EXPECT(flag && *most >= 32767);
    MPI_Comm_set_name(twin, "twin");
    MPI_Comm_get_name(twin, text, &length);
    EXPECT(strcmp(text, "twin") == 0 && length == 4);
    MPI_Comm_free(&twin);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "wide", "yes");
    MPI_Info_get(info, "wide", 8, text, &flag);
    EXPECT(flag && strcmp(text, "yes") == 0);
    MPI_Info_get(info, "narrow", 8, text, &flag);
    EXPECT(!flag);
    MPI_Info_free(&info);
    double *memory;
    MPI_Alloc_mem(64, MPI_INFO_NULL, &memory);
    memory[7] = 1;
    MPI_Free_mem(memory);
}

int main(int argc, char **argv)
{
    int rank, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    bounds();
    numbers(rank, n);
    padded(rank, n);
    groups(rank, n);
    handles(rank);
    MPI_Finalize();
    return 0;
}
