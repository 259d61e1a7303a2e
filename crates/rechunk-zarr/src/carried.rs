//! An array as one of the numbers that its filters of each number store.
//!
//! `scale_offset` and `cast_value` do the same to a number wherever it lies. So a copy that keeps
//! them need not undo them: it moves what is stored, and only the metadata says what it stands for.

use rechunk_grid::DataType;

use crate::codec_spec::CodecSpec;
use crate::codecs::{encode_each, survives};
use crate::element_type::ElementType;
use crate::metadata::ArrayMetadata;
use crate::shard_codec::ShardCodec;

/// The filters of each number that elements go through before any other codec, and the other
/// codecs. `reshape` may stand between: it moves no element. Those in a shard are looked at if
/// `into_shards`.
pub(crate) fn split(codecs: &[CodecSpec], into_shards: bool) -> (Vec<CodecSpec>, Vec<CodecSpec>) {
    let (mut numbers, mut others) = (Vec::new(), Vec::new());
    let mut codecs = codecs.iter();
    for codec in codecs.by_ref() {
        match codec {
            codec if codec.is_of_each_number() => numbers.push(codec.clone()),
            CodecSpec::Reshape(_) => others.push(codec.clone()),
            CodecSpec::Shards(shards) if into_shards => {
                let (more, rest) = split(&shards.codecs, into_shards);
                numbers.extend(more);
                let shards = ShardCodec { codecs: rest, ..(**shards).clone() };
                others.push(CodecSpec::Shards(Box::new(shards)));
                break;
            }
            _ => {
                others.push(codec.clone());
                break;
            }
        }
    }
    others.extend(codecs.cloned());
    (numbers, others)
}

/// Tells shards the type of the elements that are in them.
fn set_element(codecs: &mut [CodecSpec], element: ElementType) {
    for codec in codecs {
        if let CodecSpec::Shards(shards) = codec {
            shards.data_type = element.data_type;
            shards.order.endian = element.endian;
            set_element(&mut shards.codecs, element);
        }
    }
}

/// Why numbers cannot be moved as `filters` have stored them; nothing where they can.
pub(crate) fn fault(source: &ArrayMetadata, filters: &[CodecSpec]) -> Option<&'static str> {
    let Some(fill) = &source.spec.fill_value else {
        return Some("the fill value is null");
    };
    let fill = fill.stored(source.spec.data_type, source.order.endian);
    // Missing chunks hold it as it is, and become a part of others in which it is encoded.
    (!survives(filters, &fill))
        .then_some("it cannot hold the fill value, which missing chunks are read as")
}

impl ArrayMetadata {
    /// The filters that change each number by itself, as far as they come before any other codec,
    /// also in shards. They are equal for arrays that store numbers alike.
    pub fn number_filters(&self) -> Vec<CodecSpec> {
        let (numbers, _) = split(&self.codecs, true);
        numbers.into_iter().map(CodecSpec::little_endian).collect()
    }

    /// The type of what [`ArrayMetadata::number_filters`] leave, where there are some.
    pub fn stored_type(&self) -> Option<DataType> {
        let (numbers, _) = split(&self.codecs, true);
        let stored = numbers.iter().fold(self.element(), |element, codec| codec.output(element));
        (!numbers.is_empty()).then_some(stored.data_type)
    }

    /// Returns this array as [`ArrayMetadata::number_filters`] leave it: of their type, with the
    /// fill value as they store it, and without them. `None` where there is no such filter, or
    /// where missing chunks hold what they do not give back.
    #[must_use]
    pub fn as_stored(&self) -> Option<Self> {
        let (numbers, mut codecs) = split(&self.codecs, true);
        if numbers.is_empty() || fault(self, &numbers).is_some() {
            return None;
        }
        let element = numbers.iter().fold(self.element(), |element, codec| codec.output(element));
        let fill = self.spec.fill_value.as_ref()?;
        let mut bytes = fill.stored(self.spec.data_type, self.order.endian);
        for codec in &numbers {
            bytes = encode_each(codec, &bytes).ok()?;
        }
        set_element(&mut codecs, element);
        ShardCodec::set_fill(&mut codecs, &bytes).ok()?;
        let mut stored = Self { codecs, ..self.clone() };
        stored.spec.data_type = element.data_type;
        stored.spec.fill_value = Some(element.fill_value(bytes));
        stored.order.endian = element.endian;
        (stored.verbatim.data_type, stored.verbatim.fill_value) = (None, None);
        Some(stored)
    }
}

#[cfg(test)]
mod tests;
