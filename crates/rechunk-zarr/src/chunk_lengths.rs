//! The chunk grid `rectilinear` of zarr-extensions: chunks of different lengths along an axis.
//!
//! The metadata lists for each axis the lengths of its chunks, or gives one number where they are
//! equal. The list may go on beyond the end of the axis. A chunk is stored with all of its own
//! length, also beyond the end.

use rechunk_format::FormatError;
use rechunk_grid::{ArraySpec, AxisChunks, AxisEdges, Edges, GridError};
use serde_json::{Map, Value, json};

use crate::field::{Field, shown};

pub(crate) const NAME: &str = "rectilinear";

/// Reads the configuration of the grid of an array of `shape`: the shape of the largest chunk, and
/// the edges where chunks differ.
pub(crate) fn parse(
    field: &Field,
    configuration: &Map<String, Value>,
    shape: &[u64],
) -> Result<(Vec<u64>, Option<Edges>), FormatError> {
    let kind_field = field.child("kind");
    let kind = configuration.get("kind").ok_or_else(|| kind_field.invalid("is missing"))?;
    if kind != "inline" {
        return Err(kind_field.unsupported(format!("the kind {}", shown(kind)), ""));
    }
    let field = field.child("chunk_shapes");
    let value = configuration.get("chunk_shapes").ok_or_else(|| field.invalid("is missing"))?;
    let list = field.list(value)?;
    if list.len() != shape.len() {
        let (found, rank) = (list.len(), shape.len());
        return Err(field.invalid(format!("{found} entries for {rank} axes")));
    }
    let axes = list.iter().zip(shape).enumerate();
    let axes: Vec<AxisChunks> = axes
        .map(|(axis, (value, &extent))| parse_axis(&field, axis, extent, value))
        .collect::<Result<_, _>>()?;
    let chunk_shape = axes.iter().map(AxisChunks::longest).collect();
    Ok((chunk_shape, Edges::new(axes.into_iter().map(AxisChunks::into_edges).collect())))
}

fn parse_axis(
    field: &Field,
    axis: usize,
    extent: u64,
    value: &Value,
) -> Result<AxisChunks, FormatError> {
    if let Some(length) = value.as_u64() {
        return match length {
            0 => Err(refusal(field, &GridError::ZeroChunk { axis })),
            length => Ok(AxisChunks::Regular(length)),
        };
    }
    let list = value.as_array().ok_or_else(|| {
        let found = shown(value);
        field.invalid(format!("axis {axis}: expected a length or a list of them, found {found}"))
    })?;
    let run = |item: &Value| {
        let pair = item.as_array().map(|pair| match pair.as_slice() {
            [length, count] => length.as_u64().zip(count.as_u64()),
            _ => None,
        });
        pair.unwrap_or_else(|| item.as_u64().map(|length| (length, 1))).ok_or_else(|| {
            let (found, wanted) = (shown(item), "a length or [length, count]");
            field.invalid(format!("axis {axis}: expected {wanted}, found {found}"))
        })
    };
    let runs = list.iter().map(run).collect::<Result<Vec<_>, _>>()?;
    AxisChunks::of_runs(axis, extent, runs).map_err(|error| refusal(field, &error))
}

fn refusal(field: &Field, error: &GridError) -> FormatError {
    field.invalid(error.to_string())
}

/// Refuses shards that the chunks inside, of `inner` elements, do not divide evenly. Axis `i` of
/// those is axis `axes[i]` of the array.
pub(crate) fn check_shards(
    edges: &Edges,
    axes: &[usize],
    inner: &[u64],
) -> Result<(), FormatError> {
    for (&axis, &inner) in axes.iter().zip(inner) {
        let lengths = edges.axis(axis).map(AxisEdges::runs).unwrap_or_default();
        if let Some((length, _)) = lengths.iter().find(|run| !run.0.is_multiple_of(inner.max(1))) {
            let reason = format!(
                "axis {axis}: a shard of {length} elements cannot hold chunks of {inner}, which do not divide it evenly"
            );
            return Err(Field::new("zarr.json", "chunk_grid").invalid(reason));
        }
    }
    Ok(())
}

/// The grid as metadata says it.
pub(crate) fn write(spec: &ArraySpec, edges: &Edges) -> Value {
    let axis = |(axis, length): (usize, &u64)| match edges.axis(axis) {
        None => json!(length),
        Some(edges) => {
            let run =
                |(length, count)| if count == 1 { json!(length) } else { json!([length, count]) };
            edges.runs().into_iter().map(run).collect()
        }
    };
    let chunk_shapes: Vec<Value> = spec.chunk_shape.iter().enumerate().map(axis).collect();
    json!({"name": NAME, "configuration": {"kind": "inline", "chunk_shapes": chunk_shapes}})
}

#[cfg(test)]
mod tests;
