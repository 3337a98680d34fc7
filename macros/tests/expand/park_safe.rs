//! `#[park_safe]`: the shapes of items, the arguments, and what is refused.

use proc_macro2::TokenStream;

use super::check;
use crate::park_safe::{attribute, items};

fn case(name: &str, args: &str, item: &str) {
    check(attribute, &format!("park_safe_{name}"), args, item);
}

#[test]
fn a_struct_keeps_everything_but_the_types_of_its_locks() {
    case(
        "struct",
        "",
        r#"
        /// Sessions by id.
        #[derive(Debug, Default)]
        pub(crate) struct Sessions<T> where Mutex<T>: Send {
            /// All of them.
            live: Mutex<HashMap<u64, T>>,
            #[cfg(unix)]
            changed: std::sync::Condvar,
            shared: Arc<RwLock<Option<Vec<Mutex<T>>>>>,
            pub plain: u32,
            once: std::iter::Once<T>,
        }
        "#,
    );
}

#[test]
fn an_enum_and_its_payloads() {
    case(
        "enum",
        "",
        "enum Slot<T> { Empty, Mutex, Full(Mutex<T>), Ready { cell: OnceLock<T>, gate: Barrier } }",
    );
}

#[test]
fn an_impl_with_constructors_guards_and_closures() {
    case(
        "impl",
        "",
        r#"
        impl<T: Default> Sessions<T> {
            const EMPTY: Mutex<u32> = Mutex::new(0);
            pub fn new() -> Sessions<T> {
                Sessions { live: Mutex::new(HashMap::new()), changed: Condvar::default(), shared: Default::default() }
            }
            fn guard(&self) -> LockResult<MutexGuard<'_, HashMap<u64, T>>> {
                self.live.lock()
            }
            fn many(&self) -> Vec<Arc<Mutex<T>>> {
                (0..3).map(|_| T::default()).map(Mutex::new).map(Arc::new).collect()
            }
            fn by_path(&self) -> usize {
                let mut live = Mutex::lock(&self.live).unwrap();
                live = std::sync::Condvar::wait(&self.changed, live).unwrap();
                live.len()
            }
        }
        "#,
    );
}

#[test]
fn a_function_with_locals_nested_items_and_async_code() {
    case(
        "fn",
        "",
        r#"
        async fn run() -> usize {
            use std::sync::Mutex as Lock;
            static TURNS: Lock<usize> = Lock::new(0);
            type Shared = std::sync::Arc<Lock<usize>>;
            let shared: Shared = Shared::new(Lock::new(1));
            let lazy = std::sync::LazyLock::new(|| 4);
            let typed = Lock::<u8>::new(1);
            async move { *shared.lock().unwrap() + *lazy }.await
        }
        "#,
    );
}

#[test]
fn a_static_and_a_constant() {
    case("static", "", "pub(crate) static ONCE: Once = Once::new();");
    case(
        "const",
        "",
        "const EMPTY: &Mutex<Vec<u8>> = &Mutex::new(Vec::new());",
    );
}

#[test]
fn a_type_alias_and_a_trait() {
    case(
        "type",
        "",
        "pub(crate) type Slot<T> = Arc<Mutex<Option<T>>>;",
    );
    case(
        "trait",
        "",
        "trait Store { type Guard<'a> where Self: 'a; fn cell(&self) -> &Mutex<u8>; fn fresh() -> Mutex<u8> { Mutex::new(0) } }",
    );
}

#[test]
fn a_module_keeps_its_imports() {
    case(
        "mod",
        "",
        r#"
        mod sessions {
            use std::collections::HashMap;
            use std::sync::{Condvar, Mutex as Lock, RwLock};
            pub struct Sessions { live: Lock<HashMap<u64, String>>, changed: Condvar, motd: RwLock<String> }
            impl Sessions {
                pub fn new() -> Sessions {
                    Sessions { live: Lock::new(HashMap::new()), changed: Condvar::new(), motd: RwLock::new(String::new()) }
                }
            }
            mod inner { pub(super) static COUNT: std::sync::Mutex<u32> = std::sync::Mutex::new(0); }
        }
        "#,
    );
}

