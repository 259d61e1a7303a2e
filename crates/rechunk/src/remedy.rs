//! Ways out of an error, as values: whoever shows them has the words for them.

use std::fmt;

use rechunk_planner::PlanError;

use crate::format_byte_size;

/// Way out of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Advice that is the same wherever it is read, in a sentence.
    Advice(String),
    /// Replace it; the old one stays until the new array is complete.
    Overwrite,
    /// Overwrite it by another copy.
    CopyAgain,
    /// Overwrite it from the beginning.
    StartAgain,
    /// Overwrite it from the beginning, which reads the source again.
    ReadAgain,
    /// Go on where the run stopped, or overwrite it.
    ResumeOrOverwrite,
    /// Go on where the run stopped, or give it up.
    ResumeOrClean,
    /// Make the level of an image anew, or ask for others.
    MakeLevelAnew,
    /// Resume a run that has written all, or remove what is left of it.
    EndOrClean,
    /// Resume the run.
    Resume,
    /// Resume the run from where it stopped.
    ResumeFromThere,
    /// Resume the run, of which little is left to do.
    ResumeSoon,
    /// Resume the run, which writes again what was lost.
    ResumeToWrite,
    /// Resume the run, which removes what it has left.
    ResumeToTidy,
    /// Wait for the other run, or stop and resume it.
    WaitOrResume,
    /// Try again when other parts are done, or have it wait for them.
    WaitForParts,
    /// Do the parts that are left and finish, or give it up.
    PartsOrClean,
    /// Run the part again, which goes on from there.
    PartAgain,
    /// Open the job once and replace the array; parts come after that.
    BeginAndOverwrite,
    /// Move away what is there, or resume the run.
    MoveOrResume,
    /// See whether the source is there already; a run that is not resumed writes it again.
    LookFirst,
    /// Free space on the disk, then resume.
    MakeRoom,
    /// Free space on the disk, then resume from where the run stopped.
    MakeRoomFromThere,
    /// Start again when nothing writes the source.
    StartUnwritten,
    /// Remove what is there, or overwrite it.
    RemoveOrOverwrite,
    /// Repair the source and start again, or allow more of it to be missing.
    RepairOrAllow,
    /// Start again, or allow any part of the source to be missing.
    StartAgainOrAllow,
    /// Resume with the options that the run was begun with, start again, or give it up.
    ResumeAsBegun,
    /// Cast to a type that holds all elements and start again, or do not cast.
    CastAndOverwrite,
    /// Cast to a type that holds all elements; of a group, a rule is for one array.
    CastWider,
    /// Make the arrays that stay the same in both, or trust them.
    AlikeOrTrust,
    /// Write the source with the encoding of the target, or trust it.
    EncodeOrTrust,
    /// Append all arrays of the group, or trust the one that stays behind.
    GrowAllOrTrust,
    /// Put the source where its coordinates say, or trust them.
    PlaceOrTrust,
    /// Select what is new, write into what is there, or trust the source.
    SelectNewOrTrust,
    /// Select a part of the source.
    SelectPart,
    /// Take the whole array.
    SelectNothing,
    /// Ask for no way to read the array.
    AskNoAccess,
    /// Look at the dimensions first.
    SeeDimensions,
    /// Cast numbers to the type of the target.
    CastToTarget,
    /// Leave out the files beside the arrays; another tool copies them.
    NoOthers,
    /// Give this much memory, at least.
    MoreMemory {
        /// Memory, bytes.
        bytes: u64,
    },
    /// Give the memory that the plan takes.
    MemoryOf {
        /// Memory, bytes.
        bytes: u64,
    },
    /// Leave out an array of the group.
    LeaveOut {
        /// Its path.
        path: String,
    },
    /// Leave out one of the arrays that are in the way of each other.
    LeaveOneOut {
        /// Path of one.
        path: String,
    },
    /// Leave out the arrays that cannot be copied.
    LeaveSomeOut {
        /// Path of the first.
        path: String,
    },
}

impl From<String> for Remedy {
    fn from(advice: String) -> Self {
        Self::Advice(advice)
    }
}

