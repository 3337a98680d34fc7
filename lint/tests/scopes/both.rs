//! A program that says at each call of `b` whether a lock is held; the first part.

use std::sync::{Mutex, MutexGuard};
static M: Mutex<Vec<usize>> = Mutex::new(Vec::new());
static S: Mutex<String> = Mutex::new(String::new());
static N: Mutex<usize> = Mutex::new(0);

/// Says whether a lock is held, and blocks, which is what the lint looks for.
fn b(line: u32) -> usize {
    let held = M.try_lock().is_err() || S.try_lock().is_err() || N.try_lock().is_err();
    let _ = std::fs::metadata(".");
    println!("{line} {held}");
    1
}
fn text(line: u32) -> String {
    b(line);
    String::new()
}
fn yes(line: u32) -> bool {
    b(line) == 1
}
fn two(_: usize, _: usize) {}
fn take(_: MutexGuard<'_, Vec<usize>>) {}
fn helper() -> MutexGuard<'static, Vec<usize>> {
    M.lock().unwrap()
}
struct Pair {
    x: usize,
    y: usize,
}
struct Holder {
    g: MutexGuard<'static, Vec<usize>>,
}
fn holder() -> Holder {
    Holder { g: M.lock().unwrap() }
}
fn reset() {
    let mut g = M.lock().unwrap();
    g.clear();
    g.push(1);
}