#[test]
fn a_method_on_its_own() {
    case(
        "method",
        "",
        "pub(crate) fn fresh(&self) -> Mutex<u8> { Mutex::new(self.seed) }",
    );
    case("trait_method", "", "fn cell(&self) -> &Mutex<u8>;");
}

#[test]
fn macros_that_hold_expressions_statics_or_statements() {
    case(
        "macros",
        "",
        r#"
        fn made() {
            let many = vec![Mutex::new(0), Mutex::new(1)];
            let same = vec![Arc::new(Mutex::new(0)); 3];
            println!("{:?} {}", Mutex::new(3), size = std::mem::size_of::<Mutex<u8>>());
            assert!(matches!(kind, Kind::Mutex(_) if true), "{}", Mutex::new(1).lock().unwrap());
            thread_local! { static HERE: Mutex<u8> = const { Mutex::new(1) }; pub(crate) static THERE: OnceLock<u8> = OnceLock::new() }
            lazy_static! { static ref LATE: Mutex<Vec<u8>> = Mutex::new(Vec::new()); }
            block! { let one = Mutex::new(1); drop(one); }
        }
        "#,
    );
}

#[test]
fn parking_lot_paths_functions_and_inferred_arguments() {
    case(
        "parking_lot",
        "",
        r#"
        fn narrowed(m: &parking_lot::Mutex<(u8, u8)>) -> parking_lot::MappedMutexGuard<'_, u8> {
            let guard = m.lock();
            parking_lot::MutexGuard::map(guard, |pair| &mut pair.0)
        }
        "#,
    );
}

#[test]
fn another_runtime_path() {
    case(
        "crate_path",
        "crate = facade::vt",
        "struct S { m: Mutex<u8> }",
    );
}

#[test]
fn a_monitor_only_with_consent() {
    case(
        "monitor",
        "monitor = \"reentrant\"",
        "struct S { m: Monitor<u8>, n: Mutex<u8> }",
    );
    case(
        "monitor_stays",
        "",
        "struct S { m: Monitor<u8>, n: Mutex<u8> }",
    );
    case("monitor_unasked", "", "struct S { m: Monitor<u8> }");
    case(
        "monitor_beside_unsafe",
        "monitor = \"reentrant\"",
        "fn f() { let m = Monitor::new(1); unsafe { g() }; libc::getpid(); native::call(\"x\", || 1); }",
    );
}

#[test]
fn only_and_skip_choose() {
    case(
        "only",
        "only(sync::Mutex)",
        "struct S { a: sync::Mutex<u8>, b: pl::Mutex<u8>, c: Condvar }",
    );
    case(
        "only_renamed",
        "only(Lock = Mutex)",
        "fn f() { let a = Lock::new(1); let b = Mutex::new(1); }",
    );
    case(
        "skip",
        "skip(raw, Condvar, kept, helper)",
        r#"
        mod m {
            struct S { raw: Mutex<u8>, swapped: Mutex<u8>, c: Condvar }
            fn helper() -> Mutex<u8> { Mutex::new(1) }
            fn f() -> S {
                let kept = Mutex::new(1);
                let other: Mutex<u8> = Mutex::new(1);
                S { raw: Mutex::new(1), swapped: Mutex::new(2), c: Condvar::new() }
            }
        }
        "#,
    );
}

#[test]
fn check_changes_nothing() {
    case("check", "check", "struct S { a: Mutex<u8>, b: u8 }");
    case("check_clean", "check", "struct S { b: u8 }");
}

#[test]
fn public_signatures_need_consent() {
    let item = r#"
        mod api {
            pub struct Open { pub cell: Mutex<u8>, inner: Mutex<u8> }
            pub enum Kind { One(Mutex<u8>) }
            pub(crate) struct Narrow { pub cell: Mutex<u8> }
            pub static S: Mutex<u8> = Mutex::new(1);
            pub fn f(m: &Mutex<u8>) -> u8 { let own = Mutex::new(1); 1 }
            impl Open { pub fn cell(&self) -> &Mutex<u8> { &self.cell } fn own(&self) -> &Mutex<u8> { &self.inner } }
            pub trait T { fn f(&self) -> Mutex<u8>; }
            pub type A = Mutex<u8>;
        }
    "#;
    case("public_refused", "", item);
    case("public_accepted", "public", item);
}

