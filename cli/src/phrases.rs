//! Names of options and commands in texts that other programs show too.

use rechunk_render::Phrases;

use crate::terminal::remedy::hint;

/// Returns the phrases of the command line.
pub(crate) fn phrases() -> Phrases {
    let mut phrases = Phrases::default();
    phrases.full_report = "--json";
    phrases.resume = "the same command with --resume";
    phrases.clean = "`rechunk clean`";
    phrases.box_size = "--box-bytes";
    phrases.remedy = hint;
    phrases
}
