//! Numbers, conditions, options and guards, each in many forms.

use super::Maker;

impl Maker {
    /// A place at which the program says whether the lock is held: on a line of its own.
    fn probe(&mut self) -> String {
        if self.is_async && !self.in_closure && self.one_in(2) {
            "\nab(line!()).await\n".to_owned()
        } else {
            "\nb(line!())\n".to_owned()
        }
    }

    /// An expression of type `usize`, which is never 0.
    pub(super) fn number(&mut self, depth: usize) -> String {
        let leaf = depth == 0;
        match self.below(if leaf { 4 } else { 24 }) {
            0 => "1usize".to_owned(),
            1 => "M.read().unwrap().len()".to_owned(),
            2 | 3 => self.probe(),
            4 => self.block(depth, Self::number),
            5 => format!(
                "({}) + ({})",
                self.number(depth - 1),
                self.number(depth - 1)
            ),
            6 => format!(
                "two({}, {})",
                self.number(depth - 1),
                self.number(depth - 1)
            ),
            7 => format!(
                "({}).max({})",
                self.number(depth - 1),
                self.number(depth - 1)
            ),
            8 => format!(
                "[{}, {}].len()",
                self.number(depth - 1),
                self.number(depth - 1)
            ),
            9 => format!(
                "vec![{}, {}].len()",
                self.number(depth - 1),
                self.number(depth - 1)
            ),
            10 => {
                let (x, y) = (self.number(depth - 1), self.number(depth - 1));
                format!("(Pair {{ x: {x}, y: {y} }}).y")
            }
            11 => {
                let (x, y) = (self.number(depth - 1), self.number(depth - 1));
                format!("format!(\"{{}}{{}}\", {x}, {y}).len()")
            }
            12 => {
                let Some([bit]) = self.bits() else {
                    return self.number(0);
                };
                let condition = self.condition(bit, depth - 1);
                let [yes, no] = self.branches(|this, _| this.number(depth - 1));
                format!("if {condition} {{ {yes} }} else {{ {no} }}")
            }
            13 => {
                let Some([bit]) = self.bits() else {
                    return self.number(0);
                };
                let option = self.option(bit, depth - 1);
                let [yes, no] = self.branches(|this, _| this.number(depth - 1));
                format!("if let Some(_x) = {option} {{ {yes} }} else {{ {no} }}")
            }
            14 => {
                let Some([bit]) = self.bits() else {
                    return self.number(0);
                };
                let [one, other] = self.branches(|this, _| this.number(depth - 1));
                format!("match M.read().unwrap().len() + at({bit}) {{ 1 => {one}, _ => {other} }}")
            }
            15 => {
                let Some([first, second]) = self.bits() else {
                    return self.number(0);
                };
                let option = self.option(first, depth - 1);
                let guard = self.apart(false, |this| this.condition(second, depth - 1));
                let [some, other, none] = self.branches(|this, _| this.number(depth - 1));
                format!(
                    "match {option} {{ Some(_x) if {guard} => {some}, Some(_) => {other}, None => {none} }}"
                )
            }
            16 => {
                let value = self.number(depth - 1);
                let arm = self.scope(|this| this.number(depth - 1));
                format!("match {value} {{ _ => {arm} }}")
            }
            17 => self.apart(false, |this| {
                let before = this.statements(depth - 1);
                format!("loop {{ {before} break {}; }}", this.number(depth - 1))
            }),
            18 => {
                let Some([bit]) = self.bits() else {
                    return self.number(0);
                };
                let label = self.name("'l");
                self.apart(false, |this| {
                    let before = this.statements(depth - 1);
                    let (early, late) = (this.number(depth - 1), this.number(depth - 1));
                    format!(
                        "{label}: {{ {before} if bit({bit}) {{ break {label} {early}; }} {late} }}"
                    )
                })
            }
            19 => {
                let body = self.closure(|this| this.block(depth, Self::number));
                format!("(|| {body})()")
            }
            20 => {
                let Some([bit]) = self.bits() else {
                    return self.number(0);
                };
                let option = self.option(bit, depth - 1);
                let body = self.closure(|this| this.number(depth - 1));
                format!("({option}).map_or(1, |_x| {body})")
            }
            21 => format!("unsafe {{ {} }}", self.scope(|this| this.number(depth - 1))),
            22 => {
                let Some([bit]) = self.bits() else {
                    return self.number(0);
                };
                format!("usize::from({})", self.condition(bit, depth - 1))
            }
            _ => format!("*&({})", self.number(depth - 1)),
        }
    }

