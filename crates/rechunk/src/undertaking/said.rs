//! Warnings about a run that has ended.

use crate::job::Job;
use crate::missing_report::MissingReport;

impl Job {
    /// Everything to be said of a run; `missing` is what it did not find of its source.
    pub(super) fn said_of_run(&self, missing: Option<&MissingReport>) -> Vec<String> {
        let warnings = [
            missing.and_then(|missing| self.missing_without_fill_value(missing)),
            missing.and_then(found_nothing),
            self.written_between(),
        ];
        warnings.into_iter().flatten().collect()
    }

    /// A warning where a job that was resumed has read what was written since it was begun.
    fn written_between(&self) -> Option<String> {
        let late = self.source.array.store().late_objects();
        (late > 0).then(|| {
            format!(
                "{late} reads or copies were of objects of the source that were written after the job was \
                 begun: what was copied before may be of another state"
            )
        })
    }

    /// A warning where chunks were missing and the source does not say what they hold.
    fn missing_without_fill_value(&self, missing: &MissingReport) -> Option<String> {
        let copies = self.planned.plan.stages.iter().any(rechunk_plan::Stage::passes_through);
        let variable = self.source.array.layout().variable();
        let has_fill = match variable {
            Some(variable) => variable.fill().is_some(),
            None => self.source.spec().fill_value.is_some(),
        };
        let read_as = if variable.is_some() { "empty" } else { "zero" };
        (!has_fill && missing.chunks > 0 && !copies).then(|| {
            format!(
                "{} and the fill value is null: they were read as {read_as}",
                missing.sentence()
            )
        })
    }
}

/// A warning where not one chunk of the source was there.
fn found_nothing(missing: &MissingReport) -> Option<String> {
    missing.is_all.then(|| {
        format!(
            "no chunk of the source was found: {}{}; the copy holds nothing but the fill value",
            missing.sentence(),
            missing.examples()
        )
    })
}
