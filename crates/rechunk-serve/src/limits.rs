use std::time::Duration;

/// Bounds on clients, so that no number of them and no slowness of theirs takes all memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most connections at once; further ones wait in the system's queue.
    pub connections: usize,
    /// Most bytes of the head of a request, its target and headers.
    pub head_bytes: usize,
    /// Time in which the head of a request has to come, also the first of a connection.
    pub head_time: Duration,
    /// Time in which a client has to take, or to send, some bytes of a body.
    pub stall_time: Duration,
    /// Time for requests that are under way when the server is told to stop.
    pub stop_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // Below the usual 1024 descriptors of a process: each may read a file.
            connections: 480,
            head_bytes: 64 << 10,
            head_time: Duration::from_secs(15),
            stall_time: Duration::from_secs(30),
            stop_time: Duration::from_secs(30),
        }
    }
}
