//! The last part in edition 2024: `let` in conditions.

fn chains() {
    if let Some(_) = M.lock().unwrap().first()
        && yes(line!())
    {
        b(line!());
    }
    if let Some(5) = M.lock().unwrap().first()
        && yes(line!())
    {
    } else {
        b(line!());
    }
    b(line!());
}
