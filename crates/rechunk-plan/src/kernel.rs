//! Work of a stage on its way from inputs to outputs, as data.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::keep::Schedule;

/// Work that a stage does between its inputs and its outputs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kernel {
    /// Elements are moved as they are.
    Copy(Way),
    /// New elements are computed from a window of the input around them.
    Op(OpSpec),
    /// Inputs that overlap become one output.
    Combine(Blend),
    /// Outputs are coarser versions of the input.
    Reduce(Levels),
}

/// Way that elements take when they are copied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// Chunks are decoded, and new ones encoded.
    Decoded,
    /// As [`Way::Decoded`], of elements that differ in length. Sizes are those of a few chunks that
    /// were looked at; the memory of a task is counted while it runs.
    Variable,
    /// Encoded chunks, or whole shards, are passed on as they are.
    Encoded,
    /// As [`Way::Encoded`], and the store that holds both sides copies each object itself. Where it
    /// turns out that it cannot, or the copied bytes have to be seen, they are read and written
    /// instead: lanes have the memory for it.
    ByStore,
    /// Runs of bytes of raw files are moved, buffer by buffer, by a schedule
    /// ([`crate::Plan::buffers`]). Chunks and steps do not matter then.
    Runs(Schedule),
}

/// An operation that is known to the executor by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpSpec {
    /// Name of the operation.
    pub name: String,
    /// Settings of the operation: with its name, all that decides what it computes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

/// Rule by which inputs that overlap become one output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blend {
    /// Name of the rule.
    pub rule: String,
}

/// Rule by which elements become fewer from level to level; each output is a level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Levels {
    /// Name of the rule.
    pub rule: String,
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Copy(_) => f.write_str("copy"),
            Self::Op(op) => write!(f, "op `{}`", op.name),
            Self::Combine(blend) => write!(f, "combine `{}`", blend.rule),
            Self::Reduce(levels) => write!(f, "reduce `{}`", levels.rule),
        }
    }
}

impl Way {
    /// Chunks, or whole shards, are passed on as they are encoded.
    pub fn is_encoded(&self) -> bool {
        match self {
            Self::Encoded | Self::ByStore => true,
            Self::Decoded | Self::Variable | Self::Runs(_) => false,
        }
    }
}
