//! Statements: bindings, branches, loops, and what happens to variables that hold guards.

use super::{Kind, Maker};

impl Maker {
    /// Some statements, with a probe after them.
    pub(super) fn statements(&mut self, depth: usize) -> String {
        let mut text = String::new();
        for _ in 0..=self.below(3) {
            text.push_str(&self.statement(depth));
            text.push('\n');
        }
        text.push_str("\nb(line!());\n");
        text
    }

    fn statement(&mut self, depth: usize) -> String {
        if self.one_in(2)
            && let Some(text) = self.change(depth)
        {
            return text;
        }
        if depth == 0 || self.one_in(4) {
            return self.binding(depth);
        }
        self.control(depth - 1)
    }

    fn binding(&mut self, depth: usize) -> String {
        let inner = depth.saturating_sub(1);
        match self.below(14) {
            0..=2 => {
                let guard = self.guard(inner);
                format!("let mut {} = {guard};", self.variable(Kind::Guard))
            }
            3 => {
                let guard = self.guard(inner);
                format!("let mut {} = Some({guard});", self.variable(Kind::Option))
            }
            4 => {
                let guard = self.guard(inner);
                let number = self.number(inner);
                let name = self.variable(Kind::Holder);
                format!("let {name} = Holder {{ g: {guard}, n: {number} }};")
            }
            5 => {
                let guard = self.guard(inner);
                let number = self.number(inner);
                let name = self.variable(Kind::Guard);
                format!("let (mut {name}, _n) = ({guard}, {number});")
            }
            6 => format!("let _ = {};", self.guard(inner)),
            7 => format!(
                "let (_, _n) = ({}, {});",
                self.guard(inner),
                self.number(inner)
            ),
            8 => "let _r = &M.read().unwrap()[0];".to_owned(),
            9 => "let _r = &*M.read().unwrap();".to_owned(),
            10 => "let ref _r = M.read().unwrap();".to_owned(),
            11 => {
                let Some([bit]) = self.bits() else {
                    return self.binding(0);
                };
                let guard = self.closure(|this| this.guard(inner));
                let name = self.variable(Kind::Option);
                format!("let mut {name} = bit({bit}).then(|| {guard});")
            }
            12 => format!("let _n = {};", self.number(inner)),
            _ => format!("let _n = ({}, {});", self.number(inner), self.number(inner)),
        }
    }

    /// Something that happens to a variable.
    fn change(&mut self, depth: usize) -> Option<String> {
        let inner = depth.saturating_sub(1);
        match self.below(3) {
            0 => {
                let index = self.movable(Kind::Option)?;
                Some(self.change_option(index, inner))
            }
            1 => {
                let holder = self.movable(Kind::Holder);
                let index = match holder {
                    Some(index) => index,
                    None => self.movable(Kind::Other)?,
                };
                let name = self.moved(index);
                if holder.is_none() || self.one_in(3) {
                    return Some(format!("drop({name});"));
                }
                Some(match self.below(3) {
                    0 => format!("drop({name}.g);"),
                    1 => format!("let mut {} = {name}.g;", self.variable(Kind::Guard)),
                    _ => {
                        let guard = self.variable(Kind::Guard);
                        format!("let Holder {{ g: mut {guard}, .. }} = {name};")
                    }
                })
            }
            _ => {
                let index = self.movable(Kind::Guard)?;
                Some(self.change_guard(index, inner))
            }
        }
    }

    fn change_guard(&mut self, index: usize, inner: usize) -> String {
        let kept = self.variables[index].name.clone();
        match self.below(16) {
            0 | 1 => format!("drop({});", self.moved(index)),
            2 => format!("std::mem::drop({});", self.moved(index)),
            3 => format!("take({});", self.moved(index)),
            4 => {
                let from = self.moved(index);
                format!("let mut {} = {from};", self.variable(Kind::Guard))
            }
            5 => format!("let _ = {kept};"),
            6 => format!("_ = {kept};"),
            7 => {
                let from = self.moved(index);
                format!("let mut {} = Some({from});", self.variable(Kind::Option))
            }
            8 => {
                let from = self.moved(index);
                format!(
                    "let {} = Holder {{ g: {from}, n: 1 }};",
                    self.variable(Kind::Holder)
                )
            }
            9 => {
                let from = self.moved(index);
                format!("let {} = Box::new({from});", self.variable(Kind::Other))
            }
            10 => {
                let from = self.moved(index);
                format!("let {} = vec![{from}];", self.variable(Kind::Other))
            }
            11 => {
                let from = self.moved(index);
                format!("let {} = move || {from}.len();", self.variable(Kind::Other))
            }
            12 => {
                // The guard lives on without a name.
                self.variables[index].is_whole = false;
                format!("let {kept} = {kept}.len();")
            }
            13 => {
                let guard = self.apart(false, |this| this.guard(inner));
                format!("{kept} = {guard};")
            }
            14 => {
                let from = self.moved(index);
                let between = self.apart(false, |this| this.statements(inner));
                self.variables[index].is_whole = true;
                format!("drop({from}); {between} {kept} = M.read().unwrap();")
            }
            _ => {
                let old = self.variable(Kind::Guard);
                format!("let mut {old} = std::mem::replace(&mut {kept}, M.read().unwrap());")
            }
        }
    }

