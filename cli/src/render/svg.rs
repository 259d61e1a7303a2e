//! Placeholder while the drawing is being written.
#![allow(dead_code)]
pub(crate) struct PlanPicture { pub(crate) title: String, pub(crate) subtitle: String, pub(crate) axes: Vec<String>, pub(crate) shape: Vec<u64>, pub(crate) item_bytes: u64, pub(crate) source_chunk: Vec<u64>, pub(crate) target_chunk: Vec<u64>, pub(crate) stages: Vec<StagePicture>, pub(crate) candidates: Vec<CandidatePicture>, pub(crate) budget_bytes: u64, pub(crate) planned_peak_bytes: u64, pub(crate) peak_rss_bytes: Option<u64> }
pub(crate) struct StagePicture { pub(crate) name: String, pub(crate) read_box: Vec<u64>, pub(crate) write_box: Vec<u64>, pub(crate) tasks: u64, pub(crate) tasks_at_once: u32, pub(crate) memory_bytes: u64 }
pub(crate) struct CandidatePicture { pub(crate) kind: String, pub(crate) boxes: Vec<Vec<u64>>, pub(crate) cost: Option<f64>, pub(crate) note: String }
pub(crate) fn draw(_: &PlanPicture) -> String { String::new() }
