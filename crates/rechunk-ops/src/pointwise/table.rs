//! Values by a table.

use std::sync::Arc;

use rechunk_grid::DataType;

use super::lookup::Lookup;
use super::replace::element_of;
use super::store::BLOCK;
use super::table_text::{canonical, parse_table};
use crate::constant::Constant;
use crate::element::{Element, Wide, for_elements};
use crate::error::OpError;
use crate::info::{OperationInfo, Parameter};
use crate::operation::{Operation, ValueKind, check_run};
use crate::settings::{Settings, identity};
use crate::view::{BoxView, Outcome, TaskContext, elements_mut};

const TABLE: Parameter = Parameter::new(
    "table",
    "pairs `from>to` with `,` `;` or lines between them; or lines of two columns",
    "integers and their values; `#` begins a comment",
);

pub(crate) const LUT: OperationInfo = OperationInfo::new(
    "lut",
    "the value that a table has for an integer; amounts, such as brightness",
    "the source's type, or `to`",
    &[
        TABLE,
        Parameter::new("default", "keep or a number", "value of integers that the table lacks")
            .or("keep"),
        Parameter::new("to", "a type of elements", "type of the result (left out: the source's)"),
    ],
);

pub(crate) const REMAP_LABELS: OperationInfo = OperationInfo::new(
    "remap-labels",
    "the label that a table has for a label, exactly, whatever its size",
    "the source's type, or `to`",
    &[
        TABLE,
        Parameter::new("default", "keep or a number", "label of those that the table lacks")
            .or("keep"),
        Parameter::new("to", "a type of elements", "type of the result (left out: the source's)"),
    ],
);

#[derive(Debug)]
struct Table {
    info: &'static OperationInfo,
    /// Pairs in ascending order of their first.
    pairs: Vec<(i128, Constant)>,
    lookup: Lookup,
    /// `None` keeps elements.
    default: Option<Constant>,
    to: Option<DataType>,
    kind: ValueKind,
}

pub(crate) fn build_lut(settings: &Settings<'_>) -> Result<Arc<dyn Operation>, OpError> {
    build(settings, &LUT, ValueKind::Intensity)
}

pub(crate) fn build_remap_labels(settings: &Settings<'_>) -> Result<Arc<dyn Operation>, OpError> {
    build(settings, &REMAP_LABELS, ValueKind::Label)
}

fn build(
    settings: &Settings<'_>,
    info: &'static OperationInfo,
    kind: ValueKind,
) -> Result<Arc<dyn Operation>, OpError> {
    let pairs = parse_table(settings.text("table")?);
    let pairs = pairs.map_err(|mistake| settings.bad("table", mistake))?;
    let default = match settings.text("default")? {
        "keep" => None,
        _ => Some(settings.constant("default")?),
    };
    let to = settings.data_type("to")?;
    let is_label = kind == ValueKind::Label;
    if is_label && to.is_some_and(DataType::is_ieee_float) {
        return Err(settings.bad("to", "labels are integers"));
    }
    let lookup = Lookup::new(pairs.iter().map(|(from, _)| *from).collect());
    Ok(Arc::new(Table { info, pairs, lookup, default, to, kind }))
}

impl Operation for Table {
    fn name(&self) -> &'static str {
        self.info.name
    }

    fn identity(&self) -> String {
        let default = self.default.as_ref();
        let default = default.map_or_else(|| "keep".to_owned(), Constant::canonical);
        let to = self.to.map_or_else(|| "default".to_owned(), DataType::name);
        let parameters = [("table", canonical(&self.pairs)), ("default", default), ("to", to)];
        identity(self.info.name, 1, &parameters)
    }

    fn output_type(&self, input: DataType) -> Result<DataType, OpError> {
        if input.is_ieee_float() {
            return Err(OpError::DataType {
                operation: self.info.name.to_owned(),
                data_type: input,
                reason: "keys of a table are integers; use `replace`, or cast first".to_owned(),
            });
        }
        let to = self.to.unwrap_or(input);
        for_elements!(self.info.name, to, U => {
            let all = self.pairs.iter().map(|(_, value)| value).chain(&self.default);
            for value in all {
                element_of::<U>(self.info.name, "table", value, to)?;
            }
        });
        // Whether the type of the source is one that operations take.
        for_elements!(self.info.name, input, T => {
            let _: Option<T> = None;
        });
        Ok(to)
    }

    fn value_kind(&self) -> ValueKind {
        self.kind
    }

    fn scratch_bytes(&self, _shape: &[u64], _input: DataType) -> u64 {
        // A block of keys, and the values as elements.
        16 * BLOCK as u64 + 8 * self.pairs.len() as u64
    }

    fn run(
        &self,
        inputs: &[BoxView<'_>],
        out: &mut [u8],
        context: &TaskContext,
    ) -> Result<Outcome, OpError> {
        let input = check_run(self, inputs, out, context)?;
        let to = self.to.unwrap_or(input.data_type);
        for_elements!(self.info.name, to, U => {
            self.run_as::<U>(&input, to, elements_mut::<U>(self.info.name, out)?)
        })
    }
}

impl Table {
    fn run_as<U: Element>(
        &self,
        input: &BoxView<'_>,
        to: DataType,
        out: &mut [U],
    ) -> Result<Outcome, OpError> {
        let name = self.info.name;
        let value = |constant: &Constant| element_of::<U>(name, "table", constant, to);
        let values: Result<Vec<U>, _> = self.pairs.iter().map(|(_, to)| value(to)).collect();
        let values = values?;
        let default = self.default.as_ref().map(value).transpose()?;
        input.check(name)?;
        let mut keys = vec![0; BLOCK];
        for (at, out) in out.chunks_mut(BLOCK).enumerate() {
            let keys = &mut keys[..out.len()];
            for_elements!(name, input.data_type, T => {
                let elements = &input.cast::<T>(name)?[at * BLOCK..];
                load_integers(elements, keys);
            });
            let is_bool = to == DataType::Bool;
            self.look_up(keys, &values, default, is_bool, out).map_err(|kept| {
                OpError::DataType {
                    operation: name.to_owned(),
                    data_type: to,
                    reason: format!(
                        "{kept} is kept, and no value of the type; set `default` or `to`"
                    ),
                }
            })?;
        }
        Ok(Outcome::Done)
    }

    /// Writes the values of `keys`. Returns an integer that is kept and does not fit.
    fn look_up<U: Element>(
        &self,
        keys: &[i128],
        values: &[U],
        default: Option<U>,
        is_bool: bool,
        out: &mut [U],
    ) -> Result<(), i128> {
        let kept = |key| U::from_int(key).filter(|value| !is_bool || *value <= U::ONE);
        // Labels come in runs.
        let mut last: Option<(i128, U)> = None;
        for (out, &key) in out.iter_mut().zip(keys) {
            let value = match last {
                Some((same, value)) if same == key => value,
                _ => {
                    let found = self.lookup.position(key).map(|position| values[position]);
                    found.or(default).or_else(|| kept(key)).ok_or(key)?
                }
            };
            last = Some((key, value));
            *out = value;
        }
        Ok(())
    }
}

/// Loads elements as integers; floats are refused before.
fn load_integers<T: Element>(elements: &[T], keys: &mut [i128]) {
    for (key, element) in keys.iter_mut().zip(elements) {
        if let Wide::Int(value) = element.to_wide() {
            *key = value;
        }
    }
}
