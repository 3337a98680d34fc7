//! What is told of the machine and the program: no arguments and no environment variables, for those
//! hold secrets.

use std::fs;

use crate::write::About;

/// The facts that do not change while the process lives.
pub(super) fn about() -> About {
    About {
        program: program(),
        os: os(),
        cpu: cpu().unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        hardware_threads: std::thread::available_parallelism().map_or(0, |n| n.get() as u64),
        ..About::default()
    }
}

/// The program's own name.
pub(super) fn program() -> String {
    let path = std::env::current_exe().ok();
    let name = path.as_deref().and_then(|path| path.file_name());
    name.map_or_else(
        || "unknown".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

fn os() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{} {}", std::env::consts::OS, release.trim())
        .trim_end()
        .to_owned()
}

fn cpu() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
