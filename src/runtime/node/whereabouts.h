/* runtime/node/whereabouts.h — answers SIGURG with the lines at which the program is (spec/job.h).
 *
 * The main thread does not get the signal, because it may hold any lock at that moment. One of Node's
 * other threads gets it, which nearly always sleep, and asks V8 for an interruption. V8 calls back in
 * the main thread, between two steps of JavaScript, and there the stack is read. If no JavaScript runs,
 * there is no answer. */
#pragma once

/* In a zygote: looks for the functions of V8. */
void whereabouts_find(void);
/* In an embryo, once all threads run. Does nothing if V8 lacks a function. */
void whereabouts_begin(void *isolate);
