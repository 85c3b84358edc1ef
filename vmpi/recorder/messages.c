/* Messages between two ranks, and the requests of all calls. */
#include <stdlib.h>
#include <string.h>

#include "recorder.h"

int recorder_tag(int tag)
{
    return tag == MPI_ANY_TAG ? LINE_ANY_TAG : tag;
}

static line_place place(const communicator *of)
{
    return recorder_place(of->named ? of->number : 0);
}

void recorder_message(const char *action, MPI_Comm comm, int peer, int tag, size_t bytes)
{
    communicator *of = recorder_communicator(comm);
    int other = recorder_peer(of, peer);
    if (other != MPI_PROC_NULL)
        line_message(place(of), action, other, recorder_tag(tag), bytes);
    else if (peer != MPI_PROC_NULL)
        recorder_miss("messages with ranks of another program");
}

void recorder_start(request *of)
{
    of->active = 1;
    if (of->kind == SEND || of->kind == RECEIVE)
        line_message(place(of->comm), of->kind == SEND ? "isend" : "irecv", of->peer, of->tag, of->bytes);
}

void recorder_request_message(MPI_Request *handle, enum request_kind kind, MPI_Comm comm, int peer, int tag,
                              size_t bytes, int persistent)
{
    communicator *on = recorder_communicator(comm);
    int other = recorder_peer(on, peer);
    request *of = recorder_request(*handle, other == MPI_PROC_NULL ? NOTHING : kind, on);
    of->peer = other;
    of->tag = recorder_tag(tag);
    of->bytes = bytes;
    of->persistent = persistent;
    of->active = 0;
    if (!persistent)
        recorder_start(of);
}

static void wait_for(const communicator *comm, int other, int receives, int tag)
{
    int me = comm->named ? comm->rank : recorder_rank;
    line_wait(place(comm), receives ? other : me, receives ? me : other, tag);
}

void recorder_waited(request *of)
{
    if (!of || !of->active)
        return;
    if (of->kind == SEND || of->kind == RECEIVE)
        wait_for(of->comm, of->peer, of->kind == RECEIVE, of->tag);
    else if (of->kind == COLLECTIVE)
        line_wait_collective(place(of->comm), of->number);
    else if (of->kind == DUPLICATE)
        recorder_duplicated(of);
    for (int i = 0; of->kind == NEIGHBOURS && i < of->sources + of->others; i++) {
        int other = recorder_peer(of->comm, of->neighbour[i]);
        if (other != MPI_PROC_NULL)
            wait_for(of->comm, other, i < of->sources, LINE_NEIGHBOUR);
    }
    of->active = 0;
    if (!of->persistent)
        recorder_forget(of);
}

/* ---- point to point ---- */

static void both(MPI_Comm comm, int to, int to_tag, size_t sent, int from, int from_tag, size_t received)
{
    communicator *of = recorder_communicator(comm);
    int target = recorder_peer(of, to), source = recorder_peer(of, from);
    if (target != MPI_PROC_NULL && source != MPI_PROC_NULL) {
        line_sendrecv(place(of), target, sent, source, received);
        return;
    }
    recorder_message("send", comm, to, to_tag, sent);
    recorder_message("recv", comm, from, from_tag, received);
}

/* ---- probes that take their message: the source and tag that they found ---- */

typedef struct taken {
    MPI_Message handle;
    MPI_Comm comm;
    int source, tag;
    struct taken *next;
} taken;
static taken *all_taken;

static void take(MPI_Comm comm, MPI_Message handle, const MPI_Status *status)
{
    taken *of = recorder_alloc(NULL, 1, sizeof *of);
    *of = (taken){handle, comm, status->MPI_SOURCE, status->MPI_TAG, all_taken};
    all_taken = of;
}

static taken give(MPI_Message handle)
{
    taken **link = &all_taken, found = {.source = MPI_PROC_NULL, .comm = MPI_COMM_WORLD};
    while (*link && (*link)->handle != handle)
        link = &(*link)->next;
    if (*link) {
        taken *of = *link;
        found = *of;
        *link = of->next;
        free(of);
    }
    return found;
}

