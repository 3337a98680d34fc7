/* Foreign functions that block, compute or call back, for the acceptance cases. */
#define _GNU_SOURCE
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

/* A profiler as there are many: a timer of processor time, and a handler that walks the stack it interrupts. */
static volatile sig_atomic_t ticks;

static void on_tick(int signal) {
    void *frames[32];
    (void)signal;
    if (backtrace(frames, 32) > 0) ticks++;
}

void c_profile(int period_us) {
    struct sigaction action;
    struct itimerval period;
    void *first[1];
    backtrace(first, 1); /* Loads what it needs, which a handler may not. */
    memset(&action, 0, sizeof action);
    action.sa_handler = on_tick;
    action.sa_flags = SA_RESTART;
    sigaction(SIGPROF, &action, 0);
    period.it_interval.tv_sec = 0;
    period.it_interval.tv_usec = period_us;
    period.it_value = period.it_interval;
    setitimer(ITIMER_PROF, &period, 0);
}

int c_ticks(void) { return ticks; }

/* A library that takes faults for its own purposes, and knows which are its own. */
static __thread sigjmp_buf back;
static __thread volatile sig_atomic_t expects;
static struct sigaction before;

static void on_fault(int signal, siginfo_t *info, void *context) {
    if (expects) siglongjmp(back, 1);
    if (before.sa_flags & SA_SIGINFO) before.sa_sigaction(signal, info, context);
    else sigaction(signal, &before, 0);
}

void c_take_faults(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(SIGSEGV, &action, &before);
}

/* Faults and recovers; 1 if its own handler was asked. */
int c_fault(void) {
    if (sigsetjmp(back, 1)) {
        expects = 0;
        return 1;
    }
    expects = 1;
    *(volatile int *)8 = 1;
    return 0;
}

/* Blocking where traps have nothing to say: in a signal handler with a stack of its own, and in a child that shares our
   memory. */
static void nap(void) {
    struct timespec t = { 0, 3000000 };
    nanosleep(&t, 0);
}

static void on_usr1(int signal) {
    (void)signal;
    nap();
}

void c_sleep_in_handler(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_usr1;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, 0);
    raise(SIGUSR1);
}

void c_sleep_in_vfork_child(void) {
    pid_t child = vfork();
    if (child == 0) {
        nap();
        _exit(0);
    }
    /* It has given our memory back, or we would not run; its end may still take a moment. */
    waitpid(child, 0, 0);
}

/* Waits for a condition that nobody signals. */
void c_wait_for_condition(int ms) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    long long end = now(CLOCK_REALTIME) + ms * 1000000LL;
    struct timespec until = { end / 1000000000LL, end % 1000000000LL };
    pthread_mutex_lock(&mutex);
    while (pthread_cond_timedwait(&condition, &mutex, &until) == 0) { }
    pthread_mutex_unlock(&mutex);
}
