//! `--shards`: which shards are wanted, in the words of `--chunks`.

use rechunk_format::{IndexLocation, ShardFormat};
use rechunk_grid::{ArraySpec, AxisEdges, Edges};
use rechunk_plan::{ShardSide, TablesSide};
use rechunk_words::{ChunkSpec, Extent, ShardSpec, size_auto, sizing_bytes, unresolved};

use crate::{Error, Remedy};

/// Bytes an `auto` shard aims at: few enough objects, and still quick to fetch as a whole.
const AUTO_BYTES: u64 = 512 << 20;

/// Wishes and facts that the shards of a target follow from.
#[derive(Debug, Clone)]
pub(crate) struct ShardWish<'a> {
    /// Shards that were asked for; `None`: nothing was.
    pub asked: Option<&'a ShardSpec>,
    /// The format has shards.
    pub has_shards: bool,
    pub source: &'a ArraySpec,
    /// Shape of the source's shards, if it has some.
    pub source_shard: Option<Vec<u64>>,
    /// Shape of the target's chunks.
    pub chunk: &'a [u64],
    /// No axis cuts a number of elements.
    pub keeps_extents: bool,
}

/// Works out the shards that are `asked` for of an array like `source`, as a plan has them. Chunks
/// have the shape `chunk`; no axis cuts a number if `keeps_extents`.
pub fn plan_shards(
    asked: Option<&ShardSpec>,
    source: &ArraySpec,
    chunk: &[u64],
    keeps_extents: bool,
) -> Result<Option<ShardSide>, Error> {
    let has_shards = true;
    let wish = ShardWish { asked, has_shards, source, source_shard: None, chunk, keeps_extents };
    let (shape, _) = wish.resolve()?;
    let Some(shape) = shape else { return Ok(None) };
    let format = ShardFormat::usual(&shape, chunk).map_err(|reason| usage(&reason, None))?;
    Ok(Some(shard_side(&format)))
}

/// Shards of a format, for the planner.
pub(crate) fn shard_side(format: &ShardFormat) -> ShardSide {
    let tables = format.tables().map(|tables| TablesSide {
        shape: format.index_shape(),
        bytes: format.found_by_bytes(),
        is_scattered: tables.is_scattered(),
    });
    ShardSide {
        shape: format.shard_shape().to_vec(),
        index_bytes: format.index_bytes(),
        index_first: format.location() == IndexLocation::Start,
        tables,
    }
}

