//! Memory that the plan has reserved, and the lanes, threads and buffers it is divided among.

pub(crate) mod gate;
pub(crate) mod lane;
pub(crate) mod pool;
pub(crate) mod workers;
