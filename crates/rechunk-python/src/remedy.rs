//! Ways out of an error, and names of options, as Python writes them.

use rechunk::{Remedy, format_byte_size};

/// A remedy as the hint of an exception.
pub(crate) fn hint(remedy: &Remedy) -> String {
    let words = match remedy {
        Remedy::MoreMemory { bytes } => {
            return format!("give max_mem={bytes} or more ({})", format_byte_size(*bytes));
        }
        Remedy::MemoryOf { bytes } => return format!("give max_mem={bytes}"),
        Remedy::LeaveOut { path } => return format!("leave it out: exclude={path:?}"),
        Remedy::LeaveOneOut { path } => return format!("leave one of them out: exclude={path:?}"),
        Remedy::LeaveSomeOut { path } => return format!("leave them out: exclude={path:?}"),
        Remedy::Overwrite => "overwrite=True replaces it when the new array is complete",
        Remedy::CopyAgain => "overwrite=True copies it again",
        Remedy::StartAgain | Remedy::ReadAgain => "overwrite=True starts again",
        Remedy::ResumeOrOverwrite => {
            "resume=True goes on where it stopped, overwrite=True starts again"
        }
        Remedy::MakeLevelAnew => {
            "overwrite=True removes it and makes it anew; factors names levels that are not there"
        }
        Remedy::ResumeOrClean | Remedy::EndOrClean => {
            "resume=True goes on where it stopped, rechunk.clean(target) gives it up"
        }
        Remedy::Resume | Remedy::ResumeFromThere | Remedy::ResumeSoon => {
            "run it again with resume=True, which goes on from there"
        }
        Remedy::WaitOrResume => "wait for it, or stop it and run again with resume=True",
        Remedy::WaitForParts => "call it again when they are, or with wait=SECONDS",
        Remedy::PartsOrClean => {
            "do what is left with run_part or execute and end with finish(); \
             rechunk.clean(target) gives it up"
        }
        Remedy::BeginAndOverwrite => "call begin(overwrite=True) once; then run parts without it",
        Remedy::PartAgain => "run the part again, which goes on from there",
        Remedy::MakeRoom | Remedy::MakeRoomFromThere => {
            "make room, then run it again with resume=True"
        }
        Remedy::RemoveOrOverwrite => "remove it, or start over with overwrite=True",
        Remedy::SelectPart => "select= takes a part of the source",
        Remedy::NoOthers => "no_others=True leaves them out",
        other => return in_python(&other.to_string()),
    };
    words.to_owned()
}

/// A text of the library in which options of the command line are called as in Python, without
/// their dashes.
pub(crate) fn in_python(text: &str) -> String {
    let mut said = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("--") {
        let is_apart = rest[..at].chars().next_back().is_none_or(|c| " `('\"".contains(c));
        let name = &rest[at + 2..];
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let length = name.find(|c| !is_name(c)).unwrap_or(name.len());
        said.push_str(&rest[..at]);
        if is_apart && name.starts_with(|c: char| c.is_ascii_lowercase()) {
            said.push_str(&name[..length].replace('-', "_"));
        } else {
            said.push_str(&rest[at..at + 2 + length]);
        }
        rest = &name[length..];
    }
    said.push_str(rest);
    said
}