impl ShardWish<'_> {
    /// The shard shape it means, elements, `None` for no shards; and a sentence if the source's
    /// shards could not be kept.
    pub(crate) fn resolve(&self) -> Result<(Option<Vec<u64>>, Option<String>), Error> {
        let Some(asked) = self.asked else { return Ok(self.kept()) };
        match asked.shape() {
            None => Ok((None, None)),
            Some(_) if asked.is_keep() && self.source_shard.is_none() => Ok((None, None)),
            Some(_) if !self.has_shards => {
                let hint = "choose zarr3 or precomputed as the format, or no shards";
                Err(usage("only Zarr v3 and precomputed volumes have shards", Some(hint)))
            }
            Some(shape) => self.shape(shape).map(|shape| (Some(shape), None)),
        }
    }

    /// Where shards end, on axes where different lengths are asked for.
    pub(crate) fn edges(&self) -> Result<Option<Edges>, Error> {
        let Some(ShardSpec::Shape(asked)) = self.asked.filter(|_| self.has_shards) else {
            return Ok(None);
        };
        let mut edges = vec![None; self.source.shape.len()];
        for (axis, extent) in asked.extents("--shards", self.source)?.iter().enumerate() {
            let Extent::Lengths(lengths) = extent else { continue };
            let chunks = lengths.on(axis, self.source.shape[axis]);
            let chunks = chunks.map_err(|error| usage(&error.to_string(), None))?;
            let all = chunks.into_edges();
            let mut runs = all.iter().flat_map(AxisEdges::runs);
            let chunk = self.chunk[axis];
            if let Some((length, _)) = runs.find(|run| !run.0.is_multiple_of(chunk)) {
                return Err(usage(
                    &format!(
                        "axis {axis}: a shard of {length} does not hold whole chunks of {chunk}"
                    ),
                    Some("give chunks a number that divides all lengths of shards, such as 1"),
                ));
            }
            edges[axis] = all;
        }
        Ok(Edges::new(edges))
    }

    /// No shards, for chunks that differ in length; an error where some are asked for.
    pub(crate) fn none_around_lengths(&self) -> Result<(Option<Vec<u64>>, Option<String>), Error> {
        let is_asked = self.asked.is_some_and(|asked| asked.shape().is_some() && !asked.is_keep());
        if is_asked {
            return Err(usage(
                "chunks of different lengths do not lie in shards",
                Some("give the lengths to the shards, and chunks numbers that divide them"),
            ));
        }
        Ok((None, None))
    }

    /// The source's shards, where the format has shards and the chunks divide them.
    fn kept(&self) -> (Option<Vec<u64>>, Option<String>) {
        let Some(shard) = self.source_shard.as_deref() else { return (None, None) };
        if !self.has_shards {
            let warning =
                "the target's format has no shards: every chunk becomes an object of its own";
            return (None, Some(warning.to_owned()));
        }
        if shard.iter().zip(self.chunk).all(|(shard, chunk)| shard.is_multiple_of(*chunk)) {
            return (Some(shard.to_vec()), None);
        }
        let warning = format!(
            "chunks of {:?} do not divide the source's shards of {shard:?}: every chunk becomes an \
             object of its own; --shards names others",
            self.chunk
        );
        (None, Some(warning))
    }

    fn shape(&self, asked: &ChunkSpec) -> Result<Vec<u64>, Error> {
        let wanted = asked.clone().keeping_extents(self.keeps_extents);
        let wanted = wanted.extents("--shards", self.source)?;
        let mut counts = Vec::with_capacity(wanted.len());
        for (axis, extent) in wanted.iter().enumerate() {
            counts.push(self.chunks_along(axis, extent)?);
        }
        let chunk_bytes = self
            .chunk
            .iter()
            .fold(sizing_bytes(self.source), |product, &extent| product.saturating_mul(extent));
        let lengths: Vec<u64> = (0..wanted.len()).map(|axis| self.chunks_of_axis(axis)).collect();
        size_auto(&wanted, &lengths, AUTO_BYTES / chunk_bytes.max(1), &mut counts);
        let shape = counts.iter().zip(self.chunk);
        Ok(shape.map(|(count, chunk)| count.saturating_mul(*chunk)).collect())
    }

    /// Extents that an axis cuts: `time=100 (3)`.
    pub(crate) fn cut(&self) -> Result<Vec<String>, Error> {
        let Some(ShardSpec::Shape(asked)) = self.asked.filter(|asked| !asked.is_keep()) else {
            return Ok(Vec::new());
        };
        let lengths: Vec<u64> = (0..self.chunk.len())
            .map(|axis| self.chunks_of_axis(axis).saturating_mul(self.chunk[axis]))
            .collect();
        let wanted = asked.clone().keeping_extents(self.keeps_extents);
        Ok(wanted.cut(self.source, &lengths)?)
    }

    fn chunks_of_axis(&self, axis: usize) -> u64 {
        self.source.shape[axis].div_ceil(self.chunk[axis]).max(1)
    }

    /// Chunks of a shard along an axis; a shard larger than its axis is clipped to whole chunks.
    fn chunks_along(&self, axis: usize, extent: &Extent) -> Result<u64, Error> {
        let (chunk, all) = (self.chunk[axis], self.chunks_of_axis(axis));
        let elements = match (extent, self.source_shard.as_deref()) {
            (Extent::Elements(elements) | Extent::Exactly(elements), _) => *elements,
            // Each was looked at when the edges were.
            (Extent::Lengths(lengths), _) => {
                let shards = lengths.on(axis, self.source.shape[axis]);
                let longest = shards.map_or(chunk, |shards| shards.longest());
                return Ok((longest / chunk).max(1));
            }
            (Extent::Keep, Some(shard)) => shard[axis],
            (Extent::Whole, _) => return Ok(all),
            (Extent::Span { span, .. }, _) => return Err(unresolved("--shards", *span).into()),
            (Extent::Keep, None) | (Extent::Auto, _) => return Ok(1),
        };
        let is_kept = matches!(extent, Extent::Exactly(_));
        if elements.is_multiple_of(chunk) {
            let count = elements / chunk;
            return Ok(if is_kept { count } else { count.min(all) });
        }
        if !is_kept && elements >= self.source.shape[axis] {
            return Ok(all);
        }
        let (below, above) = (elements / chunk * chunk, (elements / chunk + 1) * chunk);
        let nearest = if below == 0 { above.to_string() } else { format!("{below} or {above}") };
        Err(usage(
            &format!("axis {axis}: a shard of {elements} does not hold whole chunks of {chunk}"),
            Some(&format!("the nearest that do are {nearest}")),
        ))
    }
}

