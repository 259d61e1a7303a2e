//! The codecs that numcodecs alone names.

use rechunk_format::FormatError;
use serde_json::{Map, Value};

use super::Settings;
use crate::codec_spec::{
    ChecksumKind, CodecSpec, LzmaCheck, LzmaFilter, LzmaFormat, LzmaSpec, PcodecDelta, PcodecSpec,
};
use crate::codecs::pcodec_has_type;
use crate::field::{Field, shown};
use crate::json::text;

/// Filters inside LZMA, as liblzma numbers them.
const LZMA_DELTA: u64 = 3;
const LZMA_2: u64 = 0x21;
const LZMA_1: u64 = 0x4000_0000_0000_0001;

/// Most filters liblzma takes.
const LZMA_FILTERS_MAX: usize = 4;

/// Most elements of a page that Pcodec takes, and as many as there are by default.
const PAGE_ELEMENTS_MAX: i64 = 1 << 24;
const PAGE_ELEMENTS: i64 = 1 << 18;

impl Settings<'_> {
    pub(super) fn lz4(&self) -> Result<CodecSpec, FormatError> {
        let (low, high) = (i64::from(i32::MIN), i64::from(i32::MAX));
        let acceleration = self.integer("acceleration", Some(1), (low, high))?;
        Ok(CodecSpec::Lz4 { acceleration: i32::try_from(acceleration).unwrap_or(1) })
    }

    pub(super) fn bz2(&self) -> Result<CodecSpec, FormatError> {
        let level = self.integer("level", Some(1), (1, 9))?;
        Ok(CodecSpec::Bz2 { level: u8::try_from(level).unwrap_or(1) })
    }

    pub(super) fn shuffle(&self) -> Result<CodecSpec, FormatError> {
        let default = match self.version {
            crate::ZarrVersion::V2 => 4,
            // Left to the array by zarr-python.
            crate::ZarrVersion::V3 => self.input.item_bytes(),
        };
        let element_bytes =
            self.integer("elementsize", i64::try_from(default).ok(), (0, 1 << 20))?;
        // netCDF-C writes 0 and shuffles by the size of the type. (numcodecs takes 0 for no
        // shuffle, and never writes it of itself: what netCDF-C has written is another array to
        // zarr-python.)
        let element_bytes = match element_bytes {
            0 => i64::try_from(self.input.item_bytes()).unwrap_or(1),
            bytes => bytes,
        };
        Ok(CodecSpec::Shuffle { element_bytes: u32::try_from(element_bytes).unwrap_or(1) })
    }

    pub(super) fn checksum(&self, kind: ChecksumKind) -> Result<CodecSpec, FormatError> {
        let stored = self.map.get("location").filter(|value| !value.is_null());
        let is_first = match stored.map(|value| (value, text(value))) {
            // It has no such setting.
            _ if kind == ChecksumKind::Fletcher32 => false,
            None => kind.is_first_by_default(),
            Some((_, Some("start"))) => true,
            Some((_, Some("end"))) => false,
            Some((value, _)) => {
                let reason = format!("expected \"start\" or \"end\", found {}", shown(value));
                return Err(self.field.child("location").invalid(reason));
            }
        };
        Ok(CodecSpec::Checksum { kind, is_first })
    }

    pub(super) fn lzma(&self) -> Result<CodecSpec, FormatError> {
        let format = self.integer("format", Some(1), (1, 3))?;
        let format = LzmaFormat::from_number(format).unwrap_or(LzmaFormat::Xz);
        let number = self.integer("check", Some(-1), (-1, 10))?;
        let check = LzmaCheck::from_number(number).ok_or_else(|| {
            self.field.child("check").unsupported(format!("integrity check {number}"), "")
        })?;
        let preset = self.preset(self.map.get("preset"))?;
        let field = self.field.child("filters");
        let filters = match self.map.get("filters").filter(|value| !value.is_null()) {
            None if format == LzmaFormat::Raw => {
                return Err(field.invalid("is missing, and the raw format needs it"));
            }
            None => None,
            Some(value) => Some(self.lzma_filters(&field, value)?),
        };
        Ok(CodecSpec::Lzma(LzmaSpec { format, check, preset, filters }))
    }

    /// A level, and the bit that makes it "extreme".
    fn preset(&self, value: Option<&Value>) -> Result<Option<u32>, FormatError> {
        let field = self.field.child("preset");
        let preset = field.optional_u32(value)?;
        match preset {
            Some(preset) if preset & !(1 << 31) > 9 => {
                Err(field.invalid(format!("expected a level from 0 to 9, found {preset}")))
            }
            preset => Ok(preset),
        }
    }

    fn lzma_filters(&self, field: &Field, value: &Value) -> Result<Vec<LzmaFilter>, FormatError> {
        let list = field.list(value)?;
        if list.is_empty() || list.len() > LZMA_FILTERS_MAX {
            return Err(field.invalid(format!("{} filters, but there may be 1 to 4", list.len())));
        }
        list.iter().map(|item| self.lzma_filter(field, field.object(item)?)).collect()
    }

    fn lzma_filter(
        &self,
        field: &Field,
        map: &Map<String, Value>,
    ) -> Result<LzmaFilter, FormatError> {
        let number = |name: &str| field.child(name).optional_u32(map.get(name));
        match map.get("id").and_then(Value::as_u64) {
            Some(LZMA_DELTA) => {
                let distance = number("dist")?.unwrap_or(1);
                let less_one = distance.checked_sub(1).and_then(|less| u8::try_from(less).ok());
                let distance_less_one = less_one.ok_or_else(|| {
                    field.child("dist").invalid(format!("expected 1 to 256, found {distance}"))
                })?;
                Ok(LzmaFilter::Delta { distance_less_one })
            }
            Some(id @ (LZMA_1 | LZMA_2)) => Ok(LzmaFilter::Lzma {
                is_lzma2: id == LZMA_2,
                preset: self.preset(map.get("preset"))?,
                dict_size: number("dict_size")?,
                lc: number("lc")?,
                lp: number("lp")?,
                pb: number("pb")?,
                mode: number("mode")?,
                nice_len: number("nice_len")?,
                mf: number("mf")?,
                depth: number("depth")?,
            }),
            _ => {
                let id = map.get("id").map_or_else(|| "without id".to_owned(), shown);
                Err(field.unsupported(format!("filter {id} inside lzma"), ""))
            }
        }
    }

    pub(super) fn pcodec(&self) -> Result<CodecSpec, FormatError> {
        if !pcodec_has_type(self.input) {
            let what = format!("codec \"pcodec\" on {}", self.input.numpy());
            let hint = "it has little-endian numbers of 16, 32 and 64 bits";
            return Err(self.field.unsupported(what, hint));
        }
        let level = self.integer("level", Some(8), (0, 12))?;
        let is_classic = self.word("mode_spec", "auto", |name| match name {
            "auto" => Some(false),
            "classic" => Some(true),
            _ => None,
        })?;
        let delta = self.word("delta_spec", "auto", PcodecDelta::from_name)?;
        self.word("paging_spec", "equal_pages_up_to", |name| {
            (name == "equal_pages_up_to").then_some(())
        })?;
        let order = self.field.child("delta_encoding_order");
        let stored = self.map.get("delta_encoding_order").filter(|value| !value.is_null());
        let delta_order = stored.map(|value| order.integer(value, 0, 7)).transpose()?;
        let page =
            self.integer("equal_pages_up_to", Some(PAGE_ELEMENTS), (1, PAGE_ELEMENTS_MAX))?;
        let spec = PcodecSpec {
            level: u8::try_from(level).unwrap_or(8),
            is_classic,
            delta,
            delta_order: delta_order.and_then(|order| u8::try_from(order).ok()),
            page_elements: u32::try_from(page).unwrap_or(1 << 18),
        };
        Ok(CodecSpec::Pcodec { spec, element: self.input })
    }

    fn word<T>(
        &self,
        name: &str,
        default: &str,
        of: impl Fn(&str) -> Option<T>,
    ) -> Result<T, FormatError> {
        let (field, value) = self.get(name, Some(Value::from(default)))?;
        of(field.text(&value)?).ok_or_else(|| field.unsupported(shown(&value), ""))
    }
}
