//! `main` with an error type that cannot change threads.
#![deny(warnings)]

use std::error::Error;

#[vt_runtime::main(carriers = 2)]
fn main() -> Result<(), Box<dyn Error>> {
    #![expect(unused_variables, reason = "shows that inner attributes stay")]
    let unused = 1;
    let number = "12".parse::<u8>()?;
    assert_eq!(number, 12);
    Ok(())
}
