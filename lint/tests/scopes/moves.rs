//! The second part: moves and closures.

fn moves() {
    {
        let g = M.lock().unwrap();
        drop(g);
        b(line!());
    }
    {
        let g = M.lock().unwrap();
        take(g);
        b(line!());
    }
    {
        let g = M.lock().unwrap();
        let _ = g;
        b(line!());
    }
    {
        let g = M.lock().unwrap();
        let g = g.len();
        b(line!());
        let _ = g;
    }
    {
        let g = M.lock().unwrap();
        let h = g;
        b(line!());
        drop(h);
        b(line!());
    }
    {
        let mut g = M.lock().unwrap();
        g = {
            drop(g);
            b(line!());
            M.lock().unwrap()
        };
        b(line!());
        g.len();
    }
    {
        let mut g = Some(M.lock().unwrap());
        b(line!());
        g.take();
        b(line!());
        g = Some(M.lock().unwrap());
        b(line!());
        g = None;
        b(line!());
        let _ = g.is_none();
    }
    {
        let h = holder();
        b(line!());
        let _ = h.g.len();
        drop(h);
        b(line!());
    }
    {
        let g = M.lock().unwrap();
        let v = vec![g];
        b(line!());
        drop(v);
        b(line!());
    }
    {
        let g = M.lock().unwrap();
        {
            let h = g;
            let _ = h.len();
            b(line!());
        }
        b(line!());
    }
    {
        let g = M.lock().unwrap();
        let f = move || g.len();
        b(line!());
        f();
        drop(f);
        b(line!());
    }
    {
        drop(M.lock());
        b(line!());
    }
    {
        let g = M.lock();
        b(line!());
        let _ = g.is_ok();
    }
    {
        let g = M.lock().ok();
        b(line!());
        let _ = g.is_some();
    }
    {
        let g = M.lock().is_ok();
        b(line!());
        let _ = g;
    }
    {
        let g = M.lock().map(|g| g.len());
        b(line!());
        let _ = g.is_ok();
    }
    {
        let g = M.lock().unwrap_or_else(|e| e.into_inner());
        b(line!());
        let _ = g.len();
    }
}
fn closures() {
    {
        let f = || {
            b(0);
        };
        let _g = M.lock().unwrap();
        f(); let _ = line!();
    }
    {
        let _g = M.lock().unwrap();
        Some(1).map(|_| {
            b(line!())
        });
    }
    let _o = M.lock().unwrap().iter().map(|_| {
        b(line!())
    }).next();
    let lazy = M.lock().unwrap().clone().into_iter().map(|_| {
        b(line!())
    });
    for _ in lazy {}
    let _v: Vec<usize> = M.lock().unwrap().iter().map(|x| {
        b(line!());
        *x
    }).collect();
    b(line!());
    let _t = [0; 1].map(|_| M.lock().unwrap().len());
    b(line!());
    let _g = (0..1).map(|_| M.lock().unwrap().len()).inspect(|_| {
        b(line!());
    }).sum::<usize>();
    let _r = (|| {
        let l = M.lock().unwrap().len();
        l + b(line!())
    })();
    let _x = (|| {
        let _g = M.lock().unwrap();
    })();
    b(line!());
}