    /// An expression of type `bool` that this bit decides.
    pub(super) fn condition(&mut self, bit: u32, depth: usize) -> String {
        let bit = format!("bit({bit})");
        let leaf = depth == 0;
        match self.below(if leaf { 6 } else { 10 }) {
            0 | 1 => bit,
            2 => format!("\nyes(line!())\n && {bit}"),
            3 => format!("{bit} || !\nyes(line!())\n"),
            4 => format!("M.read().unwrap().len() == 1 && {bit}"),
            5 => format!("(M.read().unwrap().len() == 1) & {bit} & \nyes(line!())\n"),
            6 => {
                let value = self.number(depth - 1);
                format!("({value}) > 0 && {bit}")
            }
            7 => {
                let value = self.apart(false, |this| this.number(depth - 1));
                format!("{bit} && ({value}) > 0")
            }
            8 => {
                let before = self.scope(|this| this.statements(depth - 1));
                format!("({{ {before} {bit} }})")
            }
            _ => {
                let value = self.number(depth - 1);
                let guard = self.apart(false, |this| this.number(depth - 1));
                format!("matches!({value}, _x if ({guard}) > 0 && {bit})")
            }
        }
    }

    /// An expression of type `Option<usize>` that this bit decides.
    pub(super) fn option(&mut self, bit: u32, depth: usize) -> String {
        let first = format!("M.read().unwrap().get(at({bit})).copied()");
        let leaf = depth == 0;
        match self.below(if leaf { 4 } else { 9 }) {
            0 | 1 => first,
            2 => format!("bit({bit}).then_some(1usize)"),
            3 => format!("M.read().ok().and_then(|g| g.get(at({bit})).copied())"),
            4 => {
                let value = self.number(depth - 1);
                format!("Some({value}).filter(|_| bit({bit}))")
            }
            5 => {
                let value = self.closure(|this| this.number(depth - 1));
                format!("{first}.map(|x| x + ({value}))")
            }
            6 => {
                let value = self.closure(|this| this.number(depth - 1));
                format!("{first}.or_else(|| {{ let _ = {value}; None }})")
            }
            7 => {
                let before = self.scope(|this| this.statements(depth - 1));
                format!("({{ {before} {first} }})")
            }
            _ => {
                let [yes, _] = self.branches(|this, _| this.number(depth - 1));
                format!("(if bit({bit}) {{ Some({yes}) }} else {{ None }})")
            }
        }
    }

    /// An expression whose value is a guard.
    pub(super) fn guard(&mut self, depth: usize) -> String {
        let leaf = depth == 0;
        match self.below(if leaf { 5 } else { 10 }) {
            0 | 1 => "M.read().unwrap()".to_owned(),
            2 => "helper()".to_owned(),
            3 => "M.read().unwrap_or_else(|poisoned| poisoned.into_inner())".to_owned(),
            4 => "match M.read() { Ok(g) => g, Err(poisoned) => poisoned.into_inner() }".to_owned(),
            5 => {
                let before = self.scope(|this| this.statements(depth - 1));
                format!("{{ {before} let g = M.read().unwrap(); g }}")
            }
            6 => {
                let Some([bit]) = self.bits() else {
                    return self.guard(0);
                };
                let condition = self.condition(bit, depth - 1);
                let [yes, no] = self.branches(|this, _| this.guard(depth - 1));
                format!("if {condition} {{ {yes} }} else {{ {no} }}")
            }
            7 => self.apart(false, |this| {
                let before = this.statements(depth - 1);
                format!("loop {{ {before} break M.read().unwrap(); }}")
            }),
            8 => {
                let value = self.number(depth - 1);
                let arm = self.scope(|this| this.guard(depth - 1));
                format!("match {value} {{ _ => {arm} }}")
            }
            _ => format!("std::convert::identity({})", self.guard(depth - 1)),
        }
    }

    /// Statements and a value.
    fn block(&mut self, depth: usize, value: fn(&mut Self, usize) -> String) -> String {
        self.scope(|this| {
            let before = this.statements(depth - 1);
            format!("{{ {before} {} }}", value(this, depth - 1))
        })
    }
}
