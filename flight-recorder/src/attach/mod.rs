//! Reaching a recorder in a running process, as the same user, over a unix socket.
//!
//! ```text
//! folder   $XDG_RUNTIME_DIR/vt-flight  or  <temporary files>/vt-flight-<uid>      0700, ours, no link
//! socket   <pid>.sock, further recorders of the process <pid>-<n>.sock            0600
//! request  vt-flight 1 <verb> [argument]\n         at most 512 bytes, within five seconds
//! reply    ok <length>\n<bytes>  or  error <text>\n
//! ```
//!
//! Served on threads of its own, one request a connection. The peer's uid must be ours (or root's).
//! No path is ever taken from a client: dumps are sent back.

mod client;
mod server;

use std::fs::{DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::PathBuf;

pub use self::client::{AttachError, Process, processes};
pub(crate) use self::server::listen;

/// What a request begins with; the number is the protocol's version.
const HELLO: &str = "vt-flight 1 ";
/// A request's bytes at most.
const MAX_REQUEST: usize = 512;

fn uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Where the sockets of this user's processes are.
fn folder() -> PathBuf {
    match std::env::var_os("XDG_RUNTIME_DIR").filter(|folder| !folder.is_empty()) {
        Some(folder) => PathBuf::from(folder).join("vt-flight"),
        None => std::env::temp_dir().join(format!("vt-flight-{}", uid())),
    }
}

/// The folder, made where it is missing, and known to be ours alone: in a folder for temporary files
/// somebody else may have been there first.
fn own_folder() -> io::Result<PathBuf> {
    let folder = folder();
    match DirBuilder::new().mode(0o700).create(&folder) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let about = std::fs::symlink_metadata(&folder)?;
    if !about.is_dir() || about.uid() != uid() {
        return Err(io::Error::other(
            "its folder is a link or belongs to another user",
        ));
    }
    if about.permissions().mode() & 0o077 != 0 {
        std::fs::set_permissions(&folder, Permissions::from_mode(0o700))?;
    }
    Ok(folder)
}
