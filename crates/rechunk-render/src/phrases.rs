//! Phrases of the program that shows a text: this crate does not know what its commands are called.

use std::fmt;

use rechunk::Remedy;

/// Names for what a reader can do next, in the words of the program that shows a text.
///
/// ```
/// let mut phrases = rechunk_render::Phrases::default();
/// phrases.resume = "job.resume()";
/// phrases.clean = "rechunk.clean(target)";
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Phrases {
    /// The report that leaves nothing out: “… has all of them”.
    pub full_report: &'static str,
    /// The way to resume a run: “… goes on from there”.
    pub resume: &'static str,
    /// The way to remove the state of a run: “… gives it up”.
    pub clean: &'static str,
    /// The setting for the size of boxes: “not tried with …”.
    pub box_size: &'static str,
    /// Makes the hint of an error.
    pub remedy: fn(&Remedy) -> String,
}

impl Default for Phrases {
    fn default() -> Self {
        Self {
            full_report: "the report as JSON",
            resume: "the same copy, resumed,",
            clean: "cleaning the target",
            box_size: "boxes of a given size",
            remedy: Remedy::to_string,
        }
    }
}

impl fmt::Debug for Phrases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { full_report, resume, clean, box_size, remedy: _ } = self;
        f.debug_tuple("Phrases").field(&[full_report, resume, clean, box_size]).finish()
    }
}
