//! Functions that wrap foreign calls: early return, `?`, borrows, methods, generics, `impl Trait`.
#![deny(warnings)]

use std::io;

struct Device {
    log: Vec<u8>,
}

impl Device {
    /// Reads.
    #[vt_runtime::native(blocking)]
    #[must_use]
    fn read(&mut self, wanted: usize) -> io::Result<&mut Vec<u8>> {
        if wanted == 0 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let byte = u8::try_from(wanted).map_err(io::Error::other)?;
        self.log.push(byte);
        Ok(&mut self.log)
    }

    #[vt_runtime::native(label = "device: names")]
    fn names<'a>(&'a self) -> impl Iterator<Item = u8> + 'a {
        self.log.iter().copied()
    }
}

#[vt_runtime::native]
fn consume<T: AsRef<[u8]>>(mut bytes: Vec<u8>, more: T) -> Vec<u8> {
    bytes.extend_from_slice(more.as_ref());
    bytes
}

#[vt_runtime::native(quick)]
unsafe fn raw(byte: *const u8) -> u8 {
    // SAFETY: the caller's.
    unsafe { *byte }
}

fn main() {
    let mut device = Device { log: Vec::new() };
    assert!(device.read(0).is_err());
    assert_eq!(device.read(3).unwrap().len(), 1);
    assert_eq!(consume(device.names().collect(), [4]), [3, 4]);
    // SAFETY: it lives.
    assert_eq!(unsafe { raw(&5) }, 5);
}
