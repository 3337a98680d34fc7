//! The C library's own versions of the functions that are trapped.
//!
//! They are asked for before `main`, since asking may allocate and take locks, which a trap in a signal handler must
//! not; a call that comes even earlier, from another library's constructor, asks for its own.
#![expect(unsafe_code, reason = "asks the dynamic linker for functions")]

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// One function of the C library.
pub(crate) struct Original {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Original {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self {
            name,
            address: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Its address, never null.
    #[inline]
    pub(crate) fn address(&self) -> *mut c_void {
        let address = self.address.load(Ordering::Relaxed);
        if address.is_null() {
            self.find()
        } else {
            address
        }
    }

    /// Asks the dynamic linker for the next definition after ours.
    #[cold]
    pub(crate) fn find(&self) -> *mut c_void {
        let address = if cfg!(target_arch = "x86_64")
            && self.name.to_bytes().starts_with(b"pthread_cond")
        {
            // There are two kinds of condition variables; without a version one may get the old kind.
            // SAFETY: both names are strings that end in a null byte.
            unsafe { libc::dlvsym(libc::RTLD_NEXT, self.name.as_ptr(), c"GLIBC_2.3.2".as_ptr()) }
        } else {
            // SAFETY: the name is a string that ends in a null byte.
            unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) }
        };
        if address.is_null() {
            // A program that calls what its C library does not have could not have been linked.
            std::process::abort();
        }
        self.address.store(address, Ordering::Relaxed);
        address
    }

    /// What the rest of the program gets when it asks for the function by name.
    pub(crate) fn seen_by_others(&self) -> *mut c_void {
        // SAFETY: the name is a string that ends in a null byte.
        unsafe { libc::dlsym(libc::RTLD_DEFAULT, self.name.as_ptr()) }
    }
}
