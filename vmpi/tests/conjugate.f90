! Conjugate gradients on a ring of cells with ghosts: variables of a module, halos by persistent and plain requests, sums,
! a communicator of half the ranks, a derived type, an operation of its own, places of data in common blocks of MPI.
module state
    use mpi
    implicit none
    integer, parameter :: cells = 32
    integer :: rank, ranks, left, right, calls = 0
    double precision, save :: x(0:cells + 1), r(cells), p(0:cells + 1), q(cells)
contains
    subroutine exchange()
        integer :: request(4), error, statuses(MPI_STATUS_SIZE, 4)
        call MPI_Irecv(p(0), 1, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, request(1), error)
        call MPI_Irecv(p(cells + 1), 1, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, request(2), error)
        call MPI_Isend(p(cells), 1, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, request(3), error)
        call MPI_Isend(p(1), 1, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, request(4), error)
        call MPI_Waitall(4, request, statuses, error)
        if (statuses(MPI_SOURCE, 1) /= left .or. any(request /= MPI_REQUEST_NULL)) call fail(1)
        calls = calls + 1
    end subroutine

    function total(a, b) result(sum)
        double precision, intent(in) :: a(cells), b(cells)
        double precision :: sum
        integer :: error
        sum = dot_product(a, b)
        call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
    end function

    subroutine fail(place)
        integer, intent(in) :: place
        integer :: error
        print *, 'rank', rank, 'fails at', place
        call MPI_Abort(MPI_COMM_WORLD, 9, error)
    end subroutine

    subroutine larger(in, inout, count, kind)
        integer, intent(in) :: count, kind
        integer, intent(in) :: in(count)
        integer, intent(inout) :: inout(count)
        if (kind /= MPI_INTEGER) call fail(2)
        inout = max(in, inout)
    end subroutine
end module

program conjugate
    use state
    implicit none
    integer :: error, step, half, place, op, most, column, request, status(MPI_STATUS_SIZE), index, length, counts(2)
    integer :: matrix(3, 4), got(3), one(1)
    logical :: done
    character(len=MPI_MAX_PROCESSOR_NAME) :: name
    double precision :: alpha, rr, before
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    left = modulo(rank - 1, ranks)
    right = modulo(rank + 1, ranks)
    x = 0
    r = 1 + rank
    p(1:cells) = r
    rr = total(r, r)
    do step = 1, 20
        if (rr < 1d-20) exit
        call exchange()
        q = 4 * p(1:cells) - p(0:cells - 1) - p(2:cells + 1)
        alpha = rr / total(p(1:cells), q)
        x(1:cells) = x(1:cells) + alpha * p(1:cells)
        r = r - alpha * q
        before = rr
        rr = total(r, r)
        p(1:cells) = r + rr / before * p(1:cells)
    end do
    if (calls < 1 .or. rr > 1d-6) call fail(3)

    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, error)
    call MPI_Comm_rank(half, place, error)
    if (place /= (ranks - 1 - rank) / 2) call fail(4)
    call MPI_Op_create(larger, .true., op, error)
    call MPI_Allreduce(rank, most, 1, MPI_INTEGER, op, half, error)
    if (most /= ranks - 1 - mod(ranks - 1 - rank, 2)) call fail(5)
    call MPI_Op_free(op, error)
    call MPI_Comm_free(half, error)
    if (half /= MPI_COMM_NULL) call fail(6)

    call MPI_Type_vector(3, 1, 4, MPI_INTEGER, column, error)
    call MPI_Type_commit(column, error)
    matrix = reshape([(step, step = 1, 12)], [3, 4])
    call MPI_Sendrecv(matrix, 1, column, 0, 3, got, 3, MPI_INTEGER, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE, error)
    if (any(got /= [1, 5, 9])) call fail(7)
    call MPI_Type_free(column, error)

    call MPI_Iallreduce(rank, most, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, request, error)
    done = .false.
    do while (.not. done)
        call MPI_Test(request, done, status, error)
    end do
    if (most /= ranks - 1 .or. request /= MPI_REQUEST_NULL) call fail(8)
    call MPI_Recv_init(most, 1, MPI_INTEGER, left, 4, MPI_COMM_WORLD, one(1), error)
    call MPI_Start(one(1), error)
    call MPI_Send(rank, 1, MPI_INTEGER, right, 4, MPI_COMM_WORLD, error)
    call MPI_Waitany(1, one, index, status, error)
    call MPI_Get_count(status, MPI_INTEGER, length, error)
    if (most /= left .or. index /= 1 .or. length /= 1 .or. status(MPI_TAG) /= 4) call fail(9)
    call MPI_Request_free(one(1), error)
    counts = 0
    call MPI_Dims_create(12, 2, counts, error)
    if (counts(1) /= 4 .or. counts(2) /= 3) call fail(10)
    call MPI_Get_processor_name(name, length, error)
    if (len_trim(name) /= length) call fail(11)
    if (rank == 0) print '(a, i0, a, es22.15)', 'ranks ', ranks, ' residual ', sqrt(rr)
    call MPI_Finalize(error)
end program
