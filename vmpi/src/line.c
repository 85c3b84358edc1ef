/* Lines of a trace (line.h). Numbers are written by hand: a recorder's time per call counts. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>

#include "line.h"

enum { BYTE = 2 };

static void text(FILE *file, const char *word)
{
    fwrite(word, 1, strlen(word), file);
}

static void number(FILE *file, int64_t value)
{
    char digits[24];
    int at = sizeof digits;
    uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do
        digits[--at] = (char)('0' + left % 10);
    while (left /= 10);
    if (value < 0)
        digits[--at] = '-';
    fwrite(digits + at, 1, sizeof digits - (size_t)at, file);
}

static void argument(line_place at, int64_t value)
{
    putc_unlocked(' ', at.file);
    number(at.file, value);
}

static void bytes_type(line_place at, int times)
{
    while (times-- > 0)
        argument(at, BYTE);
}

static void begin(line_place at, const char *action)
{
    number(at.file, at.rank);
    putc_unlocked(' ', at.file);
    text(at.file, action);
}

static void end(line_place at)
{
    if (at.communicator) {
        text(at.file, " on");
        argument(at, at.communicator);
    }
    putc_unlocked('\n', at.file);
}

void line_plain(line_place at, const char *action)
{
    begin(at, action);
    putc_unlocked('\n', at.file);
}

void line_compute(line_place at, int64_t ns)
{
    begin(at, "compute");
    argument(at, ns);
    putc_unlocked('\n', at.file);
}

void line_note(line_place at, const char *note)
{
    begin(at, "location ");
    text(at.file, note);
    text(at.file, " 0\n");
}

void line_split(line_place at, int made, int ranks, int own)
{
    begin(at, "comm_split");
    argument(at, made);
    argument(at, ranks);
    argument(at, own);
    end(at);
}

void line_free(line_place at)
{
    begin(at, "comm_free");
    end(at);
}

void line_message(line_place at, const char *action, int peer, int tag, size_t bytes)
{
    begin(at, action);
    argument(at, peer);
    argument(at, tag);
    argument(at, (int64_t)bytes);
    bytes_type(at, 1);
    end(at);
}

void line_sendrecv(line_place at, int to, size_t sent, int from, size_t received)
{
    begin(at, "sendRecv");
    argument(at, (int64_t)sent);
    argument(at, to);
    argument(at, (int64_t)received);
    argument(at, from);
    bytes_type(at, 2);
    end(at);
}

void line_wait(line_place at, int from, int to, int tag)
{
    begin(at, "wait");
    argument(at, from);
    argument(at, to);
    argument(at, tag);
    end(at);
}

void line_wait_collective(line_place at, uint32_t number_on_communicator)
{
    begin(at, "wait");
    argument(at, number_on_communicator);
    end(at);
}

static void counts(line_place at, const size_t *blocks, int ranks)
{
    for (int i = 0; i < ranks; i++)
        argument(at, blocks ? (int64_t)blocks[i] : 0);
}

/* The sum, then each value. */
static void buffer(line_place at, const size_t *blocks, int ranks)
{
    size_t sum = 0;
    for (int i = 0; blocks && i < ranks; i++)
        sum += blocks[i];
    argument(at, (int64_t)sum);
    counts(at, blocks, ranks);
}

static void arguments(line_place at, const line_collective *c)
{
    const char *action = c->action;
    int64_t sent = (int64_t)c->sent, received = (int64_t)c->received;
    if (strcmp(action, "barrier") == 0)
        return;
    if (strcmp(action, "bcast") == 0) {
        argument(at, received);
        argument(at, c->root);
        bytes_type(at, 1);
    } else if (strcmp(action, "reduce") == 0) {
        argument(at, sent);
        argument(at, 0);
        argument(at, c->root);
        bytes_type(at, 1);
    } else if (strcmp(action, "allreduce") == 0 || strcmp(action, "scan") == 0) {
        argument(at, sent);
        argument(at, 0);
        bytes_type(at, 1);
    } else if (strcmp(action, "alltoall") == 0 || strcmp(action, "allgather") == 0) {
        argument(at, received);
        argument(at, received);
        bytes_type(at, 2);
    } else if (strcmp(action, "alltoallv") == 0) {
        buffer(at, c->send_blocks, c->ranks);
        buffer(at, c->receive_blocks, c->ranks);
        bytes_type(at, 2);
    } else if (strcmp(action, "allgatherv") == 0) {
        argument(at, sent);
        counts(at, c->receive_blocks, c->ranks);
        bytes_type(at, 2);
    } else if (strcmp(action, "gatherv") == 0) {
        argument(at, sent);
        counts(at, c->receive_blocks, c->ranks);
        argument(at, c->root);
        bytes_type(at, 2);
    } else if (strcmp(action, "scatterv") == 0) {
        counts(at, c->send_blocks, c->ranks);
        argument(at, received);
        argument(at, c->root);
        bytes_type(at, 2);
    } else if (strcmp(action, "reducescatter") == 0) {
        counts(at, c->send_blocks, c->ranks);
        argument(at, 0);
        bytes_type(at, 1);
    } else { /* gather, scatter */
        argument(at, sent);
        argument(at, received);
        argument(at, c->root);
        bytes_type(at, 2);
    }
}

void line_collective_call(line_place at, const line_collective *call)
{
    begin(at, call->nonblocking ? "i" : "");
    text(at.file, call->action);
    arguments(at, call);
    end(at);
}
