/* One-sided calls with fences and with locks. */
#include "expect.h"
#include <string.h>

/* A hint is kept. One that is set later replaces it, or takes it away. */
static void keep_hints(void)
{
    MPI_Info hints;
    MPI_Win window;
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "no_locks", "true");
    MPI_Win_create(NULL, 0, 1, hints, MPI_COMM_WORLD, &window);
    for (int i = 0; i < 2; i++) {
        char value[MPI_MAX_INFO_VAL] = "";
        int found;
        MPI_Info kept;
        MPI_Win_get_info(window, &kept);
        MPI_Info_get(kept, "no_locks", MPI_MAX_INFO_VAL - 1, value, &found);
        EXPECT(i == 0 ? found && strcmp(value, "true") == 0 : !found || strcmp(value, "false") == 0);
        MPI_Info_free(&kept);
        MPI_Info_set(hints, "no_locks", "false");
        MPI_Win_set_info(window, hints);
    }
    MPI_Info_free(&hints);
    MPI_Win_free(&window);
}

int main(int argc, char **argv)
{
    int rank, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    int left = (rank + n - 1) % n, right = (rank + 1) % n, *memory, got = -1, mine = 10 * rank;
    MPI_Win window;
    MPI_Win_allocate(4 * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    for (int i = 0; i < 4; i++)
        memory[i] = 100 * rank + i;
    MPI_Win_fence(0, window);
    MPI_Put(&mine, 1, MPI_INT, right, 0, 1, MPI_INT, window);
    MPI_Get(&got, 1, MPI_INT, left, 3, 1, MPI_INT, window);
    int one = 1;
    MPI_Accumulate(&one, 1, MPI_INT, 0, 2, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_fence(0, window);
    EXPECT(memory[0] == 10 * left && got == 100 * left + 3 && memory[2] == 100 * rank + 2 + (rank == 0 ? n : 0));
    MPI_Win_free(&window);

    int counter[2] = {0, 0}, ticket = -1, turns[2] = {-1, 0};
    MPI_Win_create(counter, sizeof counter, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Fetch_and_op(&one, &ticket, MPI_INT, 0, 0, MPI_SUM, window);
    MPI_Win_unlock(0, window);
    EXPECT(ticket >= 0 && ticket < n);
    while (turns[0] != n) { /* until all have one */
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        MPI_Get(turns, 2, MPI_INT, 0, 0, 2, MPI_INT, window);
        MPI_Win_unlock(0, window);
    }
    int sum;
    MPI_Allreduce(&ticket, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(sum == n * (n - 1) / 2 && turns[1] == 0);
    MPI_Win_free(&window);
    keep_hints();
    MPI_Finalize();
    return 0;
}
