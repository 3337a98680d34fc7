//! How many threads this machine has room for: memory, the cgroup's limit, the kernel's mapping limit.
//!
//! Everything is read once per pool and is an estimate; what is missing or unreadable is not a limit.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What one thread is taken to need: a page of stack or two, its share of page tables, its record.
const BYTES_PER_THREAD: u64 = 8 << 10;

/// Threads that are allowed however little memory there seems to be.
const FEWEST: usize = 1024;

/// The kernel's default, where it does not say.
const MAPPINGS: usize = 65_530;

/// Threads that fit into seven eighths of the memory available now.
pub(super) fn threads_in_memory() -> usize {
    let machine = machine_available();
    let group = cgroup_available();
    let available = match (machine, group) {
        (Some(machine), Some(group)) => machine.min(group),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => return 1 << 20,
    };
    let threads = available / 8 * 7 / BYTES_PER_THREAD;
    usize::try_from(threads).unwrap_or(usize::MAX).max(FEWEST)
}

/// Mappings that stacks may take, leaving a thirty-second part of the limit, and at least a thousand, for
/// OS threads, allocators and libraries.
pub(super) fn free_mappings() -> usize {
    let limit = fs::read_to_string("/proc/sys/vm/max_map_count")
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(MAPPINGS);
    let used = fs::read("/proc/self/maps")
        .map_or(0, |maps| maps.iter().filter(|&&byte| byte == b'\n').count());
    limit
        .saturating_sub(used)
        .saturating_sub((limit / 32).max(1000))
}

/// Does this process have a limit on its address space (`ulimit -v`)? Asked once.
pub(super) fn address_space_is_limited() -> bool {
    static IS_LIMITED: OnceLock<bool> = OnceLock::new();
    *IS_LIMITED.get_or_init(|| {
        let limit = rustix::process::getrlimit(rustix::process::Resource::As);
        limit.current.is_some()
    })
}

fn machine_available() -> Option<u64> {
    field(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
        .map(|kibibytes| kibibytes << 10)
}

/// The least room left in any cgroup this process is in, for both versions of the interface.
fn cgroup_available() -> Option<u64> {
    let membership = fs::read_to_string("/proc/self/cgroup").ok()?;
    membership
        .lines()
        .filter_map(|line| {
            let (_, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            let (root, limit, used, cache) = if controllers.is_empty() {
                ("/sys/fs/cgroup", "memory.max", "memory.current", "file")
            } else if controllers.split(',').any(|name| name == "memory") {
                (
                    "/sys/fs/cgroup/memory",
                    "memory.limit_in_bytes",
                    "memory.usage_in_bytes",
                    "total_cache",
                )
            } else {
                return None;
            };
            room_up_to(Path::new(root), path, |folder| {
                let limit: u64 = read_number(&folder.join(limit))?;
                let used = read_number(&folder.join(used)).unwrap_or(0);
                let cache = fs::read_to_string(folder.join("memory.stat"))
                    .ok()
                    .and_then(|stat| field(&stat, cache))
                    .unwrap_or(0);
                Some(limit.saturating_sub(used.saturating_sub(cache)))
            })
        })
        .min()
}

/// The least of what `room` says for `path` under `root` and for each folder above it.
fn room_up_to(root: &Path, path: &str, room: impl Fn(&Path) -> Option<u64>) -> Option<u64> {
    let mut folder: PathBuf = root.join(path.trim_start_matches('/'));
    let mut least = None;
    while folder.starts_with(root) {
        least = match (least, room(&folder)) {
            (Some(one), Some(other)) => Some(u64::min(one, other)),
            (one, other) => one.or(other),
        };
        if !folder.pop() {
            break;
        }
    }
    least
}

/// A file that holds one number; `max` and anything else is none.
fn read_number(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// The number after `name` at the start of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next()? == name).then(|| words.next()?.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "MemTotal:       100 kB\nMemAvailable:   60 kB\nfile 7\nfile_dirty 9\n";
        assert_eq!(field(text, "MemAvailable:"), Some(60));
        assert_eq!(field(text, "file"), Some(7));
        assert_eq!(field(text, "MemFree:"), None);
    }

    #[test]
    fn the_tightest_group_above_counts() {
        let rooms = |folder: &Path| match folder.to_str() {
            Some("/g/a/b") => Some(50),
            Some("/g/a") => Some(20),
            _ => None,
        };
        assert_eq!(room_up_to(Path::new("/g"), "/a/b", rooms), Some(20));
        assert_eq!(room_up_to(Path::new("/g"), "/", rooms), None);
    }

    #[test]
    fn this_machine_has_room() {
        assert!(threads_in_memory() >= FEWEST);
        assert!(free_mappings() > 1000, "a test process uses few mappings");
    }
}
