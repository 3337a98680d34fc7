//! The virtual threads of the recorded process, for a client of the socket.

use std::collections::HashMap;
use std::time::Duration;

use vt_runtime::event::Pinned;
use vt_runtime::thread::ThreadInfo;

use super::{FlightRecorder, SharedSymbols};
use crate::symbol::{Frame, Symbolizer};

impl FlightRecorder {
    /// Virtual threads, one a line, fields separated by tabs: see [`Process::threads`](crate::attach::Process::threads).
    pub(crate) fn thread_list(&self) -> String {
        self.list(&self.shared.runtime.threads(), None)
    }

    /// The same, each followed by the frames of its stack, innermost first, a tab before each.
    pub(crate) fn thread_stacks(&self) -> String {
        let mut symbols = SharedSymbols(self.shared.symbols.clone());
        let mut known: HashMap<u64, Vec<String>> = HashMap::new();
        let mut frames = |address: u64| {
            let name = || names(&mut symbols, address);
            known.entry(address).or_insert_with(name).clone()
        };
        self.list(&self.shared.runtime.thread_dump(), Some(&mut frames))
    }

    fn list(
        &self,
        threads: &[ThreadInfo],
        mut frames: Option<&mut dyn FnMut(u64) -> Vec<String>>,
    ) -> String {
        let open = self.shared.runtime.open_pins();
        let open: HashMap<u64, &Pinned> = open.iter().map(|pin| (pin.thread.id, pin)).collect();
        let mut text = String::new();
        for thread in threads {
            let pin = open.get(&thread.id.as_u64()).copied();
            text.push_str(&line(thread, pin));
            if let Some(frames) = &mut frames {
                for frame in thread.stack.iter().flat_map(|address| frames(*address)) {
                    text.push('\t');
                    text.push_str(&frame);
                    text.push('\n');
                }
            }
        }
        text
    }
}

fn line(thread: &ThreadInfo, pin: Option<&Pinned>) -> String {
    let number = |number: Option<u64>| number.map_or(String::new(), |n| n.to_string());
    let nanos = |span: Option<Duration>| span.map_or(String::new(), |s| s.as_nanos().to_string());
    let place =
        |place: Option<&vt_runtime::event::Place>| place.map_or(String::new(), ToString::to_string);
    let fields = [
        thread.id.to_string(),
        clean(&thread.name),
        thread.state.to_string(),
        number(thread.carrier.map(|carrier| carrier as u64)),
        clean(thread.waits_for.as_deref().unwrap_or_default()),
        number(thread.waits_owner),
        nanos(thread.since),
        nanos(thread.pinned_for),
        clean(thread.native.unwrap_or_default()),
        number(thread.parent),
        clean(thread.waits_at.as_deref().unwrap_or_default()),
        thread.timed.to_string(),
        pin.map_or(String::new(), |pin| pin.reason.to_string()),
        clean(pin.and_then(|pin| pin.lock.as_deref()).unwrap_or_default()),
        clean(&place(pin.and_then(|pin| pin.pinned_at.as_ref()))),
        number(pin.map(|pin| pin.stranded.into())),
    ];
    fields.join("\t") + "\n"
}

fn clean(text: &str) -> String {
    text.replace(['\t', '\n', '\r'], " ")
}

/// The functions at a return address, as texts; inner workings of the runtime left out.
fn names(symbols: &mut SharedSymbols, address: u64) -> Vec<String> {
    let functions = symbols.functions(address);
    if functions.is_empty() {
        return vec![format!("{address:#x}")];
    }
    let frames = functions
        .iter()
        .map(|function| (function, Frame::of_function(function)));
    let told = frames.filter(|(_, frame)| !frame.hidden);
    let text = |(function, _): (&crate::Function, _)| match function.line {
        0 => function.name.clone(),
        line => format!("{} (line {line})", function.name),
    };
    told.map(text).map(|text| clean(&text)).collect()
}
