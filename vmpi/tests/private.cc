// Variables outside functions, of every kind, are each rank's own: written, sent from, received into while others run,
// constructed and destructed once a rank.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <numeric>
#include <unistd.h>
#include <vector>

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            std::fprintf(stderr, "%s:%d: rank %d: not true: %s\n", __FILE__, __LINE__, rank, #condition);              \
            MPI_Abort(MPI_COMM_WORLD, 9);                                                                              \
        }                                                                                                              \
    } while (0)

int rank, size;
static int counted = 3;               // with a value
static double halo[2][1000], big[200000]; // without one; so many bytes are mapped, not copied
static MPI_Request requests[4];
static std::vector<int> constructed(5, 1); // on the heap, by a constructor
static int *pointer = &counted;
static int counts[64], places[64], received[64];

struct counter {
    int calls = 0;
    ~counter()
    {
        if (calls != 7)
            std::printf("destructed after %d calls\n", calls);
    }
};
static counter destructed;

static int next()
{
    static counter local; // constructed at the first call
    destructed.calls += 7;
    local.calls = 7;
    static int numbers = 10;
    return numbers++;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int first = next();
    EXPECT(first == 10 && counted == 3 && *pointer == 3 && constructed.size() == 5);
    counted += rank;
    constructed.push_back(rank);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int i = 0; i < 1000; i++)
        halo[0][i] = rank + i;
    MPI_Irecv(halo[1], 1000, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]); // into variables that are away by then
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(halo[0], 1000, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 1000; i++)
        EXPECT(halo[1][i] == left + i);
    big[19999] = rank;
    MPI_Allreduce(MPI_IN_PLACE, big, 20000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(big[19999] == size * (size - 1) / 2 && big[0] == 0);
    for (int i = 0; i < size && i < 64; i++) {
        counts[i] = 1;
        places[i] = size - 1 - i;
    }
    if (size <= 64) {
        MPI_Iallgatherv(&rank, 1, MPI_INT, received, counts, places, MPI_INT, MPI_COMM_WORLD, &requests[2]);
        MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
        for (int i = 0; i < size; i++)
            EXPECT(received[size - 1 - i] == i);
    }
    EXPECT(counted == 3 + rank && *pointer == counted && constructed.back() == rank && constructed.size() == 6);
    int options = 0; // getopt goes through each rank's arguments from the start
    for (int option; (option = getopt(argc, argv, "ab:")) != -1; options++)
        EXPECT(option == 'a' || std::atoi(optarg) == 5);
    EXPECT(options == 2);
    EXPECT(std::strcmp(argv[3], "5") == 0);
    argv[3][0] = '6'; // a rank's own, as each process has its own
    std::cout.precision(3 + rank % 2);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(std::cout.precision() == 3 + rank % 2);
    // Alike seeded, each rank has the C library's numbers, whatever the others do between two of them.
    std::srand(7);
    srand48(7);
    random_data generator{};
    char table[128];
    initstate_r(7, table, sizeof table, &generator);
    drand48_data congruence{};
    srand48_r(7, &congruence);
    char words[] = "a b c d e f g h i j";
    for (int i = 0; i < 10; i++) {
        int number;
        random_r(&generator, &number);
        EXPECT(std::rand() == number);
        double fraction;
        drand48_r(&congruence, &fraction);
        EXPECT(drand48() == fraction);
        EXPECT(*strtok(i ? nullptr : words, " ") == 'a' + i);
        if (i == 5 && rank % 2) {
            random_r(&generator, &number);
            EXPECT(random() == number);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
