//! The `select!` macro: arms to calls of [`Select`](super::Select).
//!
//! Each arm's channel is evaluated once, in order; the message of a sending arm only if that arm was chosen.

/// Does the first of several channel operations that is possible, then what stands behind its arrow.
///
/// ```text
///   recv(RECEIVER) -> PATTERN => EXPRESSION,         PATTERN binds a Result<T, RecvError>
///   send(SENDER, MESSAGE) -> PATTERN => EXPRESSION,  a Result<(), SendError<T>>; MESSAGE is evaluated if chosen
///   default => EXPRESSION,                           if none is possible now
///   default(TIMEOUT) => EXPRESSION,                  if none is within that Duration
/// ```
///
/// At most one `default`, as the last arm. All expressions have one type, which is that of the whole. See
/// [`Select`](crate::sync::channel::Select) for what is chosen.
///
/// # Pinning
///
/// Unmounts while it waits, unless the thread is pinned. With `default` without a time-out it never waits.
///
/// ```
/// use vt_runtime::sync::channel::{bounded, select};
///
/// let (full, _kept) = bounded(1);
/// full.send(1).unwrap();
/// let (open, received) = bounded(1);
/// let sent = select! {
///     send(full, 2) -> _ => "full",
///     send(open, 3) -> result => { result.unwrap(); "open" }
///     default => "none",
/// };
/// assert_eq!((sent, received.recv()), ("open", Ok(3)));
/// ```
#[macro_export]
macro_rules! __select {
    // All arms are known: choose, and run what belongs to it.
    (@arms $select:ident ($($arm:tt)+)) => {{
        let chosen = $select.select();
        let index = chosen.index();
        $crate::__select!(@run chosen index $($arm)+)
    }};
    (@arms $select:ident ($($arm:tt)+) default => $body:expr $(,)?) => {
        match $select.try_select() {
            ::core::result::Result::Ok(chosen) => {
                let index = chosen.index();
                $crate::__select!(@run chosen index $($arm)+)
            }
            ::core::result::Result::Err(_) => $body,
        }
    };
    (@arms $select:ident ($($arm:tt)+) default($timeout:expr) => $body:expr $(,)?) => {
        match $select.select_timeout($timeout) {
            ::core::result::Result::Ok(chosen) => {
                let index = chosen.index();
                $crate::__select!(@run chosen index $($arm)+)
            }
            ::core::result::Result::Err(_) => $body,
        }
    };
    (@arms $select:ident ($($arm:tt)*)
        recv($receiver:expr) -> $result:pat => $body:block $(,)? $($rest:tt)*) => {
        $crate::__select!(@recv $select ($($arm)*) ($receiver) ($result) ($body) $($rest)*)
    };
    (@arms $select:ident ($($arm:tt)*)
        recv($receiver:expr) -> $result:pat => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select!(@recv $select ($($arm)*) ($receiver) ($result) ($body) $($($rest)*)?)
    };
    (@arms $select:ident ($($arm:tt)*)
        send($sender:expr, $message:expr) -> $result:pat => $body:block $(,)? $($rest:tt)*) => {
        $crate::__select!(@send $select ($($arm)*) ($sender, $message) ($result) ($body) $($rest)*)
    };
    (@arms $select:ident ($($arm:tt)*)
        send($sender:expr, $message:expr) -> $result:pat => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select!(@send $select ($($arm)*) ($sender, $message) ($result) ($body) $($($rest)*)?)
    };
    (@recv $select:ident ($($arm:tt)*) ($receiver:expr) ($result:pat) ($body:expr) $($rest:tt)*) => {{
        let half = &$receiver;
        let index = $select.recv(half);
        $crate::__select!(@arms $select ($($arm)* (recv index half ($result) ($body))) $($rest)*)
    }};
    (@send $select:ident ($($arm:tt)*) ($sender:expr, $message:expr) ($result:pat) ($body:expr) $($rest:tt)*) => {{
        let half = &$sender;
        let index = $select.send(half);
        $crate::__select!(@arms $select ($($arm)* (send index half ($result) ($body) ($message))) $($rest)*)
    }};
    (@run $chosen:ident $index:ident) => {
        ::core::unreachable!("an operation was chosen that is none of the arms")
    };
    (@run $chosen:ident $index:ident
        (recv $arm:ident $half:ident ($result:pat) ($body:expr)) $($rest:tt)*) => {
        if $index == $arm {
            let $result = $chosen.recv($half);
            $body
        } else {
            $crate::__select!(@run $chosen $index $($rest)*)
        }
    };
    (@run $chosen:ident $index:ident
        (send $arm:ident $half:ident ($result:pat) ($body:expr) ($message:expr)) $($rest:tt)*) => {
        if $index == $arm {
            let $result = $chosen.send($half, $message);
            $body
        } else {
            $crate::__select!(@run $chosen $index $($rest)*)
        }
    };
    ($($arms:tt)+) => {{
        let mut select = $crate::sync::channel::Select::new();
        $crate::__select!(@arms select () $($arms)+)
    }};
}
