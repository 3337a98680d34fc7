//! `#[native]`: extern blocks and wrapper functions.

use super::check;
use crate::native::attribute;

fn case(name: &str, args: &str, item: &str) {
    check(attribute, &format!("native_{name}"), args, item);
}

#[test]
fn a_block_keeps_what_cannot_be_wrapped() {
    case(
        "block",
        "blocking",
        r#"
        #[link(name = "codec")]
        #[cfg(unix)]
        unsafe extern "C" {
            /// Decodes a picture.
            #[must_use]
            #[link_name = "codec_decode_v2"]
            pub fn decode(src: *const u8, len: usize, decode: c_int) -> c_int;
            #[vt_runtime::native(quick)]
            pub safe fn version() -> c_int;
            #[cfg_attr(windows, link_name = "codec_free_w")]
            #[cfg(feature = "free")]
            unsafe fn free(_: *mut u8);
            fn name<'a>(codec: &'a Codec) -> &'a c_char;
            fn SSL_new();
            fn log(format: *const c_char, ...);
            fn give_up() -> !;
            static CODEC_DEBUG: c_int;
            type Codec;
        }
        "#,
    );
}

#[test]
fn a_block_of_an_old_edition() {
    case("block_2021", "", "extern \"C\" { fn nap(ms: u32) -> i32; }");
    case(
        "block_without_abi",
        "computing",
        "extern { fn nap(ms: u32); }",
    );
}

#[test]
fn a_wrapper_function() {
    case(
        "function",
        "blocking",
        "/// Waits.\npub fn wait(&self, for_: &mut Event) -> io::Result<usize> { let n = self.raw(for_)?; return Ok(n); }",
    );
    case(
        "function_label",
        "label = \"sqlite: step\", crate = facade::vt",
        "fn step() { raw() }",
    );
    case(
        "function_impl_trait",
        "",
        "unsafe fn names<'a>(&'a self) -> impl Iterator<Item = u8> + 'a { self.all() }",
    );
}

#[test]
fn what_cannot_be_tracked_is_said() {
    case(
        "variadic_asked",
        "",
        "unsafe extern \"C\" { #[native(blocking)] fn log(format: *const u8, ...); }",
    );
    case("two_classes", "blocking, quick, slow", "fn f() {}");
    case(
        "label_on_block",
        "label = \"x\"",
        "extern \"C\" { fn f(); }",
    );
    case("const_fn", "", "const fn f() {}");
    case("async_fn", "", "async fn f() {}");
    case("callback", "", "extern \"C\" fn f() {}");
    case("never", "", "fn f() -> ! { die() }");
    case("struct", "", "struct S;");
}