fn lets() {
    {
        let _g = M.lock().unwrap();
        b(line!());
    }
    b(line!());
    {
        let _ = M.lock().unwrap();
        b(line!());
    }
    {
        let _ = (M.lock().unwrap(), 1);
        b(line!());
    }
    {
        let (_, _x) = (M.lock().unwrap(), 1);
        b(line!());
    }
    {
        let (_a, _x) = (M.lock().unwrap(), 1);
        b(line!());
    }
    {
        let n = M.lock().unwrap().len();
        b(line!() + n as u32 * 0);
    }
    {
        let _n = (
            M.lock().unwrap().len(),
            b(line!()),
        );
        b(line!());
    }
    {
        let r = &M.lock().unwrap()[0];
        b(line!());
        let _ = r;
    }
    {
        let r = &*M.lock().unwrap();
        b(line!());
        let _ = r;
    }
    {
        let _r = &M.lock().unwrap();
        b(line!());
    }
    {
        let ref _r = M.lock().unwrap();
        b(line!());
    }
    {
        let g;
        g = M.lock().unwrap();
        b(line!());
        let _ = g.len();
    }
    {
        let Some(_v) = M.lock().unwrap().first().copied() else {
            b(line!());
            return;
        };
        b(line!());
    }
    {
        let Ok(g) = M.lock() else { return };
        b(line!());
        let _ = g.len();
    }
}
fn let_else() {
    let Some(_v) = M.lock().unwrap().get(99).copied() else {
        b(line!());
        return;
    };
}
fn calls() {
    two(
        M.lock().unwrap().len(),
        b(line!()),
    );
    two(
        b(line!()),
        M.lock().unwrap().len(),
    );
    M.lock().unwrap().push(
        b(line!()),
    );
    reset();
    *N.lock().unwrap() =
        b(line!());
    *N.lock().unwrap() +=
        b(line!());
    M.lock().unwrap()[0] =
        b(line!());
    *S.lock().unwrap() =
        text(line!());
    *S.lock().unwrap() +=
        &text(line!());
    let _a = [
        M.lock().unwrap().len(),
        b(line!()),
    ];
    let p = Pair {
        x: M.lock().unwrap().len(),
        y: b(line!()),
    };
    let _ = p.x + p.y;
    let _s = M.lock().unwrap().len()
        + b(line!());
    let _m = M.lock().unwrap().len().min(
        b(line!()),
    );
    let _m = b(line!())
        .max(M.lock().unwrap().len());
    let _v = vec![
        M.lock().unwrap().len(),
        b(line!()),
    ];
    let _f = format!(
        "{} {}",
        M.lock().unwrap().len(),
        b(line!()),
    );
    b(line!());
    println!(
        "x{}{}",
        M.lock().unwrap().len() * 0,
        b(line!()) * 0,
    );
    assert_eq!(
        M.lock().unwrap().len(),
        b(line!()),
    );
    helper().len();
    b(line!());
}
fn booleans() {
    let _a = M.lock().unwrap().len() == 1
        && yes(line!());
    let _a = M.lock().unwrap().len() > 9
        || yes(line!());
    let _a = (M.lock().unwrap().len() == 1)
        & yes(line!());
    let _a = M.lock().unwrap().len() == 1
        && M.lock().unwrap().len() == 1
        && yes(line!());
    if M.lock().unwrap().len() == 1 {
        b(line!());
    }
    if M.lock().unwrap().len() == 1
        && yes(line!())
    {
        b(line!());
    }
    let _x = if M.lock().unwrap().len() == 1 {
        b(line!())
    } else {
        0
    };
    let mut n = 0;
    while M.lock().unwrap().len() == 1 && n < 1 {
        b(line!());
        n += 1;
    }
    match () {
        _ if M.lock().unwrap().len() == 1 => {
            b(line!());
        }
        _ => {}
    }
    let _x = matches!(
        M.lock().unwrap().first(),
        Some(_) if yes(line!())
    );
}
fn matches_and_loops() {
    match M.lock().unwrap().len() {
        _ => {
            b(line!());
        }
    }
    b(line!());
    if let Some(_) = M.lock().unwrap().first() {
        b(line!());
    }
    b(line!());
    if let Some(5) = M.lock().unwrap().first() {
    } else {
        b(line!());
    }
    if let Some(_) = {
        let g = M.lock().unwrap();
        g.first().copied()
    } {
        b(line!());
    }
    match {
        let g = M.lock().unwrap();
        g.len()
    } {
        _ => {
            b(line!());
        }
    }
    match { M.lock().unwrap().len() } {
        _ => {
            b(line!());
        }
    }
    let mut n = 0;
    while let Some(_) = M.lock().unwrap().first() {
        b(line!());
        n += 1;
        if n == 1 {
            break;
        }
    }
    b(line!());
    for _x in M.lock().unwrap().iter() {
        b(line!());
    }
    for _x in M.lock().unwrap().clone() {
        b(line!());
    }
    b(line!());
    match M.lock() {
        Ok(g) => {
            b(line!());
            drop(g);
            b(line!());
        }
        Err(_) => {}
    }
    if let Ok(g) = M.lock() {
        drop(g);
        b(line!());
    }
    if let Ok(ref g) = M.lock() {
        let _ = g.len();
        b(line!());
    }
    if let Ok(g) = M.try_lock() {
        b(line!());
        let _ = g.len();
    }
    two(
        if let Some(x) = M.lock().unwrap().first().copied() { x } else { 0 },
        b(line!()),
    );
    two(
        match M.lock().unwrap().first().copied() {
            Some(x) => x,
            None => 0,
        },
        b(line!()),
    );
    two(
        if M.lock().unwrap().len() == 1 { 1 } else { 0 },
        b(line!()),
    );
    let _i = if let Some(x) = M.lock().unwrap().first().copied() { x } else { 0 };
    b(line!());
    loop {
        let _g = M.lock().unwrap();
        b(line!());
        break;
    }
    b(line!());
    'a: {
        let _g = M.lock().unwrap();
        if M.try_lock().is_err() {
            break 'a;
        }
    }
    b(line!());
    let _w = loop {
        break M.lock().unwrap().len();
    };
    b(line!());
}
fn blocks() {
    let _x = (
        { M.lock().unwrap().len() },
        b(line!()),
    );
    let _x = { M.lock().unwrap().len() };
    b(line!());
    let _x = unsafe { M.lock().unwrap().len() }
        + b(line!());
    let _x = {
        let g = M.lock().unwrap();
        g.len()
    };
    b(line!());
    let _x = {
        let r = M.lock().unwrap().len();
        r
    } + b(line!());
    if { M.lock().unwrap().len() == 1 } {
        b(line!());
    }
    let mut n = 0;
    while {
        let g = M.lock().unwrap();
        g.len() == 1 && n < 1
    } {
        b(line!());
        n += 1;
    }
}
fn main() {
    reset();
    lets();
    let_else();
    calls();
    reset();
    booleans();
    matches_and_loops();
    blocks();
    moves();
    closures();
    chains();
}
