//! A file that is no Rust.
// edition: 2024

fn broken( { //~ unparsed-source
}