impl From<&str> for Remedy {
    fn from(advice: &str) -> Self {
        Self::Advice(advice.to_owned())
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Advice(advice) => advice,
            Self::MoreMemory { bytes } => {
                return write!(
                    f,
                    "give at least {bytes} bytes of memory ({})",
                    format_byte_size(*bytes)
                );
            }
            Self::MemoryOf { bytes } => return write!(f, "give {bytes} bytes of memory"),
            Self::LeaveOut { path } => return write!(f, "exclude it: {path}"),
            Self::LeaveOneOut { path } => return write!(f, "exclude one of them: {path}"),
            Self::LeaveSomeOut { path } => return write!(f, "exclude them: {path}"),
            Self::Overwrite => "overwrite it",
            Self::CopyAgain => "copy it again",
            Self::StartAgain => "start again",
            Self::ReadAgain => "start again, and read the source again",
            Self::ResumeOrOverwrite => "resume it, or start again",
            Self::ResumeOrClean => "resume it, or give it up",
            Self::MakeLevelAnew => "overwrite it, or ask for levels that are not there",
            Self::EndOrClean => "resume it, or remove what is left",
            Self::Resume => "resume it",
            Self::ResumeFromThere => "resume it from there",
            Self::ResumeSoon => "resume it, which takes a moment",
            Self::ResumeToWrite => "resume it: that writes it again",
            Self::ResumeToTidy => "resume it: that removes what is left",
            Self::WaitOrResume => "wait for it, or stop and resume it",
            Self::WaitForParts => "try again when they are",
            Self::PartsOrClean => "do the parts that are left and finish, or give it up",
            Self::BeginAndOverwrite => "begin once, and replace it then",
            Self::PartAgain => "run the part again, which goes on from there",
            Self::MoveOrResume => "move it away, or resume that run",
            Self::LookFirst => "look at the shape of the target first",
            Self::MakeRoom => "make room, then resume",
            Self::MakeRoomFromThere => "make room, then resume from there",
            Self::StartUnwritten => "start again when nothing writes the source",
            Self::RemoveOrOverwrite => "remove it, or start over",
            Self::RepairOrAllow => "repair the source and start again, or allow more to be missing",
            Self::StartAgainOrAllow => "start again, or allow any part to be missing",
            Self::ResumeAsBegun => "resume it with its own options, start again, or give it up",
            Self::CastAndOverwrite => {
                "cast to a type that holds it and start again, or do not cast"
            }
            Self::CastWider => "cast to a type that holds it",
            Self::AlikeOrTrust => "make them the same in both, or trust them",
            Self::EncodeOrTrust => "write the source with the encoding of the target, or trust it",
            Self::GrowAllOrTrust => "append the whole group, or trust the array that stays",
            Self::PlaceOrTrust => "put it where its coordinates say, or trust them",
            Self::SelectNewOrTrust => "select what is new, write into what is there, or trust it",
            Self::SelectPart => "select a part of the source",
            Self::SelectNothing => "select no region",
            Self::AskNoAccess => "ask for no way to read it",
            Self::SeeDimensions => "look at its dimensions",
            Self::CastToTarget => "cast them",
            Self::NoOthers => "leave them out",
        })
    }
}

impl Remedy {
    /// Advice that follows from the proposal of a refused apply.
    pub(crate) fn of_apply(code: &str, proposal: Option<&str>) -> Option<Self> {
        let what = match code {
            "NOT_DIVISIBLE" => "a work chunk of ",
            "BLEND_GT_HALF" => "a blend of ",
            "MAXRED_LT_CHUNK" | "MAXRED_LT_DST_CHUNK" => "a largest reduction of ",
            _ => "",
        };
        proposal.map(|text| Self::Advice(format!("{what}{text} would do")))
    }
}

/// ` within 2.00 MiB`, where memory is the reason.
pub(crate) fn within(budget_bytes: u64, reason: &PlanError) -> String {
    match reason {
        PlanError::DoesNotFit { .. } => format!(" within {}", format_byte_size(budget_bytes)),
        _ => String::new(),
    }
}
