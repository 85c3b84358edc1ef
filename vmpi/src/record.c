/* The record: every point-to-point message, and sums over collectives, written while the program runs.
 *
 * FILE has a 32-byte head: "VMPIREC2", then three little-endian 64-bit integers: ranks, number of messages, bytes per
 * message record (16). Each message has four little-endian integers: u32 source and u32 destination (ranks in the
 * world), u32 bytes, u16 step, u16 phase (vmpi.h). The number of messages is written at the end, so a truncated file says
 * 0 or has too few records.
 * FILE.collectives is CSV: phase,step,call,communicator,ranks,calls,bytes with calls = calls by single ranks and bytes
 * = what they contributed.
 * FILE.work is CSV: phase,ranks,ns,most_ns: processor time between calls, summed over ranks and of the longest one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

#define HEAD_BYTES 32

typedef struct {
    uint32_t source, destination, bytes;
    uint16_t step, phase;
} message_record;

_Static_assert(sizeof(message_record) == 16, "other programs read the record byte by byte");

typedef struct {
    const char *call;
    int phase, step, communicator, size;
    uint64_t calls, bytes;
} collective_record;

static FILE *file;
static const char *file_path;
static uint64_t ranks_in_file, messages;
static collective_record *collectives;
static size_t collectives_used, collectives_room;

static void write_head(uint64_t count)
{
    uint64_t numbers[3] = {ranks_in_file, count, sizeof(message_record)};
    if (fwrite("VMPIREC2", 1, 8, file) != 8 || fwrite(numbers, sizeof numbers, 1, file) != 1)
        vmpi_fail("cannot write %s: %s", file_path, strerror(errno));
}

void vmpi_record_open(const char *path, int ranks)
{
    file_path = path;
    ranks_in_file = (uint64_t)ranks;
    file = fopen(path, "wb");
    if (!file)
        vmpi_fail("cannot create %s: %s", path, strerror(errno));
    setvbuf(file, NULL, _IOFBF, 1 << 20);
    write_head(0);
}

int vmpi_record_is_open(void)
{
    return file != NULL;
}

void vmpi_record_message(int source, int destination, size_t bytes)
{
    if (!file || !vmpi_current->recording)
        return;
    if (bytes > UINT32_MAX)
        vmpi_fail("a message of %zu bytes does not fit the record", bytes);
    message_record record = {(uint32_t)source, (uint32_t)destination, (uint32_t)bytes,
                             vmpi_current->step, vmpi_current->phase};
    if (fwrite(&record, sizeof record, 1, file) != 1)
        vmpi_fail("cannot write %s: %s", file_path, strerror(errno));
    messages++;
}

void vmpi_record_collective(const char *call, int communicator, int size, size_t bytes)
{
    if (!file || !vmpi_current->recording)
        return;
    /* Searches recent entries first: consecutive calls of the ranks use the same one. */
    for (size_t i = collectives_used; i > 0; i--) {
        collective_record *c = &collectives[i - 1];
        if (c->phase == vmpi_current->phase && c->step == vmpi_current->step && c->communicator == communicator && c->call == call) {
            c->calls++;
            c->bytes += bytes;
            return;
        }
    }
    if (collectives_used == collectives_room) {
        collectives_room = collectives_room ? 2 * collectives_room : 64;
        collectives = vmpi_resize(collectives, collectives_room, sizeof *collectives);
    }
    collectives[collectives_used++] =
        (collective_record){call, vmpi_current->phase, vmpi_current->step, communicator, size, 1, bytes};
}

/* Processor time by phase and rank; the phases that occur are few. */
static int64_t *work_of_phase[UINT16_MAX + 1];

void vmpi_record_work(const vmpi_rank *rank, int64_t ns)
{
    if (!file || !rank->recording)
        return;
    int64_t **work = &work_of_phase[rank->phase];
    if (!*work)
        *work = vmpi_alloc((size_t)ranks_in_file, sizeof **work);
    (*work)[rank->world] += ns;
}

static FILE *create_beside(const char *ending)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.%s", file_path, ending);
    FILE *csv = fopen(path, "w");
    if (!csv)
        vmpi_fail("cannot create %s: %s", path, strerror(errno));
    return csv;
}

static void close_beside(FILE *csv, const char *ending)
{
    if (fclose(csv) != 0)
        vmpi_fail("cannot write %s.%s: %s", file_path, ending, strerror(errno));
}

static void write_work(void)
{
    FILE *csv = create_beside("work");
    fprintf(csv, "phase,ranks,ns,most_ns\n");
    for (int phase = 0; phase <= UINT16_MAX; phase++) {
        const int64_t *work = work_of_phase[phase];
        long long ns = 0, most = 0;
        for (uint64_t rank = 0; work && rank < ranks_in_file; rank++) {
            ns += work[rank];
            most = work[rank] > most ? work[rank] : most;
        }
        if (ns > 0)
            fprintf(csv, "%d,%llu,%lld,%lld\n", phase, (unsigned long long)ranks_in_file, ns, most);
    }
    close_beside(csv, "work");
}

static void write_collectives(void)
{
    FILE *csv = create_beside("collectives");
    fprintf(csv, "phase,step,call,communicator,ranks,calls,bytes\n");
    for (size_t i = 0; i < collectives_used; i++)
        fprintf(csv, "%d,%d,%s,%d,%d,%llu,%llu\n", collectives[i].phase, collectives[i].step, collectives[i].call,
                collectives[i].communicator, collectives[i].size, (unsigned long long)collectives[i].calls,
                (unsigned long long)collectives[i].bytes);
    close_beside(csv, "collectives");
}

void vmpi_record_close(void)
{
    static int closing; /* an error meanwhile ends the process, which closes it again */
    if (!file || closing++)
        return;
    if (fseek(file, 0, SEEK_SET) != 0)
        vmpi_fail("cannot rewind %s: %s", file_path, strerror(errno));
    write_head(messages);
    if (fclose(file) != 0)
        vmpi_fail("cannot write %s: %s", file_path, strerror(errno));
    file = NULL;
    write_collectives();
    write_work();
    free(collectives);
}
