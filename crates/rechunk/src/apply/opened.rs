//! An apply whose operation is built and whose further sources are open.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use rechunk_array::Array;
use rechunk_exec::{WindowOp, Windows};
use rechunk_grid::{DataType, Endian};
use rechunk_ops::{Operation, Output, ValueKind, operation};
use rechunk_plan::OpSpec;
use rechunk_store::{Role, Stores};

use super::named::NamedOp;
use super::result_type::as_results;
use super::{ApplyRequest, OperationRequest};
use crate::Error;
use crate::open::{OpenArray, open_array};
use crate::request::CopyRequest;

/// Byte order of this machine.
const NATIVE: Endian = if cfg!(target_endian = "big") { Endian::Big } else { Endian::Little };

/// An apply whose operation is built and whose further sources are open.
#[derive(Debug, Clone)]
pub(crate) struct Opened {
    pub request: ApplyRequest,
    pub operation: Arc<dyn Operation>,
    pub op: Arc<dyn WindowOp>,
    pub spec: OpSpec,
    pub others: Vec<OpenArray>,
    /// Type of results.
    pub output: DataType,
    pub value_kind: ValueKind,
    /// Calls of the operation that this process has made.
    pub calls: Arc<AtomicU64>,
    constants: Vec<Vec<u8>>,
}

impl Opened {
    /// Builds the operation of a request and opens its further sources; `None` where it is a copy.
    /// `into` is the type of an array that results go into.
    pub(crate) async fn of(
        request: &CopyRequest,
        source: &OpenArray,
        stores: &Stores,
        into: Option<DataType>,
    ) -> Result<Option<Self>, Error> {
        let Some(apply) = &request.apply else { return Ok(None) };
        let mut others = Vec::with_capacity(apply.sources.len());
        for location in &apply.sources {
            let options = request.open_options();
            let other = Box::pin(open_array(location, &options, stores)).await?;
            if other.spec().shape != source.spec().shape {
                return Err(Error::Usage {
                    message: format!(
                        "{location} has the shape {:?}, and {} {:?}: sources of one operation \
                         have one shape",
                        other.spec().shape,
                        source.location,
                        source.spec().shape
                    ),
                    hint: None,
                });
            }
            others.push(other);
        }
        let types: Vec<DataType> =
            [source].into_iter().chain(&others).map(|array| array.spec().data_type).collect();
        let OperationRequest::Named { name, settings } = &apply.operation;
        let built = operation(name, settings).map_err(Error::operation)?;
        if let Output::Statistic(_) = built.output() {
            return Err(Error::Usage {
                message: format!("`{name}` is a statistic: it writes no array"),
                hint: Some("leave the target out".into()),
            });
        }
        built.check_types(&types).map_err(Error::operation)?;
        let computed = built.output_type(types[0]).map_err(Error::operation)?;
        // A cast to a float is made as the source is read, which loses nothing.
        let wanted = request.cast.as_ref().map(|cast| cast.to().data_type);
        let output = into.or(wanted.filter(|to| !to.is_ieee_float())).unwrap_or(computed);
        let cast = if output == computed {
            None
        } else {
            let to = [("to".to_owned(), output.name())].into();
            let cast = operation("cast", &to).map_err(Error::operation)?;
            cast.check_types(&[computed]).map_err(Error::operation)?;
            Some(cast)
        };
        let calls = Arc::new(AtomicU64::new(0));
        let op = NamedOp {
            operation: Arc::clone(&built),
            cast,
            computed,
            output,
            calls: Arc::clone(&calls),
        };
        let all = [source].into_iter().chain(&others);
        let constants = all.map(|array| constant(array, apply.constant.as_deref()));
        let constants = constants.collect::<Result<_, Error>>()?;
        Ok(Some(Self {
            request: (**apply).clone(),
            value_kind: built.value_kind(),
            operation: built,
            spec: op.spec(),
            op: Arc::new(op),
            others,
            output,
            calls,
            constants,
        }))
    }

    /// Builds the statistic of a request.
    pub(crate) fn of_statistic(request: &CopyRequest, source: &OpenArray) -> Result<Self, Error> {
        let missing = || Error::Usage { message: "there is no operation".to_owned(), hint: None };
        let apply = request.apply.as_ref().ok_or_else(missing)?;
        let OperationRequest::Named { name, settings } = &apply.operation;
        let operation = operation(name, settings).map_err(Error::operation)?;
        let computed = source.spec().data_type;
        operation.check_types(&[computed]).map_err(Error::operation)?;
        let calls = Arc::new(AtomicU64::new(0));
        let op = NamedOp {
            operation: Arc::clone(&operation),
            cast: None,
            computed,
            output: computed,
            calls: Arc::clone(&calls),
        };
        let mut request = (**apply).clone();
        request.direct = true; // there is nothing to combine
        Ok(Self {
            constants: vec![constant(source, request.constant.as_deref())?],
            request,
            value_kind: operation.value_kind(),
            operation,
            spec: op.spec(),
            op: Arc::new(op),
            others: Vec::new(),
            output: computed,
            calls,
        })
    }

    /// The source, as an array of results: the target is specified by it.
    pub(crate) fn results(&self, source: &OpenArray) -> Result<OpenArray, Error> {
        as_results(source, self.output)
    }

    /// What the executor needs; `watched` makes a further source one whose changes are errors.
    pub(crate) fn windows(&self, watched: impl Fn(&OpenArray) -> Array) -> Windows {
        let others = self.others.iter().map(|other| {
            let array = watched(other);
            let store = array.store().with_role(Role::Source);
            array.with_store(store)
        });
        Windows {
            op: Arc::clone(&self.op),
            others: others.collect(),
            constants: self.constants.clone(),
        }
    }
}

/// One element for voxels beyond a source, in native byte order: `text`, or its fill value.
fn constant(source: &OpenArray, text: Option<&str>) -> Result<Vec<u8>, Error> {
    let spec = source.spec();
    let Some(text) = text else {
        return Ok(spec.fill_value.as_ref().map_or_else(
            || vec![0; usize::try_from(spec.data_type.item_bytes()).unwrap_or(0)],
            |fill| fill.stored(spec.data_type, NATIVE),
        ));
    };
    rechunk_ops::element(text, spec.data_type).map_err(|_| Error::Usage {
        message: format!(
            "--boundary constant={text}: `{text}` is no {} as {} has them",
            spec.data_type, source.location
        ),
        hint: None,
    })
}
