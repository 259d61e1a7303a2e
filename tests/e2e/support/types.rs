//! Samples of every group of data types: documents and raw chunks that no code under test has made.

use std::path::Path;

use serde_json::{Value, json};

use crate::arrays::write_json;

/// Elements of every sample.
pub(super) const SHAPE: [u64; 2] = [6, 5];
const COUNT: usize = 30;
/// Groups of types, which are the columns of the tables.
pub(super) const GROUPS: [&str; 12] = [
    "bool",
    "int, uint",
    "float",
    "complex",
    "bfloat16",
    "small",
    "date",
    "bytes",
    "text",
    "raw",
    "record",
    "variable",
];

/// A data type, as one of its group.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    pub group: &'static str,
    /// For people.
    pub name: &'static str,
    /// As NumPy spells it, byte order included; for filters.
    pub numpy: &'static str,
    v2: Value,
    v3: Value,
    fill: Value,
    /// Bytes that change places where the order is big-endian; 1 if it is little.
    swap_bytes: usize,
    /// Little-endian.
    elements: Vec<u8>,
}

/// Every sample. Only the last, of variable length, has no elements here.
pub(super) fn samples() -> Vec<Sample> {
    let mut samples = numbers();
    samples.extend(others());
    samples
}

/// Every type on its own: the samples of fixed length, and the numbers that no sample stands for.
pub(super) fn every_type() -> Vec<Sample> {
    let whole = |name, numpy| Sample::new("int, uint", name, numpy);
    let complex = |x: u8| [f64::from(x).to_le_bytes(), 1.5_f64.to_le_bytes()].concat();
    let mut types = vec![
        whole("uint8", "|u1").of(|x| [x]),
        whole("int16", "<i2").of(|x| i16::from(x).to_le_bytes()),
        whole("uint32", "<u4").of(|x| u32::from(x).to_le_bytes()),
        whole("uint64", ">u8").of(|x| u64::from(x).to_le_bytes()),
        Sample::new("complex", "complex128", "<c16")
            .of::<16>(|x| complex(x).try_into().unwrap())
            .filled(json!([0.0, 0.0])),
    ];
    types.extend(samples().into_iter().filter(|sample| !sample.is_variable()));
    let rank = |sample: &Sample| GROUPS.iter().position(|group| *group == sample.group);
    types.sort_by_key(|sample| (rank(sample), sample.item_bytes()));
    types
}

impl Sample {
    fn new(group: &'static str, name: &'static str, numpy: &'static str) -> Self {
        let (v2, v3) = (json!(numpy), json!(name));
        Self { group, name, numpy, v2, v3, fill: json!(0), swap_bytes: 1, elements: Vec::new() }
    }

    fn of<const N: usize>(mut self, element: impl Fn(u8) -> [u8; N]) -> Self {
        self.elements =
            (0..COUNT).flat_map(|at| element(100 + u8::try_from(at % 20).unwrap())).collect();
        if self.numpy.starts_with('>') {
            self.swap_bytes = N;
        }
        self
    }

    /// As metadata of v3 spells it.
    pub(super) fn v3_type(&self) -> &Value {
        &self.v3
    }

    fn filled(self, fill: Value) -> Self {
        Self { fill, ..self }
    }

    fn v3(self, v3: Value) -> Self {
        Self { v3, ..self }
    }

    /// Bytes of an element.
    pub(super) fn item_bytes(&self) -> usize {
        self.elements.len() / COUNT
    }

    /// The elements in C order, little-endian.
    pub(super) fn little_endian(&self) -> &[u8] {
        &self.elements
    }

    pub(super) fn is_variable(&self) -> bool {
        self.elements.is_empty()
    }

