/* Fibers: execution contexts with stacks of their own that hand the processor to each other by name.
 *
 * A fiber's stack is mapped lazily by the system (only touched pages cost memory) and has an inaccessible page below
 * it, so that an overflow faults instead of damaging a neighbour's stack. */
#ifndef VMPI_FIBER_H
#define VMPI_FIBER_H

#include <stddef.h>

typedef struct fiber fiber;

/* Makes a fiber that will run entry(argument) when it is first switched to. `entry` must never return.
 * Returns NULL when the system has no memory or mappings left. */
fiber *fiber_create(size_t stack_bytes, void (*entry)(void *), void *argument);

/* Wraps the calling thread as a fiber, so that it can be switched back to. */
fiber *fiber_of_thread(void);

/* Saves the running context in `from` and continues `to`. */
void fiber_switch(fiber *from, fiber *to);

/* Unmaps the stack of a fiber that is not running. */
void fiber_destroy(fiber *f);

#endif