fn usage(message: &str, hint: Option<&str>) -> Error {
    Error::Usage { message: format!("--shards: {message}"), hint: hint.map(Remedy::from) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rechunk_grid::DataType;

    fn resolve(
        text: Option<&str>,
        source_shard: Option<&[u64]>,
    ) -> Result<Option<Vec<u64>>, Error> {
        let source = ArraySpec {
            shape: vec![100, 241, 480],
            data_type: DataType::Int16,
            chunk_shape: vec![1, 241, 480],
            edges: None,
            fill_value: None,
            dimension_names: Some(["time", "y", "x"].map(|name| Some(name.to_owned())).to_vec()),
        };
        let chunk = &[25, 61, 60];
        let has_shards = true;
        let keeps_extents = false;
        let asked = text.map(ShardSpec::parse).transpose()?;
        let asked = asked.as_ref();
        let wish = ShardWish {
            asked,
            has_shards,
            source: &source,
            source_shard: source_shard.map(<[u64]>::to_vec),
            chunk,
            keeps_extents,
        };
        wish.resolve().map(|(shape, _)| shape)
    }

    #[test]
    fn shards_hold_whole_chunks() {
        let shape = |text| resolve(Some(text), None).unwrap().unwrap();
        assert_eq!(shape("-1"), [100, 244, 480]);
        assert_eq!(shape("50,122,60"), [50, 122, 60]);
        assert_eq!(shape("time=-1"), [100, 61, 60]);
        assert_eq!(shape("1000,241,480"), [100, 244, 480]);
        assert_eq!(shape("auto"), [100, 244, 480]);
        assert_eq!(shape("1000!,244,480"), [1000, 244, 480]);
        assert!(resolve(Some("1010!,244,480"), None).is_err());
        assert_eq!(resolve(Some("none"), Some(&[25, 61, 60])).unwrap(), None);
        assert_eq!(resolve(Some("keep"), None).unwrap(), None);
        let error = resolve(Some("30,61,60"), None).unwrap_err();
        assert!(error.to_string().contains("whole chunks of 25"), "{error}");
        assert_eq!(error.remedy(), Some(Remedy::from("the nearest that do are 25 or 50")));
    }

    #[test]
    fn shards_are_kept_where_chunks_divide_them() {
        assert_eq!(resolve(None, None).unwrap(), None);
        assert_eq!(resolve(None, Some(&[50, 61, 480])).unwrap(), Some(vec![50, 61, 480]));
        assert_eq!(resolve(None, Some(&[50, 62, 480])).unwrap(), None);
    }
}
