//! A macro whose arguments are not Rust, and a definition.

macro_rules! on {
    (on $type:ty => $do:ident) => {};
}

#[vt_runtime::park_safe]
fn opaque() {
    on! { on std::sync::Mutex<u8> => stay }
}

#[vt_runtime::park_safe]
mod definition {
    macro_rules! cell {
        () => {
            std::sync::Mutex::new(1)
        };
    }

    pub(crate) fn cell() -> u8 {
        *cell!().lock().unwrap()
    }
}

fn main() {
    opaque();
    definition::cell();
}
