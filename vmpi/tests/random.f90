! Random numbers of Fortran, as a process of its own draws them. A rank seeds by its number, a world of one rank by its
! argument: each must print the same.
program random
    use mpi
    implicit none
    integer :: rank, error, words, i, whole
    integer, allocatable :: seed(:)
    double precision :: one, unseeded
    real :: several(3), fraction
    character(len=8) :: argument
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call get_command_argument(1, argument)
    if (argument /= '') read (argument, *) rank
    call random_number(unseeded)
    call random_seed(size=words)
    allocate (seed(words))
    seed = 5 + rank / 2 ! two ranks alike
    call random_seed(put=seed)
    call srand(5 + rank / 2)
    do i = 1, 3
        call MPI_Barrier(MPI_COMM_WORLD, error)
        call random_number(one)
        call MPI_Barrier(MPI_COMM_WORLD, error)
        call random_number(several)
        call MPI_Barrier(MPI_COMM_WORLD, error)
        call random_seed(get=seed)
        whole = irand(0)
        call MPI_Barrier(MPI_COMM_WORLD, error)
        fraction = rand(0)
        print *, rank, i, one, several, whole, fraction, seed(1:2)
    end do
    print *, rank, irand(-7), rand(1), rand(3)
    call MPI_Finalize(error)
end program random
