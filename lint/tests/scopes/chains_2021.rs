
fn chains() {}
