C Fixed form with mpif.h and a common block.
      program fixed
      include 'mpif.h'
      integer rank, ranks, error, status(MPI_STATUS_SIZE)
      common /own/ value
      integer value, next
      call MPI_INIT(error)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, error)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, error)
      value = 10 * rank
      call MPI_SENDRECV(value, 1, MPI_INTEGER, mod(rank + 1, ranks), 7,
     &     next, 1, MPI_INTEGER, mod(rank + ranks - 1, ranks), 7,
     &     MPI_COMM_WORLD, status, error)
      call MPI_BARRIER(MPI_COMM_WORLD, error)
      if (next .ne. 10 * mod(rank + ranks - 1, ranks) .or.
     &    value .ne. 10 * rank) call MPI_ABORT(MPI_COMM_WORLD, 9, error)
      call MPI_REDUCE(value, next, 1, MPI_INTEGER, MPI_SUM, 0,
     &     MPI_COMM_WORLD, error)
      if (rank .eq. 0) print '(a, i0)', 'sum ', next
      call MPI_FINALIZE(error)
      end
