/* Foreign functions that block, compute or call back, for the acceptance cases. */
#include <time.h>

static long long now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Sleeps in the kernel for that many milliseconds. */
void c_block(int ms) {
    long long end = now(CLOCK_MONOTONIC) + ms * 1000000LL;
    for (;;) {
        long long left = end - now(CLOCK_MONOTONIC);
        if (left <= 0) return;
        struct timespec t = { left / 1000000000LL, left % 1000000000LL };
        nanosleep(&t, 0);
    }
}

/* Uses that many milliseconds of its own processor time. */
void c_spin(int cpu_ms) {
    long long end = now(CLOCK_THREAD_CPUTIME_ID) + cpu_ms * 1000000LL;
    while (now(CLOCK_THREAD_CPUTIME_ID) < end) { }
}

/* Calls back once. */
void c_call_back(void (*f)(void *), void *data) { f(data); }

/* Called through a variable, so that no compiler makes one frame of several. */
static int (*volatile again)(int);

/* Recurses until the stack ends, 48 KiB at a time, and touches only the far end of each frame. */
int c_recurse(int depth) {
    volatile char frame[48 * 1024];
    if (depth < 0) return 0;
    frame[0] = (char)depth;
    again = c_recurse;
    return again(depth + 1) + frame[0];
}
