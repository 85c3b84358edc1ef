/* Messages between two ranks, for one form of counts (recorder.h). Included by messages.c alone. */

SEND_CALL(Send)
SEND_CALL(Ssend)
SEND_CALL(Bsend)
SEND_CALL(Rsend)
SEND_REQUEST_CALL(Isend, 0)
SEND_REQUEST_CALL(Issend, 0)
SEND_REQUEST_CALL(Ibsend, 0)
SEND_REQUEST_CALL(Irsend, 0)
SEND_REQUEST_CALL(Send_init, 1)
SEND_REQUEST_CALL(Ssend_init, 1)
SEND_REQUEST_CALL(Bsend_init, 1)
SEND_REQUEST_CALL(Rsend_init, 1)
RECEIVE_REQUEST_CALL(Irecv, 0)
RECEIVE_REQUEST_CALL(Recv_init, 1)

int MPI_NAME(Recv)(void *buffer, COUNT count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Status *status)
{
    CALL;
    int error = REAL(FORM(Recv))(buffer, count, type, peer, tag, comm, status);
    if (IS_RECORDED(error))
        recorder_message("recv", comm, peer, tag, recorder_bytes(type, count));
    return error;
}
TWO_NAMES(FORM(Recv))

int MPI_NAME(Sendrecv)(const void *send, COUNT send_count, MPI_Datatype send_type, int to, int send_tag, void *receive,
                 COUNT receive_count, MPI_Datatype receive_type, int from, int receive_tag, MPI_Comm comm,
                 MPI_Status *status)
{
    CALL;
    int error = REAL(FORM(Sendrecv))(send, send_count, send_type, to, send_tag, receive, receive_count, receive_type,
                                     from, receive_tag, comm, status);
    if (IS_RECORDED(error))
        both(comm, to, send_tag, recorder_bytes(send_type, send_count), from, receive_tag,
             recorder_bytes(receive_type, receive_count));
    return error;
}
TWO_NAMES(FORM(Sendrecv))

int MPI_NAME(Sendrecv_replace)(void *buffer, COUNT count, MPI_Datatype type, int to, int send_tag, int from,
                                   int receive_tag, MPI_Comm comm, MPI_Status *status)
{
    CALL;
    int error = REAL(FORM(Sendrecv_replace))(buffer, count, type, to, send_tag, from, receive_tag, comm, status);
    size_t bytes = recorder_bytes(type, count);
    if (IS_RECORDED(error))
        both(comm, to, send_tag, bytes, from, receive_tag, bytes);
    return error;
}
TWO_NAMES(FORM(Sendrecv_replace))

int MPI_NAME(Imrecv)(void *buffer, COUNT count, MPI_Datatype type, MPI_Message *message, MPI_Request *request)
{
    CALL;
    MPI_Message handle = *message;
    int error = REAL(FORM(Imrecv))(buffer, count, type, message, request);
    if (IS_RECORDED(error)) {
        taken of = give(handle);
        recorder_request_message(request, RECEIVE, of.comm, of.source, of.tag, recorder_bytes(type, count), 0);
    }
    return error;
}
TWO_NAMES(FORM(Imrecv))

int MPI_NAME(Mrecv)(void *buffer, COUNT count, MPI_Datatype type, MPI_Message *message, MPI_Status *status)
{
    CALL;
    MPI_Message handle = *message;
    int error = REAL(FORM(Mrecv))(buffer, count, type, message, status);
    if (IS_RECORDED(error)) {
        taken of = give(handle);
        communicator *on = recorder_communicator(of.comm);
        int other = recorder_peer(on, of.source);
        recorder_message("irecv", of.comm, of.source, of.tag, recorder_bytes(type, count));
        if (other != MPI_PROC_NULL)
            wait_for(on, other, 1, of.tag);
    }
    return error;
}
TWO_NAMES(FORM(Mrecv))
