/* What miniAMR does between ranks: blocks that are refined around a point that moves, counted and given to other ranks, in messages of a
 * derived type, with communicators of those ranks that have some; 216 variables outside functions that each rank writes. */
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEN(name) int count_##name##_0 = 1, count_##name##_1, count_##name##_2, count_##name##_3 = 4, count_##name##_4, count_##name##_5, count_##name##_6 = 7, count_##name##_7, count_##name##_8, count_##name##_9;
#define SET(name) count_##name##_0 += my_rank, count_##name##_1 = my_rank, count_##name##_4 = count_##name##_0 + 1, count_##name##_9 = my_rank * my_rank;
#define SAME(name) (count_##name##_0 == 1 + my_rank && count_##name##_1 == my_rank && count_##name##_4 == count_##name##_0 + 1 && count_##name##_9 == my_rank * my_rank && count_##name##_3 == 4)
#define ALL(what, between)                                                                                             \
    what(a) between what(b) between what(c) between what(d) between what(e) between what(f) between what(g)            \
        between what(h) between what(i) between what(j) between what(k) between what(l) between what(m) between what(n) \
            between what(o) between what(p) between what(q) between what(r) between what(s) between what(t) between what(u)
#define NOTHING
ALL(TEN, NOTHING)

enum { CELLS = 64, MOST_LEVEL = 2 };
typedef struct {
    int64_t number; /* place on its level */
    int level;
    char moved;
    double cell[CELLS];
} block;

int my_rank, num_pes;
block *blocks;
int num_blocks, room_blocks, moves_in, moves_out;
MPI_Datatype block_type;
static int *sent_counts, *got_counts;

static block *new_block(void)
{
    if (num_blocks == room_blocks) {
        room_blocks = room_blocks ? 2 * room_blocks : 8;
        blocks = realloc(blocks, (size_t)room_blocks * sizeof *blocks);
    }
    memset(&blocks[num_blocks], 0, sizeof *blocks);
    return &blocks[num_blocks++];
}

/* Blocks that the point is in become eight. */
static void refine(int step)
{
    for (int b = 0, before = num_blocks; b < before; b++) {
        if (blocks[b].level == MOST_LEVEL || (blocks[b].number * 7 + step) % 5 != 0)
            continue;
        for (int child = 1; child < 8; child++) {
            block *made = new_block();
            *made = blocks[b];
            made->number = 8 * blocks[b].number + child;
            made->level++;
            for (int i = 0; i < CELLS; i++)
                made->cell[i] += child / 8.0;
        }
        blocks[b].number *= 8;
        blocks[b].level++;
    }
}

/* Every rank gets its share of all blocks in the order of ranks: what lies beyond it goes away. */
static void balance(void)
{
    int64_t mine = num_blocks, before = 0, all = 0;
    MPI_Exscan(&mine, &before, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (my_rank == 0)
        before = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    int64_t share = (all + num_pes - 1) / num_pes;
    memset(sent_counts, 0, (size_t)num_pes * sizeof(int));
    for (int b = 0; b < num_blocks; b++)
        sent_counts[(before + b) / share]++;
    MPI_Alltoall(sent_counts, 1, MPI_INT, got_counts, 1, MPI_INT, MPI_COMM_WORLD);
    int total = 0, partners = 0, next = 0;
    for (int r = 0; r < num_pes; r++) {
        total += got_counts[r];
        partners += (got_counts[r] > 0) + (sent_counts[r] > 0);
    }
    block *fresh = calloc((size_t)total + 1, sizeof *fresh);
    MPI_Request *requests = malloc((size_t)(partners + 1) * sizeof *requests);
    partners = 0;
    for (int r = 0; r < num_pes; next += got_counts[r++])
        if (got_counts[r] > 0)
            MPI_Irecv(fresh + next, got_counts[r], block_type, r, 17, MPI_COMM_WORLD, &requests[partners++]);
    next = 0;
    for (int r = 0; r < num_pes; next += sent_counts[r++])
        if (sent_counts[r] > 0)
            MPI_Isend(blocks + next, sent_counts[r], block_type, r, 17, MPI_COMM_WORLD, &requests[partners++]);
    while (partners > 0) { /* as they come */
        int done, at[64], few = partners < 64 ? partners : 64;
        MPI_Waitsome(few, requests, &done, at, MPI_STATUSES_IGNORE);
        int left = 0;
        for (int i = 0; i < partners; i++)
            if (requests[i] != MPI_REQUEST_NULL)
                requests[left++] = requests[i];
        partners = left;
    }
    moves_in += total - got_counts[my_rank];
    moves_out += num_blocks - sent_counts[my_rank];
    free(requests);
    free(blocks);
    blocks = fresh;
    num_blocks = total;
    room_blocks = total + 1;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &num_pes);
    ALL(SET, NOTHING)
    sent_counts = malloc((size_t)num_pes * sizeof(int));
    got_counts = malloc((size_t)num_pes * sizeof(int));
    MPI_Datatype plain;
    MPI_Type_create_struct(4, (int[]){1, 1, 1, CELLS},
                           (MPI_Aint[]){offsetof(block, number), offsetof(block, level), offsetof(block, moved), offsetof(block, cell)},
                           (MPI_Datatype[]){MPI_INT64_T, MPI_INT, MPI_CHAR, MPI_DOUBLE}, &plain);
    MPI_Type_create_resized(plain, 0, sizeof(block), &block_type);
    MPI_Type_commit(&block_type);
    MPI_Type_free(&plain);
    block *first = new_block();
    first->number = my_rank;
    for (int i = 0; i < CELLS; i++)
        first->cell[i] = my_rank + i / 64.0;
    for (int step = 0; step < 4; step++) {
        refine(step);
        balance();
        MPI_Comm busy; /* those that have blocks of the finest level */
        int finest = 0;
        for (int b = 0; b < num_blocks; b++)
            finest += blocks[b].level == MOST_LEVEL;
        MPI_Comm_split(MPI_COMM_WORLD, finest > 0 ? 1 : MPI_UNDEFINED, my_rank, &busy);
        if (busy != MPI_COMM_NULL) {
            int most;
            MPI_Allreduce(&finest, &most, 1, MPI_INT, MPI_MAX, busy);
            for (int b = 0; b < num_blocks; b++)
                blocks[b].cell[step] += most;
            MPI_Comm_free(&busy);
        }
    }
    int64_t counts[3] = {num_blocks, moves_in, moves_out}, sums[3];
    uint64_t bits = 0, all;
    for (int b = 0; b < num_blocks; b++)
        for (int i = 0; i < CELLS; i++) {
            uint64_t one;
            memcpy(&one, &blocks[b].cell[i], 8);
            bits ^= one * (uint64_t)(2 * (blocks[b].number * CELLS + i) + 1);
        }
    MPI_Reduce(counts, sums, 3, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&bits, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (!(ALL(SAME, &&)) || (my_rank == 0 && sums[1] != sums[2]))
        MPI_Abort(MPI_COMM_WORLD, 9);
    if (my_rank == 0)
        printf("blocks %lld moved %lld bits %016llx\n", (long long)sums[0], (long long)sums[1], (unsigned long long)all);
    MPI_Type_free(&block_type);
    free(blocks), free(sent_counts), free(got_counts);
    MPI_Finalize();
    return 0;
}