    fn change_option(&mut self, index: usize, inner: usize) -> String {
        let name = self.variables[index].name.clone();
        match self.below(7) {
            0 => format!("drop({});", self.moved(index)),
            1 => format!("{name}.take();"),
            2 => format!("{name} = None;"),
            3 => format!("drop({name}.take());"),
            4 => {
                let guard = self.apart(false, |this| this.guard(inner));
                format!("{name} = Some({guard});")
            }
            5 => {
                let body = self.apart(false, |this| {
                    let guard = this.variable(Kind::Guard);
                    format!(
                        "Some(mut {guard}) = {name}.take() {{ {} }}",
                        this.statements(inner)
                    )
                });
                format!("if let {body}")
            }
            _ => {
                let from = self.moved(index);
                let body = self.apart(false, |this| {
                    let guard = this.variable(Kind::Guard);
                    format!("Some(mut {guard}) => {{ {} }}", this.statements(inner))
                });
                format!("match {from} {{ {body} None => {{}} }}")
            }
        }
    }

    fn control(&mut self, depth: usize) -> String {
        match self.below(14) {
            0 => {
                let Some([bit]) = self.bits() else {
                    return self.binding(depth);
                };
                let condition = self.condition(bit, depth);
                let [yes, no] = self.branches(|this, _| this.statements(depth));
                format!("if {condition} {{ {yes} }} else {{ {no} }}")
            }
            1 => {
                let Some([bit]) = self.bits() else {
                    return self.binding(depth);
                };
                let condition = self.condition(bit, depth);
                let [yes, _] = self.branches(|this, number| match number {
                    0 => this.statements(depth),
                    _ => String::new(),
                });
                format!("if {condition} {{ {yes} }}")
            }
            2 => {
                let Some([bit]) = self.bits() else {
                    return self.binding(depth);
                };
                let option = self.option(bit, depth);
                let [yes, no] = self.branches(|this, _| this.statements(depth));
                format!("if let Some(_x) = {option} {{ {yes} }} else {{ {no} }}")
            }
            3 if self.chains => {
                let Some([a, b, c]) = self.bits() else {
                    return self.binding(depth);
                };
                let first = self.option(a, depth);
                let condition = self.apart(false, |this| this.condition(b, depth));
                let second = self.apart(false, |this| this.option(c, depth));
                let [yes, no] = self.branches(|this, _| this.statements(depth));
                format!(
                    "if let Some(_x) = {first} && ({condition}) && let Some(_y) = {second} {{ {yes} }} else {{ {no} }}"
                )
            }
            4 => {
                let Some([first, second]) = self.bits() else {
                    return self.binding(depth);
                };
                let option = self.option(first, depth);
                let guard = self.apart(false, |this| this.condition(second, depth));
                let [some, other, none] = self.branches(|this, _| this.statements(depth));
                format!(
                    "match {option} {{ Some(_x) if {guard} => {{ {some} }} Some(_) => {{ {other} }} None => {{ {none} }} }}"
                )
            }
            5 => self.branches::<1>(|this, _| {
                let guard = this.variable(Kind::Guard);
                let body = this.statements(depth);
                format!(
                    "match M.read() {{ Ok(mut {guard}) => {{ {body} }} Err(_) => unreachable!() }}"
                )
            })[0]
                .clone(),
            6 => self.apart(false, |this| {
                let guard = this.variable(Kind::Guard);
                format!(
                    "if let Ok(mut {guard}) = M.read() {{ {} }}",
                    this.statements(depth)
                )
            }),
            7 if !self.in_closure => {
                let Some([bit]) = self.bits() else {
                    return self.binding(depth);
                };
                let option = self.option(bit, depth);
                let before = self.whole();
                let other = self.scope(|this| this.statements(depth));
                self.set_whole(&before);
                format!("let Some(_x) = {option} else {{ {other} return; }};")
            }
            8 if !self.in_closure => {
                let Some([bit]) = self.bits() else {
                    return self.binding(depth);
                };
                let condition = self.condition(bit, depth);
                let before = self.whole();
                let body = self.scope(|this| this.statements(depth));
                self.set_whole(&before);
                format!("if {condition} {{ {body} return; }}")
            }
            9 => {
                let Some([bit]) = self.bits() else {
                    return self.binding(depth);
                };
                let body = self.apart(true, |this| this.statements(depth));
                format!("for _ in 0..turns({bit}) {{ {body} }}")
            }
            10 => {
                let body = self.apart(true, |this| this.statements(depth));
                format!("for _x in M.read().unwrap().iter() {{ {body} }}")
            }
            11 => {
                let Some([bit]) = self.bits() else {
                    return self.binding(depth);
                };
                let option = self.apart(false, |this| this.option(bit, depth));
                let body = self.apart(false, |this| this.statements(depth));
                format!("while let Some(_x) = {option} {{ {body} break; }}")
            }
            12 if self.in_loop => {
                let Some([bit]) = self.bits() else {
                    return self.binding(depth);
                };
                let body = self.apart(true, |this| this.statements(depth));
                let end = ["break", "continue"][self.below(2)];
                format!("if bit({bit}) {{ {body} {end}; }}")
            }
            _ => {
                let Some([bit]) = self.bits() else {
                    return self.binding(depth);
                };
                let label = self.name("'l");
                self.apart(false, |this| {
                    let (before, after) = (this.statements(depth), this.statements(depth));
                    format!("{label}: {{ {before} if bit({bit}) {{ break {label}; }} {after} }}")
                })
            }
        }
    }
}
