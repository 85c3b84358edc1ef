/* Fortran's MPI calls with simple arguments; see fortran.c for handles. This list defines which calls exist. */
#include <stdlib.h>
#include <string.h>

#include "fortran.h"

#define TYPE(number) vmpi_from_fortran(FORTRAN_TYPE, *(number))
#define COMM(number) vmpi_from_fortran(FORTRAN_COMMUNICATOR, *(number))
#define OP(number) vmpi_from_fortran(FORTRAN_OPERATION, *(number))
#define GROUP(number) vmpi_from_fortran(FORTRAN_GROUP, *(number))
/* Their prototypes are Fortran's. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

void mpi_send_(void *a0, int *a1, int *a2, int *a3, int *a4, int *a5, int *error)
{
    *error = MPI_Send(vmpi_fortran_buffer(a0), *a1, TYPE(a2), *a3, *a4, COMM(a5));
}

void mpi_ssend_(void *a0, int *a1, int *a2, int *a3, int *a4, int *a5, int *error)
{
    *error = MPI_Ssend(vmpi_fortran_buffer(a0), *a1, TYPE(a2), *a3, *a4, COMM(a5));
}

void mpi_rsend_(void *a0, int *a1, int *a2, int *a3, int *a4, int *a5, int *error)
{
    *error = MPI_Rsend(vmpi_fortran_buffer(a0), *a1, TYPE(a2), *a3, *a4, COMM(a5));
}

void mpi_bsend_(void *a0, int *a1, int *a2, int *a3, int *a4, int *a5, int *error)
{
    *error = MPI_Bsend(vmpi_fortran_buffer(a0), *a1, TYPE(a2), *a3, *a4, COMM(a5));
}

void mpi_recv_(void *a0, int *a1, int *a2, int *a3, int *a4, int *a5, int *a6, int *error)
{
    *error = MPI_Recv(vmpi_fortran_buffer(a0), *a1, TYPE(a2), *a3, *a4, COMM(a5), vmpi_fortran_status(a6));
}

void mpi_isend_(void *a0, int *a1, int *a2, int *a3, int *a4, int *a5, int *a6, int *error)
{
    MPI_Request made;
    *error = MPI_Isend(vmpi_fortran_buffer(a0), *a1, TYPE(a2), *a3, *a4, COMM(a5), &made);
    *a6 = vmpi_to_fortran(FORTRAN_REQUEST, made);
}

void mpi_issend_(void *a0, int *a1, int *a2, int *a3, int *a4, int *a5, int *a6, int *error)
{
    MPI_Request made;
    *error = MPI_Issend(vmpi_fortran_buffer(a0), *a1, TYPE(a2), *a3, *a4, COMM(a5), &made);
    *a6 = vmpi_to_fortran(FORTRAN_REQUEST, made);
}

void mpi_irecv_(void *a0, int *a1, int *a2, int *a3, int *a4, int *a5, int *a6, int *error)
{
    MPI_Request made;
    *error = MPI_Irecv(vmpi_fortran_buffer(a0), *a1, TYPE(a2), *a3, *a4, COMM(a5), &made);
    *a6 = vmpi_to_fortran(FORTRAN_REQUEST, made);
}

void mpi_send_init_(void *a0, int *a1, int *a2, int *a3, int *a4, int *a5, int *a6, int *error)
{
    MPI_Request made;
    *error = MPI_Send_init(vmpi_fortran_buffer(a0), *a1, TYPE(a2), *a3, *a4, COMM(a5), &made);
    *a6 = vmpi_to_fortran(FORTRAN_REQUEST, made);
}

void mpi_recv_init_(void *a0, int *a1, int *a2, int *a3, int *a4, int *a5, int *a6, int *error)
{
    MPI_Request made;
    *error = MPI_Recv_init(vmpi_fortran_buffer(a0), *a1, TYPE(a2), *a3, *a4, COMM(a5), &made);
    *a6 = vmpi_to_fortran(FORTRAN_REQUEST, made);
}

void mpi_sendrecv_(void *a0, int *a1, int *a2, int *a3, int *a4, void *a5, int *a6, int *a7, int *a8, int *a9, int *a10,
                   int *a11, int *error)
{
    *error = MPI_Sendrecv(vmpi_fortran_buffer(a0), *a1, TYPE(a2), *a3, *a4, vmpi_fortran_buffer(a5), *a6, TYPE(a7), *a8,
                          *a9, COMM(a10), vmpi_fortran_status(a11));
}

void mpi_sendrecv_replace_(void *a0, int *a1, int *a2, int *a3, int *a4, int *a5, int *a6, int *a7, int *a8, int *error)
{
    *error = MPI_Sendrecv_replace(vmpi_fortran_buffer(a0), *a1, TYPE(a2), *a3, *a4, *a5, *a6, COMM(a7),
                                  vmpi_fortran_status(a8));
}

void mpi_probe_(int *a0, int *a1, int *a2, int *a3, int *error)
{
    *error = MPI_Probe(*a0, *a1, COMM(a2), vmpi_fortran_status(a3));
}

void mpi_iprobe_(int *a0, int *a1, int *a2, int *a3, int *a4, int *error)
{
    *error = MPI_Iprobe(*a0, *a1, COMM(a2), a3, vmpi_fortran_status(a4));
}

void mpi_get_count_(int *a0, int *a1, int *a2, int *error)
{
    *error = MPI_Get_count(vmpi_fortran_status(a0), TYPE(a1), a2);
}

void mpi_barrier_(int *a0, int *error)
{
    *error = MPI_Barrier(COMM(a0));
}

void mpi_bcast_(void *a0, int *a1, int *a2, int *a3, int *a4, int *error)
{
    *error = MPI_Bcast(vmpi_fortran_buffer(a0), *a1, TYPE(a2), *a3, COMM(a4));
}

void mpi_reduce_(void *a0, void *a1, int *a2, int *a3, int *a4, int *a5, int *a6, int *error)
{
    *error = MPI_Reduce(vmpi_fortran_buffer(a0), vmpi_fortran_buffer(a1), *a2, TYPE(a3), OP(a4), *a5, COMM(a6));
}

void mpi_allreduce_(void *a0, void *a1, int *a2, int *a3, int *a4, int *a5, int *error)
{
    *error = MPI_Allreduce(vmpi_fortran_buffer(a0), vmpi_fortran_buffer(a1), *a2, TYPE(a3), OP(a4), COMM(a5));
}

void mpi_scan_(void *a0, void *a1, int *a2, int *a3, int *a4, int *a5, int *error)
{
    *error = MPI_Scan(vmpi_fortran_buffer(a0), vmpi_fortran_buffer(a1), *a2, TYPE(a3), OP(a4), COMM(a5));
}

void mpi_exscan_(void *a0, void *a1, int *a2, int *a3, int *a4, int *a5, int *error)
{
    *error = MPI_Exscan(vmpi_fortran_buffer(a0), vmpi_fortran_buffer(a1), *a2, TYPE(a3), OP(a4), COMM(a5));
}

void mpi_reduce_scatter_(void *a0, void *a1, int *a2, int *a3, int *a4, int *a5, int *error)
{
    *error = MPI_Reduce_scatter(vmpi_fortran_buffer(a0), vmpi_fortran_buffer(a1), a2, TYPE(a3), OP(a4), COMM(a5));
}

void mpi_reduce_scatter_block_(void *a0, void *a1, int *a2, int *a3, int *a4, int *a5, int *error)
{
    *error =
        MPI_Reduce_scatter_block(vmpi_fortran_buffer(a0), vmpi_fortran_buffer(a1), *a2, TYPE(a3), OP(a4), COMM(a5));
}

void mpi_gather_(void *a0, int *a1, int *a2, void *a3, int *a4, int *a5, int *a6, int *a7, int *error)
{
    *error = MPI_Gather(vmpi_fortran_buffer(a0), *a1, TYPE(a2), vmpi_fortran_buffer(a3), *a4, TYPE(a5), *a6, COMM(a7));
}

void mpi_gatherv_(void *a0, int *a1, int *a2, void *a3, int *a4, int *a5, int *a6, int *a7, int *a8, int *error)
{
    *error =
        MPI_Gatherv(vmpi_fortran_buffer(a0), *a1, TYPE(a2), vmpi_fortran_buffer(a3), a4, a5, TYPE(a6), *a7, COMM(a8));
}

void mpi_scatter_(void *a0, int *a1, int *a2, void *a3, int *a4, int *a5, int *a6, int *a7, int *error)
{
    *error = MPI_Scatter(vmpi_fortran_buffer(a0), *a1, TYPE(a2), vmpi_fortran_buffer(a3), *a4, TYPE(a5), *a6, COMM(a7));
}

void mpi_scatterv_(void *a0, int *a1, int *a2, int *a3, void *a4, int *a5, int *a6, int *a7, int *a8, int *error)
{
    *error =
        MPI_Scatterv(vmpi_fortran_buffer(a0), a1, a2, TYPE(a3), vmpi_fortran_buffer(a4), *a5, TYPE(a6), *a7, COMM(a8));
}

void mpi_allgather_(void *a0, int *a1, int *a2, void *a3, int *a4, int *a5, int *a6, int *error)
{
    *error = MPI_Allgather(vmpi_fortran_buffer(a0), *a1, TYPE(a2), vmpi_fortran_buffer(a3), *a4, TYPE(a5), COMM(a6));
}

void mpi_allgatherv_(void *a0, int *a1, int *a2, void *a3, int *a4, int *a5, int *a6, int *a7, int *error)
{
    *error =
        MPI_Allgatherv(vmpi_fortran_buffer(a0), *a1, TYPE(a2), vmpi_fortran_buffer(a3), a4, a5, TYPE(a6), COMM(a7));
}

void mpi_alltoall_(void *a0, int *a1, int *a2, void *a3, int *a4, int *a5, int *a6, int *error)
{
    *error = MPI_Alltoall(vmpi_fortran_buffer(a0), *a1, TYPE(a2), vmpi_fortran_buffer(a3), *a4, TYPE(a5), COMM(a6));
}

void mpi_alltoallv_(void *a0, int *a1, int *a2, int *a3, void *a4, int *a5, int *a6, int *a7, int *a8, int *error)
{
    *error =
        MPI_Alltoallv(vmpi_fortran_buffer(a0), a1, a2, TYPE(a3), vmpi_fortran_buffer(a4), a5, a6, TYPE(a7), COMM(a8));
}

void mpi_ibarrier_(int *a0, int *a1, int *error)
{
    MPI_Request made;
    *error = MPI_Ibarrier(COMM(a0), &made);
    *a1 = vmpi_to_fortran(FORTRAN_REQUEST, made);
}

void mpi_ibcast_(void *a0, int *a1, int *a2, int *a3, int *a4, int *a5, int *error)
{
    MPI_Request made;
    *error = MPI_Ibcast(vmpi_fortran_buffer(a0), *a1, TYPE(a2), *a3, COMM(a4), &made);
    *a5 = vmpi_to_fortran(FORTRAN_REQUEST, made);
}

void mpi_ireduce_(void *a0, void *a1, int *a2, int *a3, int *a4, int *a5, int *a6, int *a7, int *error)
{
    MPI_Request made;
    *error = MPI_Ireduce(vmpi_fortran_buffer(a0), vmpi_fortran_buffer(a1), *a2, TYPE(a3), OP(a4), *a5, COMM(a6), &made);
    *a7 = vmpi_to_fortran(FORTRAN_REQUEST, made);
}

void mpi_iallreduce_(void *a0, void *a1, int *a2, int *a3, int *a4, int *a5, int *a6, int *error)
{
    MPI_Request made;
    *error = MPI_Iallreduce(vmpi_fortran_buffer(a0), vmpi_fortran_buffer(a1), *a2, TYPE(a3), OP(a4), COMM(a5), &made);
    *a6 = vmpi_to_fortran(FORTRAN_REQUEST, made);
}

void mpi_igather_(void *a0, int *a1, int *a2, void *a3, int *a4, int *a5, int *a6, int *a7, int *a8, int *error)
{
    MPI_Request made;
    *error = MPI_Igather(vmpi_fortran_buffer(a0), *a1, TYPE(a2), vmpi_fortran_buffer(a3), *a4, TYPE(a5), *a6, COMM(a7),
                         &made);
    *a8 = vmpi_to_fortran(FORTRAN_REQUEST, made);
}

void mpi_iscatter_(void *a0, int *a1, int *a2, void *a3, int *a4, int *a5, int *a6, int *a7, int *a8, int *error)
{
    MPI_Request made;
    *error = MPI_Iscatter(vmpi_fortran_buffer(a0), *a1, TYPE(a2), vmpi_fortran_buffer(a3), *a4, TYPE(a5), *a6, COMM(a7),
                          &made);
    *a8 = vmpi_to_fortran(FORTRAN_REQUEST, made);
}

void mpi_iallgather_(void *a0, int *a1, int *a2, void *a3, int *a4, int *a5, int *a6, int *a7, int *error)
{
    MPI_Request made;
    *error =
        MPI_Iallgather(vmpi_fortran_buffer(a0), *a1, TYPE(a2), vmpi_fortran_buffer(a3), *a4, TYPE(a5), COMM(a6), &made);
    *a7 = vmpi_to_fortran(FORTRAN_REQUEST, made);
}

void mpi_iallgatherv_(void *a0, int *a1, int *a2, void *a3, int *a4, int *a5, int *a6, int *a7, int *a8, int *error)
{
    MPI_Request made;
    *error = MPI_Iallgatherv(vmpi_fortran_buffer(a0), *a1, TYPE(a2), vmpi_fortran_buffer(a3), a4, a5, TYPE(a6),
                             COMM(a7), &made);
    *a8 = vmpi_to_fortran(FORTRAN_REQUEST, made);
}

void mpi_ialltoall_(void *a0, int *a1, int *a2, void *a3, int *a4, int *a5, int *a6, int *a7, int *error)
{
    MPI_Request made;
    *error =
        MPI_Ialltoall(vmpi_fortran_buffer(a0), *a1, TYPE(a2), vmpi_fortran_buffer(a3), *a4, TYPE(a5), COMM(a6), &made);
    *a7 = vmpi_to_fortran(FORTRAN_REQUEST, made);
}

void mpi_ialltoallv_(void *a0, int *a1, int *a2, int *a3, void *a4, int *a5, int *a6, int *a7, int *a8, int *a9,
                     int *error)
{
    MPI_Request made;
    *error = MPI_Ialltoallv(vmpi_fortran_buffer(a0), a1, a2, TYPE(a3), vmpi_fortran_buffer(a4), a5, a6, TYPE(a7),
                            COMM(a8), &made);
    *a9 = vmpi_to_fortran(FORTRAN_REQUEST, made);
}

void mpi_neighbor_allgather_(void *a0, int *a1, int *a2, void *a3, int *a4, int *a5, int *a6, int *error)
{
    *error = MPI_Neighbor_allgather(vmpi_fortran_buffer(a0), *a1, TYPE(a2), vmpi_fortran_buffer(a3), *a4, TYPE(a5),
                                    COMM(a6));
}

void mpi_neighbor_alltoall_(void *a0, int *a1, int *a2, void *a3, int *a4, int *a5, int *a6, int *error)
{
    *error =
        MPI_Neighbor_alltoall(vmpi_fortran_buffer(a0), *a1, TYPE(a2), vmpi_fortran_buffer(a3), *a4, TYPE(a5), COMM(a6));
}

void mpi_neighbor_alltoallv_(void *a0, int *a1, int *a2, int *a3, void *a4, int *a5, int *a6, int *a7, int *a8,
                             int *error)
{
    *error = MPI_Neighbor_alltoallv(vmpi_fortran_buffer(a0), a1, a2, TYPE(a3), vmpi_fortran_buffer(a4), a5, a6,
                                    TYPE(a7), COMM(a8));
}

void mpi_comm_rank_(int *a0, int *a1, int *error)
{
    *error = MPI_Comm_rank(COMM(a0), a1);
}

void mpi_comm_size_(int *a0, int *a1, int *error)
{
    *error = MPI_Comm_size(COMM(a0), a1);
}

void mpi_comm_dup_(int *a0, int *a1, int *error)
{
    MPI_Comm made;
    *error = MPI_Comm_dup(COMM(a0), &made);
    *a1 = vmpi_to_fortran(FORTRAN_COMMUNICATOR, made);
}

void mpi_comm_split_(int *a0, int *a1, int *a2, int *a3, int *error)
{
    MPI_Comm made;
    *error = MPI_Comm_split(COMM(a0), *a1, *a2, &made);
    *a3 = vmpi_to_fortran(FORTRAN_COMMUNICATOR, made);
}

void mpi_comm_create_(int *a0, int *a1, int *a2, int *error)
{
    MPI_Comm made;
    *error = MPI_Comm_create(COMM(a0), GROUP(a1), &made);
    *a2 = vmpi_to_fortran(FORTRAN_COMMUNICATOR, made);
}

void mpi_comm_compare_(int *a0, int *a1, int *a2, int *error)
{
    *error = MPI_Comm_compare(COMM(a0), COMM(a1), a2);
}

void mpi_comm_group_(int *a0, int *a1, int *error)
{
    MPI_Group made;
    *error = MPI_Comm_group(COMM(a0), &made);
    *a1 = vmpi_to_fortran(FORTRAN_GROUP, made);
}

void mpi_group_size_(int *a0, int *a1, int *error)
{
    *error = MPI_Group_size(GROUP(a0), a1);
}

void mpi_group_rank_(int *a0, int *a1, int *error)
{
    *error = MPI_Group_rank(GROUP(a0), a1);
}

void mpi_group_incl_(int *a0, int *a1, int *a2, int *a3, int *error)
{
    MPI_Group made;
    *error = MPI_Group_incl(GROUP(a0), *a1, a2, &made);
    *a3 = vmpi_to_fortran(FORTRAN_GROUP, made);
}

void mpi_group_excl_(int *a0, int *a1, int *a2, int *a3, int *error)
{
    MPI_Group made;
    *error = MPI_Group_excl(GROUP(a0), *a1, a2, &made);
    *a3 = vmpi_to_fortran(FORTRAN_GROUP, made);
}

void mpi_group_translate_ranks_(int *a0, int *a1, int *a2, int *a3, int *a4, int *error)
{
    *error = MPI_Group_translate_ranks(GROUP(a0), *a1, a2, GROUP(a3), a4);
}

void mpi_dims_create_(int *a0, int *a1, int *a2, int *error)
{
    *error = MPI_Dims_create(*a0, *a1, a2);
}

void mpi_cart_create_(int *a0, int *a1, int *a2, int *a3, int *a4, int *a5, int *error)
{
    MPI_Comm made;
    *error = MPI_Cart_create(COMM(a0), *a1, a2, a3, *a4, &made);
    *a5 = vmpi_to_fortran(FORTRAN_COMMUNICATOR, made);
}

void mpi_cart_shift_(int *a0, int *a1, int *a2, int *a3, int *a4, int *error)
{
    *error = MPI_Cart_shift(COMM(a0), *a1, *a2, a3, a4);
}

void mpi_cart_coords_(int *a0, int *a1, int *a2, int *a3, int *error)
{
    *error = MPI_Cart_coords(COMM(a0), *a1, *a2, a3);
}

void mpi_cart_rank_(int *a0, int *a1, int *a2, int *error)
{
    *error = MPI_Cart_rank(COMM(a0), a1, a2);
}

void mpi_cart_get_(int *a0, int *a1, int *a2, int *a3, int *a4, int *error)
{
    *error = MPI_Cart_get(COMM(a0), *a1, a2, a3, a4);
}

void mpi_cartdim_get_(int *a0, int *a1, int *error)
{
    *error = MPI_Cartdim_get(COMM(a0), a1);
}

void mpi_cart_sub_(int *a0, int *a1, int *a2, int *error)
{
    MPI_Comm made;
    *error = MPI_Cart_sub(COMM(a0), a1, &made);
    *a2 = vmpi_to_fortran(FORTRAN_COMMUNICATOR, made);
}

void mpi_type_contiguous_(int *a0, int *a1, int *a2, int *error)
{
    MPI_Datatype made;
    *error = MPI_Type_contiguous(*a0, TYPE(a1), &made);
    *a2 = vmpi_to_fortran(FORTRAN_TYPE, made);
}

void mpi_type_vector_(int *a0, int *a1, int *a2, int *a3, int *a4, int *error)
{
    MPI_Datatype made;
    *error = MPI_Type_vector(*a0, *a1, *a2, TYPE(a3), &made);
    *a4 = vmpi_to_fortran(FORTRAN_TYPE, made);
}

void mpi_type_create_hvector_(int *a0, int *a1, MPI_Aint *a2, int *a3, int *a4, int *error)
{
    MPI_Datatype made;
    *error = MPI_Type_create_hvector(*a0, *a1, *a2, TYPE(a3), &made);
    *a4 = vmpi_to_fortran(FORTRAN_TYPE, made);
}

void mpi_type_indexed_(int *a0, int *a1, int *a2, int *a3, int *a4, int *error)
{
    MPI_Datatype made;
    *error = MPI_Type_indexed(*a0, a1, a2, TYPE(a3), &made);
    *a4 = vmpi_to_fortran(FORTRAN_TYPE, made);
}

void mpi_type_create_hindexed_(int *a0, int *a1, MPI_Aint *a2, int *a3, int *a4, int *error)
{
    MPI_Datatype made;
    *error = MPI_Type_create_hindexed(*a0, a1, a2, TYPE(a3), &made);
    *a4 = vmpi_to_fortran(FORTRAN_TYPE, made);
}

void mpi_type_create_resized_(int *a0, MPI_Aint *a1, MPI_Aint *a2, int *a3, int *error)
{
    MPI_Datatype made;
    *error = MPI_Type_create_resized(TYPE(a0), *a1, *a2, &made);
    *a3 = vmpi_to_fortran(FORTRAN_TYPE, made);
}

void mpi_type_create_subarray_(int *a0, int *a1, int *a2, int *a3, int *a4, int *a5, int *a6, int *error)
{
    MPI_Datatype made;
    *error = MPI_Type_create_subarray(*a0, a1, a2, a3, *a4, TYPE(a5), &made);
    *a6 = vmpi_to_fortran(FORTRAN_TYPE, made);
}

void mpi_type_size_(int *a0, int *a1, int *error)
{
    *error = MPI_Type_size(TYPE(a0), a1);
}

void mpi_type_get_extent_(int *a0, MPI_Aint *a1, MPI_Aint *a2, int *error)
{
    *error = MPI_Type_get_extent(TYPE(a0), a1, a2);
}

void mpi_get_address_(void *a0, MPI_Aint *a1, int *error)
{
    *error = MPI_Get_address(vmpi_fortran_buffer(a0), a1);
}

void mpi_pack_(void *a0, int *a1, int *a2, void *a3, int *a4, int *a5, int *a6, int *error)
{
    *error = MPI_Pack(vmpi_fortran_buffer(a0), *a1, TYPE(a2), vmpi_fortran_buffer(a3), *a4, a5, COMM(a6));
}

void mpi_unpack_(void *a0, int *a1, int *a2, void *a3, int *a4, int *a5, int *a6, int *error)
{
    *error = MPI_Unpack(vmpi_fortran_buffer(a0), *a1, a2, vmpi_fortran_buffer(a3), *a4, TYPE(a5), COMM(a6));
}

void mpi_pack_size_(int *a0, int *a1, int *a2, int *a3, int *error)
{
    *error = MPI_Pack_size(*a0, TYPE(a1), COMM(a2), a3);
}

void mpi_init_thread_(int *a1, int *a2, int *error)
{
    *error = MPI_Init_thread(NULL, NULL, *a1, a2);
}

void mpi_abort_(int *a0, int *a1, int *error)
{
    *error = MPI_Abort(COMM(a0), *a1);
}

void mpi_buffer_attach_(void *a0, int *a1, int *error)
{
    *error = MPI_Buffer_attach(vmpi_fortran_buffer(a0), *a1);
}
