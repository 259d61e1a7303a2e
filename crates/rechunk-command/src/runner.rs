//! Runs a command on tasks: attempts, places, the end.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::attempt::{AttemptError, Program};
use crate::error::{CommandError, TaskFailure};
use crate::process::{Clock, Limits};
use crate::program;
use crate::slots::Slots;
use crate::spec::CommandSpec;
use crate::task::{Answer, Task};
use crate::worker::Worker;

/// Time that persistent programs have after their last task.
const CLOSE_TIME: Duration = Duration::from_secs(2);

/// Runs a command on tasks, from any number of threads.
///
/// Dropping it ends persistent programs: their stdin ends, and two seconds later they are killed.
#[derive(Debug)]
pub struct Runner {
    program: Program,
    scratch: PathBuf,
    cancel: Arc<AtomicBool>,
    slots: Slots<Worker>,
}

impl Runner {
    /// Finds the program and makes the directory `scratch`, if it is not there.
    ///
    /// Each attempt has a directory of its own in `scratch`, which is removed afterwards. When
    /// `cancel` becomes true, programs are killed.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// use rechunk_command::{Answer, BoxView, CommandSpec, Runner, Task};
    /// use rechunk_grid::DataType;
    ///
    /// # let scratch = tempfile::tempdir().unwrap();
    /// let spec = CommandSpec::new("cp {in} {out}");
    /// let runner = Runner::new(spec, scratch.path().to_owned(), Default::default()).unwrap();
    /// let elements = [1, 2, 3, 4, 5, 6];
    /// let answer = runner.run(&Task {
    ///     index: &[0, 0],
    ///     inputs: &[BoxView { data_type: DataType::Uint8, shape: &[2, 3], bytes: &elements }],
    ///     out_type: DataType::Uint8,
    ///     read: &[(0, 2), (0, 3)],
    ///     keep: &[(0, 2), (0, 3)],
    ///     pads: &[(0, 0), (0, 0)],
    /// });
    /// assert_eq!(answer.unwrap(), Answer::Padded(elements.to_vec()));
    /// # }
    /// ```
    pub fn new(
        spec: CommandSpec,
        scratch: PathBuf,
        cancel: Arc<AtomicBool>,
    ) -> Result<Self, CommandError> {
        let template = spec.template()?;
        let file = program::find(template.program())?;
        // Programs may change their directory.
        let scratch = std::path::absolute(&scratch)
            .map_err(|source| CommandError::Scratch { path: scratch, source })?;
        #[expect(clippy::disallowed_methods, reason = "programs read files there, no store")]
        std::fs::create_dir_all(&scratch)
            .map_err(|source| CommandError::Scratch { path: scratch.clone(), source })?;
        let slots = Slots::new(spec.jobs);
        Ok(Self { program: Program { spec, template, file }, scratch, cancel, slots })
    }

    /// Runs the command on a box, as often as it may be tried. Waits while as many programs run as
    /// may run at once.
    pub fn run(&self, task: &Task<'_>) -> Result<Answer, CommandError> {
        let spec = &self.program.spec;
        task.check()?;
        let types: Vec<_> = task.inputs.iter().map(|input| input.data_type).collect();
        for input in task.inputs {
            spec.check(&types, task.out_type, input.shape)?;
        }
        let mut slot = self.slots.take(&self.cancel)?;
        let mut attempts = 0;
        loop {
            attempts += 1;
            let (scratch, worker) = (&self.scratch, &mut slot.worker);
            match self.program.attempt(task, attempts, scratch, &self.cancel, worker) {
                Ok(answer) => return Ok(answer),
                Err(AttemptError::Fatal(error)) => return Err(error),
                Err(AttemptError::Failed { failure, output, directory }) => {
                    if attempts <= spec.retries {
                        continue;
                    }
                    return Err(CommandError::Failed(Box::new(TaskFailure {
                        command: spec.command.clone(),
                        index: task.index.to_vec(),
                        keep: task.keep.to_vec(),
                        attempts,
                        failure,
                        output,
                        directory,
                    })));
                }
            }
        }
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        let mut idle = self.slots.take_idle();
        idle.iter_mut().for_each(Worker::close);
        let (limits, clock) = (Limits::begin(None, &self.cancel), Clock::of(CLOSE_TIME));
        for worker in &mut idle {
            worker.wait_for_end(&limits, clock);
        }
    }
}
