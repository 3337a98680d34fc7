//! The fault handler: tells a stack overflow from every other fault.
//!
//! A fault in the guard of the stack that is mounted on this OS thread is an overflow: its report goes
//! out with one `write(2)` and the process aborts. Destructors of a thread that has no stack left cannot
//! run, so what it locked would stay locked; ending is the only honest outcome.
//!
//! Every other fault reaches the handler that was there before, with the same arguments. For std's own
//! this gives its message when an OS thread overflows, and the default action for a null pointer.
//!
//! **Invariant (signal-safe):** what runs in the handler reads plain memory and atomics, formats into a
//! buffer on the signal stack, and calls `write`, `sigaction`, `raise` and `abort`. No lock, no allocation.
//!
//! **Invariant (chained once):** each layer remembers the handlers found when it was installed, and is
//! installed once. The second layer exists because the `generator` crate installs its own handler at
//! first use: ours then goes in front of that, chained to what was there before it, be it the first layer
//! or a stranger in front of the first.
#![expect(unsafe_code, reason = "installs and runs a signal handler")]

use std::ffi::{c_int, c_void};
use std::fmt::{self, Write as _};
use std::mem::{MaybeUninit, zeroed};
use std::ptr;
use std::sync::{Once, OnceLock};

use super::running::{self, State};

const SIGNALS: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// Enough for our handler, a chained one that formats, and the registers of any processor.
const SIGNAL_STACK: usize = 64 << 10;

type Handlers = [libc::sigaction; SIGNALS.len()];

/// What each layer is chained to.
static BEFORE: [OnceLock<Handlers>; 2] = [OnceLock::new(), OnceLock::new()];

/// Takes over SIGSEGV and SIGBUS for the process. Idempotent.
pub(crate) fn install_fault_handler() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| install::<0>(read_handlers()));
}

/// Runs `other`, which installs handlers of its own, then puts ours in front of them, chained to those
/// that were there before. Idempotent.
pub(super) fn install_in_front_of(other: impl FnOnce() + Send + 'static) {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = read_handlers();
        // It sets a panic hook, which a panicking thread may not.
        if std::thread::panicking() {
            let helper = std::thread::Builder::new().name("vt-stacks".to_owned());
            let helper = helper
                .spawn(other)
                .expect("one thread to prepare stacks on");
            let _ = helper.join();
        } else {
            other();
        }
        install::<1>(before);
    });
}

fn read_handlers() -> Handlers {
    SIGNALS.map(|signal| {
        // SAFETY: all-zero is a valid value of this plain C struct.
        let mut found: libc::sigaction = unsafe { zeroed() };
        // SAFETY: only reads the present handler, into a valid place.
        unsafe { libc::sigaction(signal, ptr::null(), &raw mut found) };
        found
    })
}

fn install<const LAYER: usize>(before: Handlers) {
    let before = BEFORE[LAYER].get_or_init(|| before);
    for (signal, before) in SIGNALS.into_iter().zip(before) {
        // SAFETY: all-zero is a valid value of this plain C struct.
        let mut ours: libc::sigaction = unsafe { zeroed() };
        ours.sa_sigaction = on_fault::<LAYER> as *const () as usize;
        ours.sa_flags = libc::SA_SIGINFO
            | libc::SA_ONSTACK
            | (before.sa_flags & (libc::SA_NODEFER | libc::SA_RESTART));
        ours.sa_mask = before.sa_mask;
        // SAFETY: `on_fault` has the signature SA_SIGINFO asks for and is "signal-safe".
        unsafe { libc::sigaction(signal, &raw const ours, ptr::null_mut()) };
    }
}

extern "C" fn on_fault<const LAYER: usize>(
    signal: c_int,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
) {
    // SAFETY: the kernel passes a valid description, and keeps it until the handler returns.
    let fault = unsafe { &*info };
    let code = fault.si_code;
    // Only a fault has an address; a signal somebody sent has its sender in that place.
    if code > 0 {
        // SAFETY: it is a fault, and faults carry an address.
        let address = unsafe { fault.si_addr() }.addr();
        running::with_current(|state| {
            if let Some(state) = state
                && state.extent().guard().contains(&address)
            {
                report_overflow(state);
            }
        });
    }
    if let Some(handlers) = BEFORE[LAYER].get() {
        let index = usize::from(signal != SIGNALS[0]);
        forward(&handlers[index], signal, code, info, context);
    }
}

