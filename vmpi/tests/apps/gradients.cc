// HPCG's communication: conjugate gradients on a grid cut into boxes, ghosts by lists of neighbours, a multilevel preconditioner
// that exchanges ghosts on each level, global dot products. Sums are gathered and added in rank order, so all bits are equal
// everywhere; an allreduce of the same values must agree to rounding.
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <vector>

static MPI_Comm grid;
static int rank, ranks, neighbours[6];

struct Level {
    int n;
    std::vector<double> x, r, z; // with ghosts
    std::unique_ptr<Level> coarse;
    explicit Level(int cells) : n(cells), x(room()), r(room()), z(room())
    {
        if (n > 2)
            coarse = std::make_unique<Level>(n / 2);
    }
    size_t room() const { return static_cast<size_t>(n + 2) * (n + 2) * (n + 2); }
    size_t at(int i, int j, int k) const { return (static_cast<size_t>(k) * (n + 2) + j) * (n + 2) + i; }
};

static void exchange_ghosts(const Level &level, std::vector<double> &v)
{
    int n = level.n, face = n * n;
    std::vector<double> out(6 * face), in(6 * face);
    MPI_Request requests[6];
    auto cell = [&](int side, int a, int b, bool ghost) {
        int place = side % 2 ? (ghost ? n + 1 : n) : (ghost ? 0 : 1), at[3] = {a + 1, b + 1, b + 1};
        int axis = side / 2;
        at[axis] = place;
        at[(axis + 1) % 3] = a + 1;
        at[(axis + 2) % 3] = b + 1;
        return level.at(at[0], at[1], at[2]);
    };
    for (int side = 0; side < 6; side++) {
        MPI_Irecv(&in[side * face], face, MPI_DOUBLE, neighbours[side], side ^ 1, grid, &requests[side]);
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++)
                out[side * face + a * n + b] = v[cell(side, a, b, false)];
    }
    for (int side = 0; side < 6; side++)
        MPI_Send(&out[side * face], face, MPI_DOUBLE, neighbours[side], side, grid);
    MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
    for (int side = 0; side < 6; side++)
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++)
                v[cell(side, a, b, true)] = neighbours[side] == MPI_PROC_NULL ? 0 : in[side * face + a * n + b];
}

// out = A v with the 7-point Laplacian, shifted to be definite.
static void multiply(const Level &l, std::vector<double> &v, std::vector<double> &out)
{
    exchange_ghosts(l, v);
    for (int k = 1; k <= l.n; k++)
        for (int j = 1; j <= l.n; j++)
            for (int i = 1; i <= l.n; i++)
                out[l.at(i, j, k)] = 6.5 * v[l.at(i, j, k)] - v[l.at(i - 1, j, k)] - v[l.at(i + 1, j, k)] -
                                     v[l.at(i, j - 1, k)] - v[l.at(i, j + 1, k)] - v[l.at(i, j, k - 1)] - v[l.at(i, j, k + 1)];
}

// Additive: a Jacobi step on each level.
static void precondition(Level &l)
{
    for (size_t i = 0; i < l.room(); i++)
        l.z[i] = l.r[i] / 6.5;
    if (!l.coarse)
        return;
    exchange_ghosts(l, l.r);
    Level &c = *l.coarse;
    for (int k = 1; k <= c.n; k++)
        for (int j = 1; j <= c.n; j++)
            for (int i = 1; i <= c.n; i++)
                c.r[c.at(i, j, k)] = l.r[l.at(2 * i, 2 * j, 2 * k)];
    precondition(c);
    for (int k = 1; k <= c.n; k++)
        for (int j = 1; j <= c.n; j++)
            for (int i = 1; i <= c.n; i++)
                l.z[l.at(2 * i, 2 * j, 2 * k)] += 0.1 * c.z[c.at(i, j, k)];
}

static double dot(const Level &l, const std::vector<double> &a, const std::vector<double> &b)
{
    double mine = 0, sum;
    for (int k = 1; k <= l.n; k++)
        for (int j = 1; j <= l.n; j++)
            for (int i = 1; i <= l.n; i++)
                mine += a[l.at(i, j, k)] * b[l.at(i, j, k)];
    std::vector<double> all(ranks);
    MPI_Allgather(&mine, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, grid);
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, grid);
    double ordered = std::accumulate(all.begin(), all.end(), 0.0);
    if (std::abs(sum - ordered) > 1e-12 * std::abs(ordered))
        MPI_Abort(MPI_COMM_WORLD, 9);
    return ordered;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int extent[3] = {0, 0, 0}, open[3] = {0, 0, 0};
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 3, extent);
    MPI_Cart_create(MPI_COMM_WORLD, 3, extent, open, 1, &grid);
    MPI_Comm_rank(grid, &rank);
    for (int d = 0; d < 3; d++)
        MPI_Cart_shift(grid, d, 1, &neighbours[2 * d], &neighbours[2 * d + 1]);
    Level level(argc > 1 ? std::atoi(argv[1]) : 8);
    std::vector<double> p(level.room()), q(level.room());
    for (int k = 1; k <= level.n; k++)
        for (int j = 1; j <= level.n; j++)
            for (int i = 1; i <= level.n; i++)
                level.r[level.at(i, j, k)] = 1 + rank % 3;
    precondition(level);
    p = level.z;
    double rz = dot(level, level.r, level.z), first = dot(level, level.r, level.r), rr = first;
    int steps = 0;
    for (; steps < 50 && rr > 1e-20 * first; steps++) {
        multiply(level, p, q);
        double alpha = rz / dot(level, p, q), before = rz;
        for (size_t i = 0; i < p.size(); i++) {
            level.x[i] += alpha * p[i];
            level.r[i] -= alpha * q[i];
        }
        rr = dot(level, level.r, level.r);
        precondition(level);
        rz = dot(level, level.r, level.z);
        for (size_t i = 0; i < p.size(); i++)
            p[i] = level.z[i] + rz / before * p[i];
    }
    if (rank == 0)
        std::printf("steps %d residual %a\n", steps, std::sqrt(rr / first));
    MPI_Finalize();
    return rr <= 1e-20 * first ? 0 : 1;
}
