//! A plan that was saved, of an array or of a group: whoever reads one need not know which it is.

use serde_json::Value;

use crate::Error;
use crate::request::CopyRequest;
use crate::saved_group::{GROUP, SavedGroup};
use crate::saved_job::{SavedJob, not_a_plan};

/// A saved plan: of an array, or of a group.
#[derive(Debug, Clone)]
pub enum SavedPlan {
    /// The source is an array.
    Array(Box<SavedJob>),
    /// The source is a group.
    Tree(Box<SavedGroup>),
}

impl SavedPlan {
    /// Reads the JSON form of either; `path` is for messages.
    ///
    /// ```
    /// use rechunk::SavedPlan;
    ///
    /// let error = SavedPlan::from_json("plan.json", b"[]").unwrap_err();
    /// assert!(error.to_string().contains("plan.json is not a saved plan"));
    /// ```
    pub fn from_json(path: &str, bytes: &[u8]) -> Result<Self, Error> {
        let document: Value =
            serde_json::from_slice(bytes).map_err(|error| not_a_plan(path, &error.to_string()))?;
        if document.get(GROUP).is_some() {
            return SavedGroup::from_document(path, document).map(|saved| Self::Tree(saved.into()));
        }
        SavedJob::from_document(path, document).map(|saved| Self::Array(saved.into()))
    }

    /// Its JSON form.
    pub fn to_json(&self) -> Result<Vec<u8>, Error> {
        match self {
            Self::Array(saved) => saved.to_json(),
            Self::Tree(saved) => saved.to_json(),
        }
    }

    /// The request that it was planned from.
    pub fn request(&self) -> &CopyRequest {
        match self {
            Self::Array(saved) => &saved.request,
            Self::Tree(saved) => saved.request(),
        }
    }
}
