//! Rules about what happens on carriers of virtual threads.

pub mod blocking_on_carrier;
pub mod heavy_thread_local;
pub mod native_undeclared;
pub mod park_in_thread_local_init;
pub mod pooled_virtual_threads;
pub mod scoped_tls_across_park;
pub mod unbounded_fanout;
