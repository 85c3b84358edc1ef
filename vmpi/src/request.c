/* Requests: completion, waits and tests. Sends complete at once, receives when their message is there. */
#include <stdio.h>
#include <stdlib.h>

#include "runtime.h"

struct ompi_predefined_request_t {
    struct ompi_request_t request;
};
struct ompi_predefined_request_t ompi_request_null;

static const MPI_Status empty_status = {.MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG};

MPI_Request vmpi_request(enum request_kind kind, MPI_Comm comm, MPI_Datatype type)
{
    MPI_Request request = vmpi_alloc(1, sizeof *request);
    request->kind = kind;
    request->owner = vmpi_current;
    request->comm = comm;
    request->type = type;
    vmpi_type_hold(type);
    if (comm)
        vmpi_comm_hold(comm);
    return request;
}

static void release(MPI_Request request)
{
    if (request->sent)
        vmpi_forget_send(request);
    vmpi_type_drop(request->type);
    if (request->comm)
        vmpi_comm_drop(request->comm, request->owner);
    free(request);
}

void vmpi_complete(MPI_Request request, int source, int tag, size_t bytes)
{
    request->done = 1;
    request->status = (MPI_Status){
        .MPI_SOURCE = source, .MPI_TAG = tag, .MPI_ERROR = request->status.MPI_ERROR, ._ucount = bytes};
    vmpi_rank *owner = request->owner;
    if (request->orphan) { /* the program has freed it, so nobody waits */
        release(request);
        return;
    }
    if (request->awaited) {
        request->awaited = 0;
        if (--owner->outstanding == 0)
            vmpi_wake(owner);
    } else if (owner->state == RANK_POLLING) {
        vmpi_wake(owner);
    }
}

/* Returns the status of a completed request and releases it (a persistent one only becomes inactive). */
static int retire(MPI_Request *handle, MPI_Status *status)
{
    MPI_Request request = *handle;
    if (request != MPI_REQUEST_NULL && request->active && request->kind == REQUEST_GENERAL)
        vmpi_general_query(request);
    if (status != MPI_STATUS_IGNORE) {
        int error = status->MPI_ERROR; /* only calls that return MPI_ERR_IN_STATUS set it */
        *status = request == MPI_REQUEST_NULL || !request->active ? empty_status : request->status;
        status->MPI_ERROR = error;
    }
    if (request == MPI_REQUEST_NULL)
        return MPI_SUCCESS;
    int error = request->active ? request->status.MPI_ERROR : MPI_SUCCESS;
    if (request->active)
        vmpi_trace_wait(request);
    request->active = 0;
    request->status.MPI_ERROR = MPI_SUCCESS;
    if (!request->persistent) {
        vmpi_current->object = request->comm;
        if (request->kind == REQUEST_GENERAL)
            vmpi_general_free(request);
        release(request);
        *handle = MPI_REQUEST_NULL;
    }
    return error;
}

static int retire_one(MPI_Request *handle, MPI_Status *status)
{
    MPI_Comm comm = *handle == MPI_REQUEST_NULL ? NULL : (*handle)->comm;
    int error = retire(handle, status);
    if (error == MPI_SUCCESS)
        return error;
    vmpi_current->object = comm;
    vmpi_error(error, "a message is longer than its receive, or a callback of a request failed");
}

