//! What runs more than once, what runs to initialise a cell, and which values could let go of their guards.

use crate::model::syntax::{At, Closure, Expr, Kind, Method};
use crate::model::ty::Ty;

use crate::flow::Flow;
use crate::flow::body::{Context, Detachable};
use crate::flow::value::Value;

/// Methods whose closures initialise a cell or a map's entry.
const INITIALIZING: [&str; 6] = [
    "get_or_init",
    "get_or_try_init",
    "or_insert_with",
    "or_insert_with_key",
    "call_once",
    "call_once_force",
];

/// Described types that own what they hold. Others may borrow, since descriptions leave lifetimes out.
const OWNING: [&str; 28] = [
    "Option",
    "Result",
    "Box",
    "Arc",
    "Rc",
    "Vec",
    "VecDeque",
    "HashMap",
    "HashSet",
    "BTreeMap",
    "BTreeSet",
    "BinaryHeap",
    "String",
    "PathBuf",
    "OsString",
    "Duration",
    "Instant",
    "SystemTime",
    "SocketAddr",
    "JoinHandle",
    "Child",
    "File",
    "TcpStream",
    "UnixStream",
    "Sender",
    "SyncSender",
    "Receiver",
    "Range",
];

impl Context {
    /// The same inside a loop.
    pub(in crate::flow) fn repeated(self, is_counted: bool) -> Self {
        let counted = if is_counted { Self::COUNTED } else { 0 };
        Self(self.0 & !Self::COUNTED | Self::LOOP | counted)
    }
}

/// Whether what is iterated has as many items as the source says: a range, or a list written in place.
pub(in crate::flow) fn is_counted(iterable: &Expr) -> bool {
    match &iterable.kind {
        Kind::Range(ends) => ends.len() == 2,
        Kind::Array(_) | Kind::Repeat(_) => true,
        Kind::Reference(inner) => is_counted(inner),
        Kind::Method(method) => is_counted(&method.receiver),
        _ => false,
    }
}

impl<'a> Flow<'_, 'a> {
    /// Notes how the closures among a method's arguments run.
    pub(in crate::flow) fn note_repeats(&mut self, receiver: &Ty, method: &'a Method) {
        let is_range = is_counted(&method.receiver);
        let bits = if INITIALIZING.contains(&method.name.as_str()) {
            Context::INITIALIZER
        } else if is_range || self.model.is_iterator(receiver) && !self.is_option(receiver) {
            Context::default().repeated(is_range).0
        } else {
            return;
        };
        for arg in &method.args {
            if let Kind::Closure(closure) = &arg.kind {
                self.repeats.insert(closure.body.id, bits);
            }
        }
    }

    fn is_option(&self, ty: &Ty) -> bool {
        matches!(ty.peeled(), Ty::Data(id, _) if self.model.is_wrapper(*id))
    }

    /// Sets what running a closure declares.
    pub(in crate::flow) fn repeated(&mut self, closure: &Closure) {
        if let Some(bits) = self.repeats.get(&closure.body.id) {
            if bits & Context::LOOP != 0 {
                self.context.0 &= !Context::COUNTED;
            }
            self.context.0 |= bits;
        }
    }

    /// What a `match`, `if let`, `while let` or `for` looks at.
    pub(in crate::flow) fn scrutinee(
        &mut self,
        expr: &'a Expr,
        whole: At,
        is_first: bool,
    ) -> Value<'a> {
        let before = self.state.live();
        let value = self.place_of(expr, false);
        let own = value.held
            | value.via
            | self.state.of(expr.id)
            | value.slot.map_or(0, |slot| self.state.of(slot));
        let guards = self.state.live() & !before & !own;
        if guards != 0 && value.lazy.is_empty() && self.owns(&value.ty, 0) {
            let known = &mut self.bodies[self.current].detachable;
            match known.iter_mut().find(|known| known.value == expr.at) {
                Some(known) => known.guards |= guards,
                None => known.push(Detachable {
                    guards,
                    value: expr.at,
                    whole,
                    is_first,
                }),
            }
        }
        value
    }

    /// Whether a value of this type certainly borrows nothing from a guard.
    fn owns(&self, ty: &Ty, depth: u32) -> bool {
        let all = |types: &[Ty]| types.iter().all(|ty| self.owns(ty, depth + 1));
        match ty {
            // A type parameter was named before there was a guard to borrow from.
            Ty::Plain(_) | Ty::Param(_) => true,
            Ty::Tuple(parts) => all(parts),
            Ty::Slice(inner) => self.owns(inner, depth + 1),
            Ty::Data(id, args) if self.model.is_described_data(*id) => {
                let name = self.model.index.data[id.index()].syntax.name;
                OWNING.contains(&name.as_str()) && all(args)
            }
            Ty::Data(id, args) if depth < 6 => {
                let fields = self.model.fields[id.index()].iter();
                let of_variants = self.model.variants[id.index()]
                    .iter()
                    .flat_map(|(_, fields)| fields);
                all(args)
                    && fields
                        .chain(of_variants)
                        .all(|(_, ty)| self.owns(ty, depth + 1))
            }
            _ => false,
        }
    }
}
