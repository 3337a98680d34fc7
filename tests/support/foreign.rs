//! Safe faces of the C functions in `foreign.c`, declared to the runtime.
#![expect(unsafe_code, reason = "calls C")]

use std::ffi::{c_int, c_void};

use vt_runtime::native;

unsafe extern "C" {
    safe fn c_block(ms: c_int);
    safe fn c_spin(cpu_ms: c_int);
    safe fn c_profile(period_us: c_int);
    safe fn c_ticks() -> c_int;
    safe fn c_sleep_in_handler();
    safe fn c_sleep_in_vfork_child();
    safe fn c_wait_for_condition(ms: c_int);
    safe fn c_take_faults();
    safe fn c_fault() -> c_int;
    fn c_call_back(f: extern "C" fn(*mut c_void), data: *mut c_void);
}

/// Sleeps in the kernel for that many milliseconds.
pub fn block(ms: i32) {
    native::call("c_block", || c_block(ms));
}

/// Uses that many milliseconds of processor time.
pub fn spin(cpu_ms: i32) {
    native::call("c_spin", || c_spin(cpu_ms));
}

/// Calls `f` back from C, once.
pub fn call_back<F: FnMut()>(mut f: F) {
    extern "C" fn up<F: FnMut()>(data: *mut c_void) {
        // SAFETY: `data` is the `f` below, which C gives back while `call_back` still borrows it.
        let f = unsafe { &mut *data.cast::<F>() };
        f();
    }
    let data = (&raw mut f).cast();
    native::call("c_call_back", || {
        // SAFETY: the signature is that of `foreign.c`; C calls `up` once, with `data`, before it returns.
        unsafe { c_call_back(up::<F>, data) }
    });
}

/// Starts a profiler that interrupts whoever runs, once in so many microseconds of processor time.
pub fn profile(period_us: i32) {
    c_profile(period_us);
}

/// How often the profiler has walked a stack.
pub fn ticks() -> i32 {
    c_ticks()
}

/// From now on a foreign handler takes the faults of [`fault`], and passes on all others.
pub fn take_faults() {
    c_take_faults();
}

/// Reads where nothing is; true if the foreign handler got the fault.
pub fn fault() -> bool {
    c_fault() == 1
}

/// [`block`] without telling the runtime.
pub fn block_undeclared(ms: i32) {
    c_block(ms);
}

/// [`spin`] without telling the runtime.
pub fn spin_undeclared(cpu_ms: i32) {
    c_spin(cpu_ms);
}

/// Blocks for a moment in a signal handler that has its own stack.
pub fn sleep_in_handler() {
    c_sleep_in_handler();
}

/// Blocks for a moment in a child that shares this process's memory.
pub fn sleep_in_vfork_child() {
    c_sleep_in_vfork_child();
}

/// Waits for a condition of the C library, without telling the runtime.
pub fn wait_for_condition_undeclared(ms: i32) {
    c_wait_for_condition(ms);
}