static int retire_all(int count, MPI_Request requests[], MPI_Status statuses[])
{
    int failed = 0;
    for (int i = 0; i < count; i++) {
        int error = retire(&requests[i], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
        failed += error != MPI_SUCCESS;
        if (statuses != MPI_STATUSES_IGNORE && (failed || vmpi_current->catches))
            statuses[i].MPI_ERROR = error;
    }
    if (failed)
        vmpi_error(MPI_ERR_IN_STATUS, "%d of %d requests failed", failed, count);
    return MPI_SUCCESS;
}

static int is_pending(MPI_Request request)
{
    return request != MPI_REQUEST_NULL && request->active && !request->done;
}

static void describe(MPI_Request request, int pending)
{
    if (request->kind == REQUEST_COLLECTIVE) {
        snprintf(vmpi_current->detail, sizeof vmpi_current->detail, "for the %s of communicator %d", request->call,
                 request->comm->id);
        return;
    }
    if (request->kind == REQUEST_GENERAL) {
        snprintf(vmpi_current->detail, sizeof vmpi_current->detail, "for a generalized request");
        return;
    }
    vmpi_describe_message(request->peer, request->tag, request->comm, pending - 1);
}

/* Suspends the rank until `needed` of the pending requests complete (all of them, or one). */
static void await(int count, MPI_Request requests[], int all)
{
    for (int i = 0; i < count; i++)
        if (!requests[i])
            vmpi_error(MPI_ERR_REQUEST, "request %d is not a request", i);
    int pending = 0;
    MPI_Request first = NULL;
    for (int i = 0; i < count; i++)
        if (is_pending(requests[i])) {
            first = first ? first : requests[i];
            requests[i]->awaited = 1;
            pending++;
        }
    if (pending == 0)
        return;
    describe(first, pending);
    vmpi_current->outstanding = all ? pending : 1;
    while (vmpi_current->outstanding > 0)
        vmpi_block();
    if (!all) /* stops waiting for the others */
        for (int i = 0; i < count; i++)
            if (requests[i] != MPI_REQUEST_NULL)
                requests[i]->awaited = 0;
}

int MPI_Startall(int count, MPI_Request requests[])
{
    VMPI_ENTER("MPI_Startall");
    for (int i = 0; i < count; i++) {
        if (requests[i] == MPI_REQUEST_NULL || !requests[i]->persistent || requests[i]->active)
            vmpi_error(MPI_ERR_REQUEST, "request %d is not an inactive persistent request", i);
        vmpi_request_start(requests[i]);
    }
    return MPI_SUCCESS;
}

int MPI_Request_free(MPI_Request *request)
{
    VMPI_ENTER("MPI_Request_free");
    if (*request == MPI_REQUEST_NULL)
        vmpi_error(MPI_ERR_REQUEST, "MPI_REQUEST_NULL cannot be freed");
    if (is_pending(*request)) {
        (*request)->orphan = 1;
    } else {
        if ((*request)->kind == REQUEST_GENERAL)
            vmpi_general_free(*request);
        release(*request);
    }
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

/* A send can be cancelled until its message is received. */
int MPI_Cancel(MPI_Request *request)
{
    VMPI_ENTER("MPI_Cancel");
    MPI_Request r = *request;
    if (r == MPI_REQUEST_NULL)
        vmpi_error(MPI_ERR_REQUEST, "MPI_REQUEST_NULL cannot be cancelled");
    if (r->kind == REQUEST_GENERAL) {
        vmpi_general_cancel(r);
    } else if (r->kind == REQUEST_RECEIVE && is_pending(r)) {
        vmpi_withdraw(r);
        vmpi_complete(r, r->peer, r->tag, 0);
        r->status._cancelled = 1; // NOLINT(clang-analyzer-unix.Malloc): the program still holds the request
        vmpi_trace_cancel(r);
    } else if (r->kind == REQUEST_SEND && r->active) {
        r->status._cancelled = vmpi_withdraw_sent(r);
        if (r->status._cancelled)
            vmpi_trace_cancel(r);
    }
    return MPI_SUCCESS;
}

int MPI_Test_cancelled(const MPI_Status *status, int *flag)
{
    *flag = status->_cancelled;
    return MPI_SUCCESS;
}

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    VMPI_ENTER("MPI_Request_get_status");
    *flag = !is_pending(request);
    if (!*flag) {
        describe(request, 1);
        vmpi_poll();
    } else if (status != MPI_STATUS_IGNORE) {
        if (request != MPI_REQUEST_NULL && request->active && request->kind == REQUEST_GENERAL)
            vmpi_general_query(request);
        *status = request == MPI_REQUEST_NULL || !request->active ? empty_status : request->status;
    }
    return MPI_SUCCESS;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    VMPI_ENTER("MPI_Wait");
    await(1, request, 1);
    return retire_one(request, status);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    VMPI_ENTER("MPI_Waitall");
    await(count, requests, 1);
    return retire_all(count, requests, statuses);
}

static int first_finished(int count, MPI_Request requests[])
{
    for (int i = 0; i < count; i++)
        if (requests[i] != MPI_REQUEST_NULL && requests[i]->active && requests[i]->done)
            return i;
    return MPI_UNDEFINED;
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    VMPI_ENTER("MPI_Waitany");
    *index = first_finished(count, requests);
    if (*index == MPI_UNDEFINED) {
        await(count, requests, 0);
        *index = first_finished(count, requests);
    }
    if (*index != MPI_UNDEFINED)
        return retire_one(&requests[*index], status);
    if (status != MPI_STATUS_IGNORE)
        *status = empty_status;
    return MPI_SUCCESS;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    VMPI_ENTER("MPI_Test");
    *flag = !is_pending(*request);
    if (*flag)
        return retire_one(request, status);
    describe(*request, 1);
    vmpi_poll();
    return MPI_SUCCESS;
}

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    VMPI_ENTER("MPI_Testall");
    for (int i = 0; i < count; i++)
        if (is_pending(requests[i])) {
            *flag = 0;
            describe(requests[i], 1);
            vmpi_poll();
            return MPI_SUCCESS;
        }
    *flag = 1;
    return retire_all(count, requests, statuses);
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    VMPI_ENTER("MPI_Testany");
    *index = first_finished(count, requests);
    *flag = 1;
    if (*index != MPI_UNDEFINED)
        return retire_one(&requests[*index], status);
    for (int i = 0; i < count; i++)
        if (is_pending(requests[i])) {
            *flag = 0;
            describe(requests[i], 1);
            vmpi_poll();
            return MPI_SUCCESS;
        }
    if (status != MPI_STATUS_IGNORE)
        *status = empty_status;
    return MPI_SUCCESS;
}