/// Does what the kernel would have done if `before` were installed.
fn forward(
    before: &libc::sigaction,
    signal: c_int,
    code: c_int,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
) {
    let is_fault = code > 0;
    if before.sa_sigaction == libc::SIG_IGN && !is_fault {
        return;
    }
    let takes_default =
        before.sa_sigaction == libc::SIG_DFL || before.sa_sigaction == libc::SIG_IGN;
    if takes_default || before.sa_flags & libc::SA_RESETHAND != 0 {
        // SAFETY: all-zero is SIG_DFL with no flags.
        let default: libc::sigaction = unsafe { zeroed() };
        // SAFETY: installs the default action.
        unsafe { libc::sigaction(signal, &raw const default, ptr::null_mut()) };
    }
    if takes_default {
        // A fault comes again when the handler returns, and then ends the process; a signal that was
        // sent does not, so it is sent again.
        if !is_fault {
            // SAFETY: no preconditions; it is delivered when this handler returns.
            unsafe { libc::raise(signal) };
        }
        return;
    }
    if before.sa_flags & libc::SA_SIGINFO != 0 {
        // SAFETY: a handler installed with SA_SIGINFO has this signature, and is not null or a constant.
        let handler = unsafe {
            std::mem::transmute::<usize, extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void)>(
                before.sa_sigaction,
            )
        };
        handler(signal, info, context);
    } else {
        // SAFETY: a handler installed without SA_SIGINFO has this signature, and is not a constant.
        let handler =
            unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(before.sa_sigaction) };
        handler(signal);
    }
}

/// Prints who has no stack left, and ends the process.
#[cold]
fn report_overflow(state: &State) -> ! {
    let mut text = Text {
        bytes: [0; 512],
        length: 0,
    };
    let label = state.label();
    let id = label.id;
    let size = state.extent().usable().len() >> 10;
    let _ = match label.name.as_deref() {
        Some(name) => write!(text, "\nvirtual thread '{name}' (#{id})"),
        None => write!(text, "\nvirtual thread #{id}"),
    };
    let _ = write!(
        text,
        " has overflowed its stack of {size} KiB\nfatal runtime error: stack overflow; \
         give the thread a larger stack_size, or all of them with VT_STACK_SIZE\n"
    );
    // SAFETY: the buffer is valid for the length; a failure to write cannot be helped.
    unsafe { libc::write(libc::STDERR_FILENO, text.bytes.as_ptr().cast(), text.length) };
    // SAFETY: no preconditions.
    unsafe { libc::abort() }
}

/// Text in a fixed buffer; what does not fit is cut off.
struct Text {
    bytes: [u8; 512],
    length: usize,
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = &mut self.bytes[self.length..];
        let count = text.len().min(room.len());
        room[..count].copy_from_slice(&text.as_bytes()[..count]);
        self.length += count;
        Ok(())
    }
}

/// Makes sure that a fault on this OS thread can be handled when its stack is used up. std gives threads
/// it starts a signal stack, but not where `main` is not Rust's, nor threads started by others.
pub(super) fn prepare_os_thread() {
    thread_local! {
        static SIGNAL_STACK_OF_THREAD: Option<SignalStack> = SignalStack::if_missing();
    }
    // While the thread's locals are being destroyed there is nothing left to prepare.
    let _ = SIGNAL_STACK_OF_THREAD.try_with(|_| ());
}

/// A signal stack of ours; ends with its thread.
struct SignalStack {
    memory: *mut c_void,
}

impl SignalStack {
    fn if_missing() -> Option<Self> {
        let mut present = MaybeUninit::<libc::stack_t>::zeroed();
        // SAFETY: only reads the present signal stack, into a valid place.
        unsafe { libc::sigaltstack(ptr::null(), present.as_mut_ptr()) };
        // SAFETY: zeroed, and filled by the call.
        if unsafe { present.assume_init() }.ss_flags & libc::SS_DISABLE == 0 {
            return None;
        }
        let access = rustix::mm::ProtFlags::READ | rustix::mm::ProtFlags::WRITE;
        // SAFETY: no address is asked for, so the new mapping replaces nothing.
        let memory = unsafe {
            rustix::mm::mmap_anonymous(
                ptr::null_mut(),
                SIGNAL_STACK,
                access,
                rustix::mm::MapFlags::PRIVATE,
            )
        }
        .ok()?;
        let ours = libc::stack_t {
            ss_sp: memory,
            ss_flags: 0,
            ss_size: SIGNAL_STACK,
        };
        // SAFETY: the memory was mapped just now and stays until `drop` takes the signal stack away.
        unsafe { libc::sigaltstack(&raw const ours, ptr::null_mut()) };
        Some(Self { memory })
    }
}

impl Drop for SignalStack {
    fn drop(&mut self) {
        let none = libc::stack_t {
            ss_sp: ptr::null_mut(),
            ss_flags: libc::SS_DISABLE,
            ss_size: SIGNAL_STACK,
        };
        // SAFETY: takes the signal stack of this thread away; no handler is running on it.
        unsafe { libc::sigaltstack(&raw const none, ptr::null_mut()) };
        // SAFETY: mapped by `if_missing`, and no longer used.
        let _ = unsafe { rustix::mm::munmap(self.memory, SIGNAL_STACK) };
    }
}