#[test]
fn what_cannot_be_swapped_is_said() {
    case("nothing_to_swap", "", "struct S { a: Lock<u8> }");
    case(
        "impl_for_own_type",
        "",
        "mod m { struct Mutex<T>(T); impl<T> Mutex<T> { fn f(&self) {} } }",
    );
    case(
        "strangers",
        "",
        r#"
        mod m {
            use tokio::sync::{Mutex as Lock, RwLock};
            struct Once;
            struct Mixed { a: RwLock<u8>, b: RwLock<u16>, c: Lock<u8>, d: Once, e: Condvar, f: std::sync::RwLock<u8> }
            fn mixed() -> Mixed { Mixed { a: RwLock::new(1), b: RwLock::new(2), ..other() } }
            mod inner { fn other(one: &RwLock<u8>) {} }
        }
        "#,
    );
    case(
        "strangers_checked",
        "check",
        "mod m { use tokio::sync::Mutex; struct S(Mutex<u8>, std::sync::Mutex<u8>); }",
    );
    case(
        "impl_for_generic_lock",
        "",
        "mod m { impl<T> Extension for Mutex<T> {} impl Extension for Condvar {} }",
    );
    case(
        "opaque_macro",
        "",
        "fn f() { strange! { on Mutex<u8> => stay; } }",
    );
    case(
        "macro_definition",
        "",
        "mod m { macro_rules! cell { () => { Mutex::new(1) } } }",
    );
    case("import", "", "use std::sync::Mutex;");
    case("foreign_block", "", "extern \"C\" { fn f(); }");
}

#[test]
fn wrong_arguments_leave_the_item() {
    case(
        "wrong_arguments",
        "monitor = \"fair\", only(Mutx), skip(absent), public = 1, colour, check = no, public",
        "struct S { m: Mutex<u8> }",
    );
    case("not_arguments", "only Mutex", "struct S { m: Mutex<u8> }");
}

#[test]
fn twice_is_once() {
    let once = attribute(
        TokenStream::new(),
        "struct S { m: Mutex<u8> }".parse().expect("tokens"),
    );
    let twice = attribute(TokenStream::new(), once.clone());
    assert_eq!(once.to_string(), twice.to_string());
}

#[test]
fn what_names_no_lock_comes_back_as_it_was() {
    case(
        "untouched",
        "skip(kept)",
        r#"
        mod whole {
            //! Documentation of the module.
            use std::sync::Mutex as Lock;
            const TABLE: Table<fn()> = Table { first: f };
            struct Plain { a: u8 }
            impl Plain {
                const fn one(&self) -> u8 { #![expect(unused)] let s = Plain { a: 1 }; if s.a > 0 { 1 } else { 2 } }
                fn sized(&self) -> Sized<{ N + 1 }> { loop {} }
            }
            trait Empty { fn nothing() {} }
            impl Empty for Plain { fn nothing() { match 1 { _ => {} } } }
            unsafe impl Send for Plain {}
            impl Mixed {
                fn new() -> Self { Mixed { lock: Lock::new(1) } }
                fn other(&self) -> u8 { 3 }
                fn kept(&self) -> u8 { 4 }
            }
            mod inner { fn deep() -> u8 { 5 } fn lock() { super::Lock::new(2); } }
            thread_local! { static HERE: u8 = 1; }
        }
        "#,
    );
}

#[test]
fn around_several_items() {
    let whole = "#![park_safe(skip(raw))] use std::sync::Mutex; struct S { raw: Mutex<u8>, m: Mutex<u8> } static T: Mutex<u8> = Mutex::new(1);";
    check(|_, input| items(input), "park_safe_items", "", whole);
}
