//! Where `native` cannot stand.

#[vt_runtime::native]
struct Device;

#[vt_runtime::native]
const fn evaluated() {}

#[vt_runtime::native]
async fn later() {}

#[vt_runtime::native]
extern "C" fn callback() {}

#[vt_runtime::native]
fn forever() -> ! {
    loop {}
}

fn main() {}
