// What LULESH does between ranks: a cube of domains, faces, edges and corners exchanged with up to 26 neighbours, the time step by a
// minimum over all, an origin that explodes. The arithmetic is plain diffusion. Prints the step and all bits of the result.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

struct Domain {
    int n, side, rank, at[3];
    std::vector<double> energy, next;
    double &cell(int x, int y, int z) { return energy[(static_cast<size_t>(z) * (n + 2) + y) * (n + 2) + x]; }
};

static double step_limit = 1e30; // a rank's own, outside functions

static void range(int direction, int n, bool ghost, int &from, int &to)
{
    from = direction < 0 ? (ghost ? 0 : 1) : direction > 0 ? (ghost ? n + 1 : n) : 1;
    to = direction == 0 ? n : from;
}

// Copies the cells that a neighbour in this direction gets (or, ghosts, gives) to or from a buffer.
static void copy(Domain &d, const int *direction, bool ghost, std::vector<double> &buffer, bool pack)
{
    int from[3], to[3];
    for (int i = 0; i < 3; i++)
        range(direction[i], d.n, ghost, from[i], to[i]);
    size_t next = 0;
    if (pack)
        buffer.assign(static_cast<size_t>(d.n) * d.n + 2, 0);
    for (int z = from[2]; z <= to[2]; z++)
        for (int y = from[1]; y <= to[1]; y++)
            for (int x = from[0]; x <= to[0]; x++, next++)
                (pack ? buffer[next] : d.cell(x, y, z)) = pack ? d.cell(x, y, z) : buffer[next];
    if (pack)
        buffer.resize(next);
}

static void exchange(Domain &d)
{
    std::vector<MPI_Request> requests;
    std::vector<std::vector<double>> in(27), out(27);
    for (int round = 0; round < 2; round++)
        for (int k = 0; k < 27; k++) {
            int direction[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1}, peer = 0;
            bool inside = k != 13;
            for (int i = 2; i >= 0; i--) {
                int place = d.at[i] + direction[i];
                inside = inside && place >= 0 && place < d.side;
                peer = peer * d.side + place;
            }
            if (!inside)
                continue;
            requests.push_back(MPI_REQUEST_NULL);
            if (round == 0) {
                in[k].resize(static_cast<size_t>(d.n) * d.n);
                MPI_Irecv(in[k].data(), d.n * d.n, MPI_DOUBLE, peer, 26 - k, MPI_COMM_WORLD, &requests.back());
            } else {
                copy(d, direction, false, out[k], true);
                MPI_Isend(out[k].data(), static_cast<int>(out[k].size()), MPI_DOUBLE, peer, k, MPI_COMM_WORLD, &requests.back());
            }
        }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (int k = 0; k < 27; k++)
        if (!in[k].empty()) {
            int direction[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
            copy(d, direction, true, in[k], false);
        }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    Domain d;
    int size, steps = argc > 2 ? std::atoi(argv[2]) : 10;
    d.n = argc > 1 ? std::atoi(argv[1]) : 6;
    MPI_Comm_rank(MPI_COMM_WORLD, &d.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (d.side = 1; d.side * d.side * d.side < size;)
        d.side++;
    if (d.side * d.side * d.side != size)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0, rest = d.rank; i < 3; i++, rest /= d.side)
        d.at[i] = rest % d.side;
    d.energy.assign(static_cast<size_t>(d.n + 2) * (d.n + 2) * (d.n + 2), 0);
    if (d.rank == 0)
        d.cell(1, 1, 1) = 3.948746e+7;
    double time = 0;
    for (int step = 0; step < steps; step++) {
        exchange(d);
        double largest = *std::max_element(d.energy.begin(), d.energy.end()), dt;
        step_limit = std::min(step_limit, 1.0 / (1.0 + largest));
        MPI_Allreduce(&step_limit, &dt, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
        time += dt;
        d.next = d.energy;
        for (int z = 1; z <= d.n; z++)
            for (int y = 1; y <= d.n; y++)
                for (int x = 1; x <= d.n; x++) {
                    double sum = 0;
                    for (int k = 0; k < 27; k++)
                        sum += d.cell(x + k % 3 - 1, y + k / 3 % 3 - 1, z + k / 9 - 1);
                    d.next[(static_cast<size_t>(z) * (d.n + 2) + y) * (d.n + 2) + x] = sum / 27;
                }
        d.energy.swap(d.next);
    }
    uint64_t bits = 0, all;
    for (int z = 1; z <= d.n; z++)
        for (int y = 1; y <= d.n; y++)
            for (int x = 1; x <= d.n; x++) {
                uint64_t one;
                std::memcpy(&one, &d.cell(x, y, z), 8);
                bits = bits * 31 + one;
            }
    MPI_Reduce(&bits, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (d.rank == 0)
        std::printf("time %.17g bits %016llx\n", time, static_cast<unsigned long long>(all));
    MPI_Finalize();
}
