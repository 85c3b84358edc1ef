# Makes Fortran's calls from the prototypes of mpi.h, one a line: the name of MPI_Send is mpi_send_, every argument is an
# address, the error is the last one, and lengths of strings follow. Files before the prototypes:
#   defined    names that are there: PMPI_x can be called, pmpi_x_ is written by hand. Other calls become stubs.
# What the types do not tell stands in these lists:
BEGIN {
    split("Datatype TYPE Op OPERATION Comm COMMUNICATOR Group GROUP Request REQUEST Errhandler ERRHANDLER Info INFO " \
          "Win WINDOW Message MESSAGE", words)
    for (i = 1; i in words; i += 2) kind["MPI_" words[i]] = "FORTRAN_" words[i + 1]
    # Results that count from 1 in Fortran: how many there are.
    from_one["Waitany index"] = from_one["Testany index"] = "1"
    from_one["Waitsome array_of_indices"] = from_one["Testsome array_of_indices"] = "*outcount"
    # Lengths of lists of handles where it is not the first argument.
    types = "vmpi_peers(vmpi_comm(vmpi_from_fortran(FORTRAN_COMMUNICATOR, *comm)))"
    split("Alltoallw Ialltoallw", words)
    for (i in words) many[words[i] " sendtypes"] = many[words[i] " recvtypes"] = types
    many["Type_get_contents array_of_datatypes"] = "*max_datatypes"
    # As many types as neighbours.
    split("Neighbor_alltoallw Ineighbor_alltoallw", words)
    for (i in words) {
        many[words[i] " sendtypes"] = "vmpi_destinations(vmpi_comm(vmpi_from_fortran(FORTRAN_COMMUNICATOR, *comm)))"
        many[words[i] " recvtypes"] = "vmpi_sources(vmpi_comm(vmpi_from_fortran(FORTRAN_COMMUNICATOR, *comm)))"
    }
    print "#include <stdlib.h>\n#include \"fortran.h\""
    print "/* Their prototypes are Fortran's. */\n#pragma GCC diagnostic ignored \"-Wmissing-prototypes\""
}

NF == 1 { defined[$1] = 1; next }

{
    name = $0
    sub(/\(.*/, "", name); sub(/.* /, "", name)
    short = substr(name, 5)
    fortran = "mpi_" tolower(short) "_"
    if (("p" fortran) in defined || done[fortran]++ || short ~ /_[cf]2[cf]$|^T_|^Wtime|^Wtick|^Aint_/) next
    list = $0
    sub(/^[^(]*\(/, "", list); sub(/\)[^)]*$/, "", list)
    gsub(/[ \t]+/, " ", list)
    if (!(("P" name) in defined) || list ~ /function|\.\.\.|char *\*?\*[a-z_]*\[\]|char \*\*\*/) {
        print "void " fortran "(void)\n{\n    vmpi_unsupported(\"" name "\", __builtin_return_address(0));\n}"
        next
    }
    parameters = lengths = arguments = before = after = ""
    count = list == "void" ? 0 : split(list, argument, / *, */)
    first = ""
    for (i = 1; i <= count; i++) {
        text = argument[i]
        gsub(/const /, "", text); gsub(/^ +| +$/, "", text)
        n = text; sub(/\[.*/, "", n); sub(/.*[ *]/, "", n)
        type = text; sub(/[ *].*/, "", type)
        if (first == "") first = n
        pointer = text ~ /\*/; array = text ~ /\[\]/
        c = "int *"
        if (type == "void") { c = "void *"; value = "vmpi_fortran_buffer(" n ")" }
        else if (type == "MPI_Status") value = "vmpi_fortran_status(" n ")"
        else if (type == "char") {
            c = "char *"; lengths = lengths ", size_t length_" n
            before = before "    char *s_" n " = vmpi_fortran_string(" n ", length_" n ");\n"
            after = after "    vmpi_fortran_string_done(" n ", length_" n ", s_" n ", " (argument[i] ~ /const/ ? 0 : 1) ");\n"
            value = "s_" n
        } else if (type in kind && array) {
            length_of = (short " " n) in many ? many[short " " n] : "*" first
            before = before "    int n_" n " = " length_of ";\n    void **l_" n " = vmpi_fortran_list(" kind[type] ", n_" n ", " n ");\n"
            after = after "    vmpi_fortran_list_done(" kind[type] ", n_" n ", " n ", l_" n ");\n"
            value = "(" type " *)l_" n
        } else if (type in kind && pointer) {
            before = before "    void *b_" n " = vmpi_fortran_handle(" kind[type] ", *" n "), *h_" n " = b_" n ";\n"
            after = after "    vmpi_fortran_update(" kind[type] ", " n ", b_" n ", h_" n ");\n"
            value = "(" type " *)&h_" n
        } else if (type in kind) value = "vmpi_from_fortran(" kind[type] ", *" n ")"
        else if (text ~ /\[\]\[3\]/) value = "(int (*)[3])" n
        else {
            if (type != "int") c = type " *"
            value = pointer || array ? (type == "int" && array ? "vmpi_fortran_numbers(" n ")" : n) : "*" n
        }
        if ((short " " n) in from_one) after = after "    vmpi_fortran_from_one(" n ", " from_one[short " " n] ");\n"
        parameters = parameters c n ", "
        arguments = arguments (i > 1 ? ", " : "") value
    }
    print "void " fortran "(" parameters "int *error" lengths ")\n{\n" before \
        "    *error = " name "(" arguments ");\n" after "}"
}
