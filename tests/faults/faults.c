/* Fails or sends a signal at the n-th system call that changes files below a directory. For tests, by LD_PRELOAD.
 *
 * Without a call of `faults_arm` nothing changes. Calls are counted in memory that all children share, so that a fault
 * may hit the command or any of its workers. Counted are open (to write), write, rename, fsync, mkdir and their
 * variants. What removes files never fails: a full disk lets files be removed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum mode { ONCE = 0, FROM_THEN_ON = 1, SIGNAL = 2 };

static struct shared {
    atomic_long count; /* counted calls so far */
    atomic_long hits;  /* calls that failed or sent the signal */
} *shared;
static char below[PATH_MAX];
static size_t below_length;
static long fault_at;
static int fault_error, fault_mode;

/* Arms the shim for calls below `directory`, an absolute path without links. The call number `at`, from 1, gets `error`,
 * or its process the signal of this number; 0 only counts. */
int faults_arm(const char *directory, long at, int error, int mode)
{
    void *memory = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || strlen(directory) >= sizeof below)
        return -1;
    strcpy(below, directory);
    below_length = strlen(directory);
    fault_at = at;
    fault_error = error;
    fault_mode = mode;
    shared = memory;
    return 0;
}

/* Ends counting and failing. */
void faults_disarm(void)
{
    if (shared)
        munmap(shared, sizeof *shared);
    shared = NULL;
}

/* Counted calls so far. */
long faults_count(void)
{
    return shared ? atomic_load(&shared->count) : 0;
}

/* Calls that failed or sent the signal so far. */
long faults_hits(void)
{
    return shared ? atomic_load(&shared->hits) : 0;
}

static int is_below(const char *path)
{
    return strncmp(path, below, below_length) == 0 && (path[below_length] == '/' || path[below_length] == 0);
}

static int path_is_below(int directory, const char *path)
{
    char whole[2 * PATH_MAX];
    if (path[0] == '/')
        return is_below(path);
    if (directory == AT_FDCWD) {
        if (!getcwd(whole, PATH_MAX))
            return 0;
    } else {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
        ssize_t length = readlink(link, whole, PATH_MAX - 1);
        if (length < 0)
            return 0;
        whole[length] = 0;
    }
    size_t length = strlen(whole);
    snprintf(whole + length, sizeof whole - length, "/%s", path);
    return is_below(whole);
}

static int file_is_below(int file)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return is_below(path);
}

/* Counts a call; whether it fails, with errno. */
static int fails(void)
{
    long number = atomic_fetch_add(&shared->count, 1) + 1;
    if (!fault_at || number < fault_at || (number > fault_at && fault_mode != FROM_THEN_ON))
        return 0;
    atomic_fetch_add(&shared->hits, 1);
    if (fault_mode == SIGNAL) {
        kill(getpid(), fault_error);
        return 0;
    }
    errno = fault_error;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int opens(int directory, const char *path, int flags)
{
    return shared && (flags & (O_WRONLY | O_RDWR | O_CREAT)) && path_is_below(directory, path) && fails();
}

static mode_t mode_of(int flags, va_list list)
{
    return flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, mode_t) : 0;
}

#define OPEN(name)                                          \
    int name(const char *path, int flags, ...)              \
    {                                                       \
        va_list list;                                       \
        va_start(list, flags);                              \
        mode_t mode = mode_of(flags, list);                 \
        va_end(list);                                       \
        if (opens(AT_FDCWD, path, flags))                   \
            return -1;                                      \
        return REAL(name)(path, flags, mode);               \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                          \
    int name(int directory, const char *path, int flags, ...) \
    {                                                         \
        va_list list;                                         \
        va_start(list, flags);                                \
        mode_t mode = mode_of(flags, list);                   \
        va_end(list);                                         \
        if (opens(directory, path, flags))                    \
            return -1;                                        \
        return REAL(name)(directory, path, flags, mode);      \
    }
OPENAT(openat)
OPENAT(openat64)

#define ON_FILE(type, name, parameters, arguments)      \
    type name parameters                                \
    {                                                   \
        if (shared && file_is_below(file) && fails())   \
            return -1;                                  \
        return REAL(name) arguments;                    \
    }
ON_FILE(ssize_t, write, (int file, const void *bytes, size_t size), (file, bytes, size))
ON_FILE(ssize_t, writev, (int file, const struct iovec *parts, int count), (file, parts, count))
ON_FILE(ssize_t, pwrite, (int file, const void *bytes, size_t size, off_t at), (file, bytes, size, at))
ON_FILE(ssize_t, pwrite64, (int file, const void *bytes, size_t size, off64_t at), (file, bytes, size, at))
ON_FILE(int, fsync, (int file), (file))
ON_FILE(int, fdatasync, (int file), (file))

int rename(const char *from, const char *to)
{
    if (shared && path_is_below(AT_FDCWD, to) && fails())
        return -1;
    return REAL(rename)(from, to);
}

int renameat(int from_directory, const char *from, int to_directory, const char *to)
{
    if (shared && path_is_below(to_directory, to) && fails())
        return -1;
    return REAL(renameat)(from_directory, from, to_directory, to);
}

int renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned flags)
{
    if (shared && path_is_below(to_directory, to) && fails())
        return -1;
    return REAL(renameat2)(from_directory, from, to_directory, to, flags);
}

int mkdir(const char *path, mode_t mode)
{
    if (shared && path_is_below(AT_FDCWD, path) && fails())
        return -1;
    return REAL(mkdir)(path, mode);
}