/* Returns all completed requests; MPI_UNDEFINED if none is active. */
static void retire_some(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[])
{
    int active = 0, failed = 0;
    *done = 0;
    for (int i = 0; i < count; i++) {
        if (requests[i] == MPI_REQUEST_NULL || !requests[i]->active)
            continue;
        active++;
        if (!requests[i]->done)
            continue;
        int error = retire(&requests[i], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[*done]);
        failed += error != MPI_SUCCESS;
        if (statuses != MPI_STATUSES_IGNORE && (failed || vmpi_current->catches))
            statuses[*done].MPI_ERROR = error;
        indices[(*done)++] = i;
    }
    if (active == 0)
        *done = MPI_UNDEFINED;
    if (failed)
        vmpi_error(MPI_ERR_IN_STATUS, "%d of %d requests failed", failed, count);
}

int MPI_Testsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[])
{
    VMPI_ENTER("MPI_Testsome");
    retire_some(count, requests, done, indices, statuses);
    for (int i = 0; *done == 0 && i < count; i++)
        if (is_pending(requests[i])) {
            describe(requests[i], 1);
            vmpi_poll();
            break;
        }
    return MPI_SUCCESS;
}

int MPI_Waitsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[])
{
    VMPI_ENTER("MPI_Waitsome");
    if (first_finished(count, requests) == MPI_UNDEFINED)
        await(count, requests, 0);
    retire_some(count, requests, done, indices, statuses);
    return MPI_SUCCESS;
}


/* For waits inside the library. */
void vmpi_wait(MPI_Request *request, MPI_Status *status)
{
    await(1, request, 1);
    retire_one(request, status);
}
