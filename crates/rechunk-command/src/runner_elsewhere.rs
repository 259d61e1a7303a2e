//! The runner where there are no process groups: it refuses.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::error::CommandError;
use crate::spec::CommandSpec;
use crate::task::{Answer, Task};

/// Runs a command on tasks. On this platform there is none.
#[derive(Debug)]
pub struct Runner(());

impl Runner {
    /// Refuses.
    pub fn new(
        spec: CommandSpec,
        scratch: PathBuf,
        cancel: Arc<AtomicBool>,
    ) -> Result<Self, CommandError> {
        let _ = (spec, scratch, cancel);
        Err(CommandError::Platform)
    }

    /// Refuses.
    pub fn run(&self, task: &Task<'_>) -> Result<Answer, CommandError> {
        let ((), _) = (self.0, task);
        Err(CommandError::Platform)
    }
}