int MPI_Mprobe(int peer, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    CALL;
    MPI_Status own, *found = status == MPI_STATUS_IGNORE ? &own : status;
    int error = REAL(Mprobe)(peer, tag, comm, message, found);
    if (IS_RECORDED(error))
        take(comm, *message, found);
    return error;
}
TWO_NAMES(Mprobe)

int MPI_Improbe(int peer, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    CALL;
    MPI_Status own, *found = status == MPI_STATUS_IGNORE ? &own : status;
    int error = REAL(Improbe)(peer, tag, comm, flag, message, found);
    if (IS_RECORDED(error) && *flag)
        take(comm, *message, found);
    return error;
}
TWO_NAMES(Improbe)

#define SEND_CALL(Name)                                                                                                \
    int MPI_NAME(Name)(const void *buffer, COUNT count, MPI_Datatype type, int peer, int tag, MPI_Comm comm)           \
    {                                                                                                                  \
        CALL;                                                                                                          \
        int error = REAL(FORM(Name))(buffer, count, type, peer, tag, comm);                                            \
        if (IS_RECORDED(error))                                                                                        \
            recorder_message("send", comm, peer, tag, recorder_bytes(type, count));                                    \
        return error;                                                                                                  \
    }                                                                                                                  \
    TWO_NAMES(FORM(Name))
#define SEND_REQUEST_CALL(Name, persistent)                                                                            \
    int MPI_NAME(Name)(const void *buffer, COUNT count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,           \
                   MPI_Request *request)                                                                               \
    {                                                                                                                  \
        CALL;                                                                                                          \
        int error = REAL(FORM(Name))(buffer, count, type, peer, tag, comm, request);                                   \
        if (IS_RECORDED(error))                                                                                        \
            recorder_request_message(request, SEND, comm, peer, tag, recorder_bytes(type, count), persistent);         \
        return error;                                                                                                  \
    }                                                                                                                  \
    TWO_NAMES(FORM(Name))
#define RECEIVE_REQUEST_CALL(Name, persistent)                                                                         \
    int MPI_NAME(Name)(void *buffer, COUNT count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,                 \
                       MPI_Request *request)                                                                           \
    {                                                                                                                  \
        CALL;                                                                                                          \
        int error = REAL(FORM(Name))(buffer, count, type, peer, tag, comm, request);                                   \
        if (IS_RECORDED(error))                                                                                        \
            recorder_request_message(request, RECEIVE, comm, peer, tag, recorder_bytes(type, count), persistent);      \
        return error;                                                                                                  \
    }                                                                                                                  \
    TWO_NAMES(FORM(Name))

#define FORM(Name) Name
#define COUNT int
#define PLACE int
#include "message_calls.h"
#if MPI_VERSION >= 4
#undef FORM
#undef COUNT
#undef PLACE
#define FORM(Name) Name##_c
#define COUNT MPI_Count
#define PLACE MPI_Aint
#include "message_calls.h"
#endif

/* ---- requests ---- */

int MPI_Start(MPI_Request *handle)
{
    CALL;
    request *of = recorder_find(*handle);
    int error = REAL(Start)(handle);
    if (IS_RECORDED(error) && of)
        recorder_start(of);
    else if (IS_RECORDED(error))
        recorder_miss("MPI_Start of a collective");
    return error;
}
TWO_NAMES(Start)

int MPI_Startall(int count, MPI_Request handles[])
{
    CALL;
    int error = REAL(Startall)(count, handles);
    for (int i = 0; IS_RECORDED(error) && i < count; i++) {
        request *of = recorder_find(handles[i]);
        if (of)
            recorder_start(of);
        else
            recorder_miss("MPI_Start of a collective");
    }
    return error;
}
TWO_NAMES(Startall)

/* Not waited for: a replay waits for it at its end. */
int MPI_Request_free(MPI_Request *handle)
{
    CALL;
    request *of = recorder_find(*handle);
    int error = REAL(Request_free)(handle);
    if (IS_RECORDED(error) && of)
        recorder_forget(of);
    return error;
}
TWO_NAMES(Request_free)

