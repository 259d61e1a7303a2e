//! Why a run failed.

use rechunk_array::ArrayError;
use rechunk_grid::GridError;
use rechunk_kernel::KernelError;
use rechunk_store::StoreError;
use thiserror::Error;

use crate::{JournalError, TaskRange};

/// Why a run ended before its end. What was marked done before stays done.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExecError {
    /// It was asked to.
    #[error("cancelled; what is done stays done")]
    Cancelled,
    /// A task failed.
    #[error("stage {stage}, task {task}: {fault}")]
    Task {
        /// Stage of the task.
        stage: usize,
        /// Its number in the stage.
        task: u64,
        /// Reason of the failure.
        #[source]
        fault: Fault,
    },
    /// Something no single task is to blame for failed.
    #[error("{0}")]
    Run(#[source] Fault),
}

/// Reason why a task or a run fails.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Fault {
    /// The source cannot be read or decoded.
    #[error("the source: {0}")]
    Source(#[source] ArrayError),
    /// The array that is written or compared with cannot be.
    #[error("the target: {0}")]
    Target(#[source] ArrayError),
    /// The intermediate cannot be read or written.
    #[error("the intermediate: {0}")]
    Intermediate(#[source] StoreError),
    /// A piece of the intermediate is not what was put there.
    #[error(
        "the intermediate is damaged: {length_bytes} bytes from {offset_bytes} of {key} in \
         {location} do not have their checksum; check that disk or store"
    )]
    DamagedPiece {
        /// The task that has written the object.
        written_by: TaskRange,
        /// Label of the intermediate's store.
        location: String,
        /// Key of the object.
        key: String,
        /// Where in the object the piece begins, bytes.
        offset_bytes: u64,
        /// Its length with its checksum, bytes.
        length_bytes: u64,
    },
    /// A piece of the intermediate is not there, or not all of it.
    #[error("the intermediate: {source}")]
    LostPiece {
        /// The task that has written the object.
        written_by: TaskRange,
        /// Reason of the store.
        source: Box<StoreError>,
    },
    /// Written objects cannot be made durable.
    #[error("{0}")]
    Sync(#[source] StoreError),
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The plan is not one of these arrays, or asks for what is not there.
    #[error("the plan cannot be run: {reason}")]
    Plan {
        /// Why.
        reason: String,
    },
    /// A grid of the plan cannot be used.
    #[error("the plan cannot be run: {0}")]
    Grid(#[source] GridError),
    /// A buffer this machine cannot address.
    #[error("{elements} elements are more than this machine can hold in one buffer")]
    BufferTooLarge {
        /// Its elements.
        elements: u64,
    },
    /// A chunk of elements that differ in length needs more memory than there is.
    #[error(
        "chunk {chunk:?} of {array} does not fit in the memory that is allowed: with what it is \
         made of it needs {least_bytes} bytes at least, and {budget_bytes} are allowed"
    )]
    NoRoom {
        /// Location of the target.
        array: String,
        /// Index of the chunk.
        chunk: Vec<u64>,
        /// Memory that is allowed, bytes.
        budget_bytes: u64,
        /// Memory without which it does not fit, bytes. It may take more.
        least_bytes: u64,
    },
    /// Elements cannot be copied: a bug, but one that is caught before anything is touched.
    #[error("copying elements: {0}")]
    Kernel(#[source] KernelError),
    /// Chunks of a source are missing, which the apply has for an error.
    #[error("{count} chunks that it needs are missing in {array}")]
    MissingChunks {
        /// Location of the source.
        array: String,
        /// Number of them.
        count: u64,
    },
    /// An operation cannot compute elements.
    #[error("the operation `{name}`: {reason}")]
    Op {
        /// Name of the operation.
        name: String,
        /// Reason that it gives.
        reason: String,
    },
    /// The CPU pool cannot be started, or a job in it panicked.
    #[error("the CPU pool: {reason}")]
    Cpu {
        /// Reason of the failure.
        reason: String,
    },
}

impl ExecError {
    /// It was cancelled.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled)
    }

    /// Returns the reason of the failure; `None` if it was cancelled.
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Self::Cancelled => None,
            Self::Task { fault, .. } | Self::Run(fault) => Some(fault),
        }
    }

    /// A stored chunk of the source is damaged.
    pub fn is_source_damage(&self) -> bool {
        matches!(self.fault(), Some(Fault::Source(error)) if error.is_damage())
    }

    /// The source could not be read or decoded.
    pub fn is_source_fault(&self) -> bool {
        matches!(self.fault(), Some(Fault::Source(_) | Fault::MissingChunks { .. }))
    }

    /// The source was written while it was read.
    pub fn is_source_changed(&self) -> bool {
        use StoreError::{Changed, Removed};
        self.is_source_fault()
            && matches!(self.store_error(), Some(Changed { .. } | Removed { .. }))
    }

    /// Writing failed: to the target, the intermediate or the journal.
    pub fn is_output_fault(&self) -> bool {
        use Fault::{DamagedPiece, Intermediate, Journal, LostPiece, Sync, Target};
        let is_piece = matches!(self.fault(), Some(DamagedPiece { .. } | LostPiece { .. }));
        let fault = self.fault();
        is_piece || matches!(fault, Some(Target(_) | Intermediate(_) | Sync(_) | Journal(_)))
    }

    /// Objects of the intermediate are lost or damaged: they have to be made again.
    pub fn is_intermediate_damage(&self) -> bool {
        self.damaged_task().is_some()
    }

    /// The task that has written the object of the intermediate that is lost or damaged, if that is
    /// why. Its stage is the one before that of the task that has failed.
    pub fn damaged_task(&self) -> Option<TaskRange> {
        match self.fault() {
            Some(Fault::DamagedPiece { written_by, .. } | Fault::LostPiece { written_by, .. }) => {
                Some(*written_by)
            }
            _ => None,
        }
    }

    /// The memory, bytes, without which a chunk does not fit, if that is why. It may take more.
    pub fn least_bytes(&self) -> Option<u64> {
        match self.fault()? {
            Fault::NoRoom { least_bytes, .. } => Some(*least_bytes),
            _ => None,
        }
    }

    /// The disk or the quota of what is written is full.
    pub fn is_no_space(&self) -> bool {
        self.is_output_fault() && self.store_error().is_some_and(StoreError::is_no_space)
    }

    /// A store did not let this user do something.
    pub fn is_permission_denied(&self) -> bool {
        self.store_error().is_some_and(StoreError::is_permission_denied)
    }

    /// Trying this run again may succeed.
    pub fn is_retryable(&self) -> bool {
        self.store_error().is_some_and(StoreError::is_retryable)
    }

    /// Returns the error of the array that was read or written, if that is why.
    pub fn array_error(&self) -> Option<&ArrayError> {
        match self.fault()? {
            Fault::Source(error) | Fault::Target(error) => Some(error),
            _ => None,
        }
    }

    /// Returns the error of the store, if it was a store.
    pub fn store_error(&self) -> Option<&StoreError> {
        match self.fault()? {
            Fault::Source(error) | Fault::Target(error) => error.store_error(),
            Fault::Intermediate(error)
            | Fault::Sync(error)
            | Fault::Journal(JournalError::Store(error)) => Some(error),
            Fault::LostPiece { source, .. } => Some(source),
            _ => None,
        }
    }
}
