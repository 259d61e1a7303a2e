//! Refusals of an apply as errors.

use rechunk_apply::ApplyError;
use rechunk_exec::{ExecError, Fault};
use rechunk_ops::OpError;

use crate::Error;

impl From<ApplyError> for Error {
    fn from(error: ApplyError) -> Self {
        Self::apply(error)
    }
}

impl Error {
    /// The operation of an apply has failed: code of the caller, a program, or one of this library.
    pub fn is_of_operation(&self) -> bool {
        let fault = match self {
            Self::Run { source, .. } => source.fault(),
            Self::Compare { source } => match source.downcast_ref::<ExecError>() {
                Some(error) => error.fault(),
                None => source.downcast_ref::<Fault>(),
            },
            _ => None,
        };
        matches!(fault, Some(Fault::Op { .. }))
    }

    pub(crate) fn apply(error: ApplyError) -> Self {
        let ApplyError { code, message, proposal, .. } = error;
        Self::Apply { code: code.as_str(), message, proposal }
    }

    #[expect(clippy::needless_pass_by_value, reason = "as map_err has it")]
    pub(crate) fn operation(error: OpError) -> Self {
        Self::Usage { message: error.to_string(), hint: None }
    }
}