    /// Writes it as an array of one chunk without codecs, in C order or `reversed`.
    pub(super) fn write(&self, directory: &str, version: u8, reversed: bool) {
        let directory = Path::new(directory);
        let mut stored = self.elements.clone();
        stored.chunks_mut(self.swap_bytes).for_each(<[u8]>::reverse);
        if reversed {
            let (item, columns) = (self.item_bytes(), usize::try_from(SHAPE[1]).unwrap());
            let rows = COUNT / columns;
            let from = |at: usize| (at % rows * columns + at / rows) * item;
            stored = (0..COUNT).flat_map(|at| stored[from(at)..][..item].to_vec()).collect();
        }
        let (document, key) = self.document(version, reversed);
        write_json(&directory.join(if version == 2 { ".zarray" } else { "zarr.json" }), &document);
        let path = directory.join(key);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, stored).unwrap();
    }

    fn document(&self, version: u8, reversed: bool) -> (Value, &'static str) {
        if version == 2 {
            let order = if reversed { "F" } else { "C" };
            let document = json!({
                "zarr_format": 2, "shape": SHAPE, "chunks": SHAPE, "dtype": self.v2,
                "compressor": null, "fill_value": self.fill, "order": order, "filters": null,
            });
            return (document, "0.0");
        }
        let endian = if self.swap_bytes > 1 { "big" } else { "little" };
        let mut codecs = vec![json!({"name": "bytes", "configuration": {"endian": endian}})];
        if reversed {
            codecs.insert(0, json!({"name": "transpose", "configuration": {"order": [1, 0]}}));
        }
        let document = json!({
            "zarr_format": 3, "node_type": "array", "shape": SHAPE, "data_type": self.v3,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": SHAPE}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": self.fill, "codecs": codecs, "attributes": {},
        });
        (document, "c/0/0")
    }
}

fn numbers() -> Vec<Sample> {
    let whole = |name, numpy| Sample::new("int, uint", name, numpy);
    let half = |x: u8| [0, [0x56, 0x57][usize::from(x >= 112)]];
    let bfloat = |x: u8| f32::from(x).to_le_bytes();
    let complex = |x: u8| [f32::from(x).to_le_bytes(), 1.5_f32.to_le_bytes()].concat();
    vec![
        Sample::new("bool", "bool", "|b1").of(|x| [x % 2]).filled(json!(false)),
        whole("int8", "|i1").of(|x| [x]),
        whole("uint16", "<u2").of(|x| u16::from(x).to_le_bytes()),
        whole("int32", ">i4").of(|x| i32::from(x).to_le_bytes()),
        whole("int64", "<i8").of(|x| i64::from(x).to_le_bytes()),
        Sample::new("float", "float16", "<f2").of(half),
        Sample::new("float", "float32", "<f4").of(|x| f32::from(x).to_le_bytes()),
        Sample::new("float", "float64", ">f8").of(|x| f64::from(x).to_le_bytes()),
        Sample::new("complex", "complex64", "<c8")
            .of::<8>(|x| complex(x).try_into().unwrap())
            .filled(json!([0.0, 0.0])),
        Sample::new("bfloat16", "bfloat16", "bfloat16").of(|x| [bfloat(x)[2], bfloat(x)[3]]),
        Sample::new("small", "int4", "int4").of(|x| [x % 2]),
        Sample::new("small", "float8_e5m2", "float8_e5m2").of(|x| [x % 2]),
    ]
}

fn others() -> Vec<Sample> {
    let date = |name, unit, numpy| {
        let configuration = json!({"unit": unit, "scale_factor": 1});
        Sample::new("date", name, numpy)
            .of(|x| (i64::from(x) << 33).to_le_bytes())
            .v3(json!({"name": name, "configuration": configuration}))
    };
    let sized = |group, name, bytes: u8, numpy| {
        let configuration = json!({"length_bytes": bytes});
        Sample::new(group, name, numpy).v3(json!({"name": name, "configuration": configuration}))
    };
    let mut text = sized("text", "fixed_length_utf32", 8, "<U2")
        .of(|x| [x, 0, 0, 0, 0xe9, 0, 0, 0])
        .filled(json!(""));
    text.swap_bytes = 1;
    let fields = json!({"fields": [["a", "int32"], ["b", "float64"]]});
    let mut record = Sample::new("record", "structured", "")
        .of::<12>(|x| {
            let (a, b) = (i32::from(x).to_le_bytes(), f64::from(x).to_le_bytes());
            [&a[..], &b].concat().try_into().unwrap()
        })
        .filled(json!("AAAAAAAAAAAAAAAA"))
        .v3(json!({"name": "structured", "configuration": fields}));
    record.v2 = json!([["a", "<i4"], ["b", "<f8"]]);
    vec![
        date("numpy.datetime64", "ns", "<M8[ns]"),
        date("numpy.timedelta64", "s", ">m8[s]"),
        sized("bytes", "null_terminated_bytes", 3, "|S3").of(|x| [x, b'a', 0]).filled(json!("")),
        text,
        sized("raw", "raw_bytes", 3, "|V3").of(|x| [x, 0, 7]).filled(json!("AAAA")),
        record,
        Sample::new("variable", "string", "|O").filled(json!("")),
    ]
}
