//! `vt-flight doctor`: whether a program's file has what its recordings need: frame pointers to take
//! stacks cheaply, symbols and lines to name them, a build id to name them later.

use std::io::Write;
use std::path::Path;

use object::{Architecture, Object, ObjectSection, ObjectSymbol, SymbolKind};

use crate::args::Doctor;
use crate::input::Failure;
use crate::text;

/// Functions looked at for frame pointers.
const SAMPLE: usize = 2_000;
/// Smaller functions often need no frame.
const LEAST_SIZE: u64 = 96;
/// With frame pointers on, the rest are functions that set their frame up late.
const ENOUGH: f64 = 0.6;

/// One thing looked at.
struct Finding {
    name: &'static str,
    fine: bool,
    seen: String,
    cure: &'static str,
}

pub(crate) fn run(arguments: &Doctor, out: &mut impl Write) -> Result<bool, Failure> {
    let path = &arguments.binary;
    let failed = |what: String| Failure::File(path.clone(), what);
    let bytes = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
    let findings = examine(&bytes, path).map_err(failed)?;
    for finding in &findings {
        let word = if finding.fine {
            text::good("  ok")
        } else {
            text::error("lack")
        };
        writeln!(out, "{word}  {:<16} {}", finding.name, finding.seen)?;
        if !finding.fine {
            writeln!(out, "      {:<16} {}", "", finding.cure)?;
        }
    }
    Ok(findings.iter().all(|finding| finding.fine))
}

fn examine(bytes: &[u8], path: &Path) -> Result<Vec<Finding>, String> {
    let file = object::File::parse(bytes)
        .map_err(|error| format!("not a program this can read: {error}"))?;
    let functions: Vec<_> = file
        .symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0)
        .collect();
    let runtime = functions
        .iter()
        .any(|f| f.name().is_ok_and(|name| name.contains("vt_runtime")));
    let (with, looked) = frame_pointers(&file, &functions);
    let share = with as f64 / looked.max(1) as f64;
    let lines = file
        .section_by_name(".debug_line")
        .map_or(0, |section| section.size());
    let build_id = vt_flight_recorder::build_id_of(path).unwrap_or_default();
    Ok(vec![
        Finding {
            name: "runtime",
            fine: runtime,
            seen: if runtime {
                "vt-runtime is in it"
            } else {
                "no function of vt-runtime"
            }
            .to_owned(),
            cure: "it uses no virtual threads, or its symbols are stripped",
        },
        Finding {
            name: "frame pointers",
            fine: looked > 0 && share >= ENOUGH,
            seen: format!("{with} of {looked} functions looked at set one up"),
            cure: "build with RUSTFLAGS=\"-C force-frame-pointers=yes\"; without them stacks cost more",
        },
        Finding {
            name: "symbols",
            fine: !functions.is_empty(),
            seen: format!("{} functions", functions.len()),
            cure: "keep them: strip = \"none\" or \"debuginfo\" in the profile",
        },
        Finding {
            name: "lines",
            fine: lines > 0,
            seen: format!("{} of line tables", text::bytes(lines)),
            cure: "debug = \"line-tables-only\" in the profile; inlined frames and lines need it",
        },
        Finding {
            name: "build id",
            fine: !build_id.is_empty(),
            seen: if build_id.is_empty() {
                "none".to_owned()
            } else {
                build_id
            },
            cure: "link with -C link-arg=-Wl,--build-id to match recordings with files",
        },
    ])
}

/// How many of the program's own functions set up a frame pointer, of how many looked at.
fn frame_pointers<'data>(
    file: &object::File<'data>,
    functions: &[object::Symbol<'data, '_>],
) -> (usize, usize) {
    let Some(code) = file.section_by_name(".text") else {
        return (0, 0);
    };
    let Ok(bytes) = code.data() else {
        return (0, 0);
    };
    let own = functions.iter().filter(|function| {
        let name = function.name().unwrap_or_default();
        // The standard library comes compiled, with what its makers chose.
        let std = ["4core", "3std", "5alloc"]
            .iter()
            .any(|part| name.contains(part));
        function.size() >= LEAST_SIZE && name.starts_with("_") && !std
    });
    let (mut with, mut looked) = (0, 0);
    for function in own.take(SAMPLE) {
        let begin = function.address().checked_sub(code.address());
        let begin = begin.and_then(|at| usize::try_from(at).ok());
        let Some(begin) = begin.and_then(|at| bytes.get(at..)) else {
            continue;
        };
        looked += 1;
        with += usize::from(sets_frame_pointer(file.architecture(), begin));
    }
    (with, looked)
}

fn sets_frame_pointer(architecture: Architecture, code: &[u8]) -> bool {
    let head = &code[..code.len().min(48)];
    match architecture {
        // push rbp; mov rbp, rsp
        Architecture::X86_64 => head
            .windows(4)
            .any(|bytes| bytes == [0x55, 0x48, 0x89, 0xe5]),
        // add x29, sp, #n
        Architecture::Aarch64 => head.chunks_exact(4).any(|word| {
            let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            word & 0xff80_03ff == 0x9100_03fd
        }),
        _ => false,
    }
}
