# Makes the C functions of fortran_calls.table. Fortran's name of MPI_Send is mpi_send_; every argument is an address,
# and the error is the last one.
BEGIN {
    split("type TYPE op OPERATION comm COMMUNICATOR group GROUP request REQUEST", words)
    for (i = 1; i in words; i += 2) handle[words[i]] = "FORTRAN_" words[i + 1]
    split("type MPI_Datatype comm MPI_Comm group MPI_Group request MPI_Request", words)
    for (i = 1; i in words; i += 2) made[words[i]] = words[i + 1]
    print "#include \"fortran.h\""
    print "/* Their prototypes are Fortran's. */"
    print "#pragma GCC diagnostic ignored \"-Wmissing-prototypes\""
}

/^#/ || NF == 0 { next }

{
    parameters = arguments = before = after = ""
    for (i = 2; i <= NF; i++) {
        kind = $i
        name = "a" i - 2
        type = kind == "buffer" ? "void" : kind ~ /^address/ ? "MPI_Aint" : "int"
        parameters = parameters type " *" name ", "
        if (kind == "buffer" || kind == "status") argument = "vmpi_fortran_" kind "(" name ")"
        else if (kind == "int" || kind == "address") argument = "*" name
        else if (kind == "ints" || kind == "addresses") argument = name
        else if (kind in handle) argument = "vmpi_from_fortran(" handle[kind] ", *" name ")"
        else if (sub(/^new_/, "", kind) && kind in made) {
            argument = "&made"
            before = "    " made[kind] " made;\n"
            after = "    *" name " = vmpi_to_fortran(" handle[kind] ", made);\n"
        } else {
            print FILENAME ":" FNR ": unknown kind of an argument: " $i > "/dev/stderr"
            exit 1
        }
        arguments = arguments (i > 2 ? ", " : "") argument
    }
    print "void mpi_" tolower($1) "_(" parameters "int *error)\n{\n" before \
        "    *error = MPI_" $1 "(" arguments ");\n" after "}"
}
