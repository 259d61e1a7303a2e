//! Number of values that occur.

use std::sync::Arc;

use rechunk_grid::DataType;
use serde_json::{Value, json};

use super::values::{check_input, element, same_type, stranger};
use crate::element::{Element, Key, for_elements, supported};
use crate::error::OpError;
use crate::info::{OperationInfo, Parameter};
use crate::operation::{Operation, Output};
use crate::settings::{Settings, identity};
use crate::statistic::{Partial, Statistic};
use crate::view::{BoxView, TaskContext, for_kept_rows};

pub(crate) const INFO: OperationInfo = OperationInfo::new(
    "unique-count",
    "number of values that occur, exactly; -0 is 0, and all NaN are one value",
    "a statistic: count, unique, values (those of at most 1000)",
    &[Parameter::new("limit", "1 to 16777216", "values at most; more are refused").or("1048576")],
);

/// Limit at most, values.
const LIMIT_MAX: usize = 1 << 24;
/// Values that are listed at most.
const LISTED_MAX: usize = 1000;
/// Keys that are collected beside those known, before they are sorted.
const COLLECTED: usize = 1 << 16;

#[derive(Debug)]
struct Unique {
    limit: usize,
}

pub(crate) fn build(settings: &Settings<'_>) -> Result<Arc<dyn Operation>, OpError> {
    let limit = settings.text("limit")?.parse().ok();
    let limit = limit.filter(|limit| (1..=LIMIT_MAX).contains(limit));
    let limit = limit.ok_or_else(|| settings.bad("limit", format!("it takes 1 to {LIMIT_MAX}")))?;
    Ok(Arc::new(Unique { limit }))
}

impl Operation for Unique {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn identity(&self) -> String {
        identity(INFO.name, 1, &[("limit", self.limit.to_string())])
    }

    fn output_type(&self, input: DataType) -> Result<DataType, OpError> {
        supported(INFO.name, input)
    }

    fn scratch_bytes(&self, _shape: &[u64], _input: DataType) -> u64 {
        // A vector that grows has up to twice its length, and is copied once more.
        8 * 3 * (self.limit + COLLECTED) as u64
    }

    fn output(&self) -> Output<'_> {
        Output::Statistic(self)
    }
}

impl Unique {
    /// Sorts keys and drops those that are there already; refuses more than the limit.
    fn compact(&self, keys: &mut Vec<u64>) -> Result<(), OpError> {
        keys.sort_unstable();
        keys.dedup();
        if keys.len() <= self.limit {
            return Ok(());
        }
        Err(OpError::Limit {
            operation: INFO.name.to_owned(),
            limit: self.limit as u64,
            counted: "values".to_owned(),
            hint: format!("raise `limit`, to {LIMIT_MAX} at most"),
        })
    }

    /// Collects the keys of a row.
    fn collect<T: Element>(&self, row: &[T], keys: &mut Vec<u64>) -> Result<(), OpError> {
        let mut last = None;
        let mut known = keys.len();
        for &element in row {
            let element = if element == T::ZERO { T::ZERO } else { element };
            let key = element.to_key().to_u64();
            if last != Some(key) {
                keys.push(key);
                last = Some(key);
            }
            if keys.len() - known >= COLLECTED {
                self.compact(keys)?;
                known = keys.len();
            }
        }
        Ok(())
    }
}

impl Statistic for Unique {
    fn measure(&self, input: &BoxView<'_>, context: &TaskContext) -> Result<Partial, OpError> {
        check_input(INFO.name, input, context)?;
        let (mut keys, mut count, mut known) = (Vec::new(), 0_u64, 0);
        for_elements!(INFO.name, input.data_type, T => {
            let elements = input.cast::<T>(INFO.name)?;
            for_kept_rows(input.shape, context, |_, row| {
                count += row.len() as u64;
                self.collect(&elements[row], &mut keys)?;
                if keys.len() >= known + COLLECTED {
                    self.compact(&mut keys)?;
                    known = keys.len();
                }
                Ok(())
            })?;
        });
        self.compact(&mut keys)?;
        Ok(Partial::Unique { data_type: input.data_type, keys, count })
    }

    fn empty(&self, input: DataType) -> Result<Partial, OpError> {
        let data_type = self.output_type(input)?;
        Ok(Partial::Unique { data_type, keys: Vec::new(), count: 0 })
    }

    fn merge(&self, into: &mut Partial, other: &Partial) -> Result<(), OpError> {
        let (
            Partial::Unique { data_type, keys, count },
            Partial::Unique { data_type: type_of_more, keys: more, count: counted },
        ) = (into, other)
        else {
            return Err(stranger(INFO.name, "one is of another statistic"));
        };
        same_type(INFO.name, *data_type, *type_of_more)?;
        keys.extend_from_slice(more);
        self.compact(keys)?;
        *count = count.saturating_add(*counted);
        Ok(())
    }

    fn finish(&self, part: &Partial) -> Result<Value, OpError> {
        let Partial::Unique { data_type, keys, count } = part else {
            return Err(stranger(INFO.name, "it is of another statistic"));
        };
        let listed = if keys.len() <= LISTED_MAX { keys.as_slice() } else { &[] };
        let values: Result<Vec<_>, _> =
            listed.iter().map(|&key| element(INFO.name, *data_type, key)).collect();
        let mut value = json!({ "count": count, "unique": keys.len() });
        if keys.len() <= LISTED_MAX {
            value["values"] = values?.into();
        }
        Ok(value)
    }
}
