//! Ways out of an error, in words of the command line.

use rechunk::{Remedy, format_byte_size};

/// A remedy as the hint that is shown.
pub(crate) fn hint(remedy: &Remedy) -> String {
    let words = match remedy {
        Remedy::MoreMemory { bytes } => {
            return format!(
                "give at least `--max-mem {bytes}` (about {})",
                format_byte_size(*bytes)
            );
        }
        Remedy::MemoryOf { bytes } => return format!("give --max-mem {bytes}"),
        Remedy::LeaveOut { path } => return format!("leave it out: --exclude '{path}'"),
        Remedy::LeaveOneOut { path } => {
            return format!("leave one of them out: --exclude '{path}'");
        }
        Remedy::LeaveSomeOut { path } => return format!("leave them out: --exclude '{path}'"),
        Remedy::Overwrite => "--overwrite replaces it when the new array is complete",
        Remedy::CopyAgain => "--overwrite copies it again",
        Remedy::StartAgain => "--overwrite starts again",
        Remedy::ReadAgain => "--overwrite starts again, and reads the source again",
        Remedy::ResumeOrOverwrite => "--resume goes on where it stopped, --overwrite starts again",
        Remedy::ResumeOrClean => {
            "--resume goes on where it stopped, `rechunk clean TARGET` gives it up"
        }
        Remedy::MakeLevelAnew => {
            "--overwrite removes it and makes it anew; --factors names levels that are not there"
        }
        Remedy::EndOrClean => "--resume ends it, `rechunk clean TARGET` removes it",
        Remedy::Resume => "run the same command with --resume",
        Remedy::ResumeFromThere => "run the same command with --resume to go on from there",
        Remedy::ResumeSoon => "run the same command with --resume, which takes a moment",
        Remedy::ResumeToWrite => "--resume writes it again",
        Remedy::ResumeToTidy => "--resume removes what the run has left",
        Remedy::WaitOrResume => "wait for it, or stop it and run again with --resume",
        Remedy::WaitForParts => "run it again when they are, or with --wait",
        Remedy::PartsOrClean => {
            "do what is left with `rechunk run PLAN --stage S --part I/N` and end with --finish; \
             `rechunk clean TARGET` gives it up"
        }
        Remedy::BeginAndOverwrite => {
            "begin once with --begin --overwrite; then run parts without it"
        }
        Remedy::PartAgain => "run the same command again, which goes on from there",
        Remedy::MoveOrResume => "move it away, or --resume that run",
        Remedy::LookFirst => {
            "look at the shape of the target; without --resume the source is written \
             (again)"
        }
        Remedy::MakeRoom => "make room, then run the same command with --resume",
        Remedy::MakeRoomFromThere => {
            "make room, then run the same command with --resume to go on from there"
        }
        Remedy::StartUnwritten => {
            "start again when nothing writes the source: with --overwrite, or after \
             `rechunk clean TARGET` where it goes into an array that stays"
        }
        Remedy::RemoveOrOverwrite => "remove it, or start over with --overwrite",
        Remedy::RepairOrAllow => {
            "repair the source and start again with --overwrite, or allow more: what is \
             missing is read as the fill value"
        }
        Remedy::StartAgainOrAllow => "start again with --overwrite, or leave --max-missing out",
        Remedy::ResumeAsBegun => {
            "with its own arguments (and --max-mem) it goes on; --overwrite starts again, \
             and `rechunk clean TARGET` removes its state, but no chunks"
        }
        Remedy::CastAndOverwrite => {
            "cast to a type that holds it, with --overwrite, or leave --cast out"
        }
        Remedy::CastWider => {
            "cast to a type that holds it; for one array of a group: --var 'PATH: cast \
             TYPE'"
        }
        Remedy::AlikeOrTrust => {
            "arrays that stay as they are have to be the same in both; --trust NAME leaves \
             one unchecked"
        }
        Remedy::EncodeOrTrust => {
            "write the source with the encoding of the target (in xarray: \
             ds[NAME].encoding.update(...)), or give --trust NAME if you know that it means \
             the same"
        }
        Remedy::GrowAllOrTrust => {
            "append the whole group, so that all of it grows, or this array first; --trust \
             NAME leaves it behind"
        }
        Remedy::PlaceOrTrust => {
            "the source is of other places or times than where it would be put; --trust \
             NAME leaves an array unchecked, if you know that it is right"
        }
        Remedy::SelectNewOrTrust => {
            "--select takes the part of the source that is new, --region writes again what \
             is there; --trust NAME appends it as it is"
        }
        Remedy::SelectPart => "--select takes a part of the source",
        Remedy::SelectNothing => "leave --select out",
        Remedy::AskNoAccess => "leave --access out",
        Remedy::SeeDimensions => "without --access, rechunk info shows the dimensions",
        Remedy::CastToTarget => "--cast TYPE converts numbers",
        Remedy::NoOthers => "--no-others leaves them out; copy them with a tool that copies files",
        other => return other.to_string(),
    };
    words.to_owned()
}