int MPI_Cancel(MPI_Request *handle)
{
    CALL;
    request *of = recorder_find(*handle);
    int error = REAL(Cancel)(handle);
    if (IS_RECORDED(error) && of)
        of->active = 0;
    return error;
}
TWO_NAMES(Cancel)

/* The wait of a cancelled request ends it. */
static void completed(MPI_Request handle)
{
    request *of = recorder_find(handle);
    if (of && !of->active && !of->persistent)
        recorder_forget(of);
    else
        recorder_waited(of);
}

int MPI_Wait(MPI_Request *handle, MPI_Status *status)
{
    CALL;
    MPI_Request before = *handle;
    int error = REAL(Wait)(handle, status);
    if (IS_RECORDED(error))
        completed(before);
    return error;
}
TWO_NAMES(Wait)

int MPI_Test(MPI_Request *handle, int *flag, MPI_Status *status)
{
    CALL;
    MPI_Request before = *handle;
    int error = REAL(Test)(handle, flag, status);
    if (IS_RECORDED(error) && *flag)
        completed(before);
    return error;
}
TWO_NAMES(Test)

/* The handles before the call, which replaces them. */
static MPI_Request *kept(int count, const MPI_Request handles[])
{
    static MPI_Request *list;
    static int room;
    if (count > room) {
        room = 2 * count;
        list = recorder_alloc(list, (size_t)room, sizeof *list);
    }
    if (recorder_depth == 1 && count > 0)
        memcpy(list, handles, (size_t)count * sizeof *list);
    return list;
}

int MPI_Waitall(int count, MPI_Request handles[], MPI_Status statuses[])
{
    CALL;
    MPI_Request *before = kept(count, handles);
    int error = REAL(Waitall)(count, handles, statuses);
    for (int i = 0; IS_RECORDED(error) && i < count; i++)
        completed(before[i]);
    return error;
}
TWO_NAMES(Waitall)

int MPI_Testall(int count, MPI_Request handles[], int *flag, MPI_Status statuses[])
{
    CALL;
    MPI_Request *before = kept(count, handles);
    int error = REAL(Testall)(count, handles, flag, statuses);
    for (int i = 0; IS_RECORDED(error) && *flag && i < count; i++)
        completed(before[i]);
    return error;
}
TWO_NAMES(Testall)

int MPI_Waitany(int count, MPI_Request handles[], int *index, MPI_Status *status)
{
    CALL;
    MPI_Request *before = kept(count, handles);
    int error = REAL(Waitany)(count, handles, index, status);
    if (IS_RECORDED(error) && *index != MPI_UNDEFINED)
        completed(before[*index]);
    return error;
}
TWO_NAMES(Waitany)

int MPI_Testany(int count, MPI_Request handles[], int *index, int *flag, MPI_Status *status)
{
    CALL;
    MPI_Request *before = kept(count, handles);
    int error = REAL(Testany)(count, handles, index, flag, status);
    if (IS_RECORDED(error) && *flag && *index != MPI_UNDEFINED)
        completed(before[*index]);
    return error;
}
TWO_NAMES(Testany)

int MPI_Waitsome(int count, MPI_Request handles[], int *done, int indices[], MPI_Status statuses[])
{
    CALL;
    MPI_Request *before = kept(count, handles);
    int error = REAL(Waitsome)(count, handles, done, indices, statuses);
    for (int i = 0; IS_RECORDED(error) && *done != MPI_UNDEFINED && i < *done; i++)
        completed(before[indices[i]]);
    return error;
}
TWO_NAMES(Waitsome)

int MPI_Testsome(int count, MPI_Request handles[], int *done, int indices[], MPI_Status statuses[])
{
    CALL;
    MPI_Request *before = kept(count, handles);
    int error = REAL(Testsome)(count, handles, done, indices, statuses);
    for (int i = 0; IS_RECORDED(error) && *done != MPI_UNDEFINED && i < *done; i++)
        completed(before[indices[i]]);
    return error;
}
TWO_NAMES(Testsome)
