/* Graph topologies and the collectives of neighbours on them and on Cartesian ones, against closed forms. */
#include "expect.h"

/* A ring of edges up by 1 and by 2: rank r receives from r - 1 and r - 2. */
static void check_ring(MPI_Comm ring, int rank, int n, int ordered)
{
    int sources, destinations, weighted, from[2], to[2], from_weight[2] = {0, 0}, to_weight[2] = {0, 0};
    MPI_Dist_graph_neighbors_count(ring, &sources, &destinations, &weighted);
    EXPECT(sources == 2 && destinations == 2 && weighted);
    MPI_Dist_graph_neighbors(ring, 2, from, from_weight, 2, to, to_weight);
    for (int i = 0; i < 2; i++) {
        EXPECT(n < 4 || (from_weight[i] == 10 * ((rank - from[i] + n) % n) && to_weight[i] == 10 * ((to[i] - rank + n) % n)));
        EXPECT(!ordered || (from[i] == (rank - 1 - i + 2 * n) % n && to[i] == (rank + 1 + i) % n));
    }
    int mine = 5 * rank, got[2] = {-1, -1}, counts[2] = {1, 1}, places[2] = {1, 0}, out[2], kind;
    MPI_Topo_test(ring, &kind);
    EXPECT(kind == MPI_DIST_GRAPH);
    MPI_Neighbor_allgather(&mine, 1, MPI_INT, got, 1, MPI_INT, ring);
    EXPECT(got[0] == 5 * from[0] && got[1] == 5 * from[1]);
    MPI_Neighbor_allgatherv(&mine, 1, MPI_INT, got, counts, places, MPI_INT, ring);
    EXPECT(got[1] == 5 * from[0] && got[0] == 5 * from[1]);
    for (int i = 0; i < 2; i++)
        out[i] = 1000 * rank + to[i];
    MPI_Neighbor_alltoall(out, 1, MPI_INT, got, 1, MPI_INT, ring);
    EXPECT(got[0] == 1000 * from[0] + rank && got[1] == 1000 * from[1] + rank);
    MPI_Neighbor_alltoallv(out, counts, (int[]){0, 1}, MPI_INT, got, counts, places, MPI_INT, ring);
    EXPECT(got[1] == 1000 * from[0] + rank && got[0] == 1000 * from[1] + rank);
    MPI_Aint out_at[2] = {0, 4}, got_at[2] = {0, 4};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Request request[3];
    int other[2], third[2];
    MPI_Ineighbor_alltoallw(out, counts, out_at, types, got, counts, got_at, types, ring, &request[0]);
    MPI_Ineighbor_allgather(&mine, 1, MPI_INT, other, 1, MPI_INT, ring, &request[1]);
    MPI_Ineighbor_alltoall(out, 1, MPI_INT, third, 1, MPI_INT, ring, &request[2]);
    MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; i++)
        EXPECT(got[i] == 1000 * from[i] + rank && third[i] == got[i] && other[i] == 5 * from[i]);
}

static void graphs(int rank, int n)
{
    MPI_Comm ring, twin;
    int from[2] = {(rank - 1 + n) % n, (rank - 2 + 2 * n) % n}, to[2] = {(rank + 1) % n, (rank + 2) % n}, weights[2] = {10, 20};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, weights, 2, to, weights, MPI_INFO_NULL, 0, &ring);
    check_ring(ring, rank, n, 1);
    MPI_Comm_dup(ring, &twin);
    check_ring(twin, rank, n, 1);
    MPI_Comm_free(&twin);
    MPI_Comm_free(&ring);
    /* The same edges, each given by the rank above the one that it leaves. */
    int source = (rank - 1 + n) % n, degree = 2, ends[2] = {rank, (rank + 1) % n};
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &source, &degree, ends, weights, MPI_INFO_NULL, 0, &ring);
    check_ring(ring, rank, n, 0);
    MPI_Comm_free(&ring);
    /* A star around rank 0. */
    int *index = malloc(sizeof(int) * (size_t)n), *edges = malloc(sizeof(int) * 2 * (size_t)n), nodes, count, kind;
    for (int i = 0; i < n; i++) {
        index[i] = n - 1 + i;
        if (i > 0)
            edges[i - 1] = i, edges[n - 2 + i] = 0;
    }
    MPI_Comm star;
    MPI_Graph_create(MPI_COMM_WORLD, n, index, edges, 0, &star);
    MPI_Topo_test(star, &kind);
    MPI_Graphdims_get(star, &nodes, &count);
    EXPECT(kind == MPI_GRAPH && nodes == n && count == 2 * (n - 1));
    MPI_Graph_neighbors_count(star, 0, &count);
    EXPECT(count == n - 1);
    MPI_Graph_neighbors(star, n - 1, 1, &kind);
    EXPECT(kind == 0);
    int *got = malloc(sizeof(int) * (size_t)n), mine = rank + 1;
    MPI_Neighbor_allgather(&mine, 1, MPI_INT, got, 1, MPI_INT, star);
    for (int i = 0; i < (rank == 0 ? n - 1 : 1); i++)
        EXPECT(got[i] == (rank == 0 ? i + 2 : 1));
    MPI_Comm_free(&star);
    free(index), free(edges), free(got);
}

static void halos(int rank, int n)
{
    MPI_Comm line;
    int extent[1] = {n}, open[1] = {0}, out[2] = {10 * rank, 10 * rank + 1}, got[2] = {-1, -1};
    MPI_Cart_create(MPI_COMM_WORLD, 1, extent, open, 0, &line);
    MPI_Neighbor_alltoall(out, 1, MPI_INT, got, 1, MPI_INT, line);
    EXPECT(got[0] == (rank > 0 ? 10 * (rank - 1) + 1 : -1) && got[1] == (rank < n - 1 ? 10 * (rank + 1) : -1));
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, line);
    EXPECT((rank == 0 || got[0] == rank - 1) && (rank == n - 1 || got[1] == rank + 1));
    MPI_Comm_free(&line);
}

int main(int argc, char **argv)
{
    int rank, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (n > 2)
        graphs(rank, n);
    halos(rank, n);
    MPI_Finalize();
    return 0;
}
