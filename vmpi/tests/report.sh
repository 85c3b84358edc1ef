# Sourced by the tests: counts and prints results.
failures=0
report() { # name, status
    if [ "$2" -eq 0 ]; then echo "ok   $1"; else echo "FAIL $1"; failures=$((failures + 1)); fi
}

# expect NAME STATUS TEXT COMMAND...: the status, and the text in what it prints on either output.
expect() {
    name=$1 wanted=$2 text=$3
    shift 3
    output=$("$@" 2>&1)
    status=$?
    case $output in
    *"$text"*) [ "$status" -eq "$wanted" ] || { echo "  got status $status"; false; } ;;
    *) echo "  got status $status: $output"; false ;;
    esac
    report "$name" $?
}
