//! Refusals: each names what is wrong, and a way on.

use rechunk_grid::{DataType, Region};
use rechunk_ops::{BoxView, OpError, TaskContext, ValueKind, operations};

use crate::harness::{Array, built, parsed, run};

#[test]
fn bad_settings_are_named() {
    for (text, parts) in [
        (
            "gausian:sigma=1",
            &["no operation `gausian`", "did you mean `gaussian`?", "identity, cast"][..],
        ),
        ("zzz", &["no operation `zzz`; operations are identity"]),
        ("gaussian:sgma=1", &["no setting `sgma`", "did you mean `sigma`?", "sigma, truncate"]),
        ("identity:a=1", &["no setting `a`; it has none"]),
        ("gaussian", &["`gaussian` needs `sigma`"]),
        ("gaussian:sigma=-1", &["cannot have `sigma=-1`", "numbers from 0 on"]),
        ("gaussian:sigma=nan", &["cannot have `sigma=nan`"]),
        ("gaussian:sigma=1e6", &["its window has 8000001 elements, at most 4095"]),
        ("gaussian:sigma=1,truncate=0", &["cannot have `truncate=0`", "above 0, at most 10"]),
        ("gaussian:sigma=1,,2", &["cannot have `sigma=1,,2`"]),
        ("gaussian:1", &["`1` has no `=`"]),
        ("gaussian:sigma=1,sigma=2", &["`sigma` is given twice"]),
        (":sigma=1", &["the name is missing"]),
        ("median:size=4", &["cannot have `size=4`", "odd sizes"]),
        ("median:size=0", &["cannot have `size=0`", "odd sizes"]),
        ("min:size=5001", &["odd sizes from 1 to 4095"]),
        ("clamp", &["`clamp` needs `min`"]),
        ("clamp:min=5,max=4", &["cannot have `max=4`", "`min` is 5, which is larger"]),
        ("clamp:min=nan", &["NaN is no bound"]),
        ("clamp:min=five", &["cannot have `min=five`", "it takes a number"]),
        ("threshold", &["`threshold` needs `min`"]),
        ("cast", &["`cast` needs `to`"]),
        ("cast:to=float128", &["cannot have `to=float128`", "float64"]),
        ("cast:to=uint8,overflow=panic", &["it takes saturate, wrap"]),
        ("cast:to=uint8,nan=256", &["cannot have `nan=256`", "uint8"]),
        ("rescale:scale=inf", &["cannot have `scale=inf`", "finite"]),
        ("equal", &["`equal` needs `value`"]),
        ("lut", &["`lut` needs `table`"]),
        ("lut:table=1>2;1>3", &["1 is in it twice"]),
        ("remap-labels:table=1>2,to=float32", &["labels are integers"]),
        ("mask:keep=all", &["it takes nonzero, zero"]),
        ("sobel", &["`sobel` needs `axis`"]),
        ("sobel:axis=z", &["the position of an axis"]),
        ("sobel:axis=0,axes=1,2", &["`axis=0` is not among them"]),
        ("laplacian:axes=x", &["`all`, or positions of axes"]),
        ("histogram:bins=0", &["it takes 1 to 1048576"]),
        ("histogram:range=3..3", &["low..high"]),
        ("histogram:range=-1e308..1e308", &["low..high"]),
        ("unique-count:limit=0", &["it takes 1 to 16777216"]),
    ] {
        let error = built(text).unwrap_err().to_string();
        for part in parts {
            assert!(error.contains(part), "{text}: `{error}` lacks `{part}`");
        }
    }
}

#[test]
fn types_are_refused_before_a_run() {
    for (text, data_type, part) in [
        ("gaussian:sigma=1", DataType::Bool, "cast to uint8 or float32 first"),
        ("mean:size=3", DataType::Bool, "cast to uint8"),
        ("laplacian", DataType::Complex64, "it takes bool, uint8"),
        ("clamp:min=0", DataType::Bool, "their bounds are 0 and 1"),
        ("clamp:min=300", DataType::Uint8, "no value of the type is within min=300"),
        ("clamp:min=1.2,max=1.8", DataType::Uint8, "within min=1.2,max=1.8"),
        ("replace:from=1,to=300", DataType::Uint8, "`to=300` is no value of the type (0 to 255)"),
        ("replace:from=1,to=2", DataType::Bool, "(0 to 1)"),
        ("replace:from=1,to=nan", DataType::Int64, "`to=nan` is no value of the type"),
        ("mask:fill=-1", DataType::Uint32, "`fill=-1` is no value"),
        ("where-missing", DataType::Uint8, "name one with `missing`"),
        ("lut:table=1>2", DataType::Float32, "keys of a table are integers"),
        ("lut:table=1>256", DataType::Uint8, "`table=256` is no value"),
        ("histogram", DataType::Uint16, "set `range=low..high`"),
        ("identity", DataType::Variable, "they differ in length"),
        ("median:size=3", DataType::Bfloat16, "it takes bool"),
    ] {
        let error = parsed(text).output_type(data_type).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
        assert!(error.contains(&data_type.name()), "{text}: {error}");
    }
}

#[test]
fn settings_for_other_axes_are_refused() {
    for (text, part) in [
        ("gaussian:sigma=1,2", "`sigma` for 2 axes, the array has 3"),
        ("median:size=3,3,3,3", "`size` for 4 axes, the array has 3"),
        ("sobel:axis=3", "cannot have `axis=3`: the array has 3 axes"),
        ("laplacian:axes=0,5", "cannot have `axes=0,5`: the array has 3 axes"),
        ("dog:low=1,high=1,2", "`high` for 2 axes"),
        ("median:size=255", "at most 1048576 elements"),
        ("mean:size=4095", "at most 2147483648 elements"),
    ] {
        let error = parsed(text).halo(3).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
        let array = Array::zeros(DataType::Float32, &[2, 2, 2]);
        assert_eq!(run(text, &[&array]).unwrap_err().to_string(), error);
    }
}

#[test]
fn buffers_that_do_not_fit_are_refused() {
    let invert = parsed("invert");
    let (shape, bytes) = ([2, 3], [0_u8; 12]);
    let context = TaskContext::whole(&shape);
    let view = BoxView::new(DataType::Uint16, &shape, &bytes);
    let refused = |view: &BoxView<'_>, out: usize, context: &TaskContext| {
        let mut words = vec![0_u64; out.div_ceil(8)];
        let out = &mut bytemuck::cast_slice_mut(&mut words)[..out];
        invert.run(&[*view], out, context).unwrap_err()
    };
    let error = refused(&view, 10, &context);
    assert!(error.to_string().contains("output has 10 bytes, 2 × 3 elements of uint16 have 12"));
    let short = BoxView::new(DataType::Uint16, &shape, &bytes[..10]);
    assert!(refused(&short, 12, &context).to_string().contains("input has 10 bytes"));
    for wrong in [
        TaskContext::whole(&[2]),
        TaskContext::whole(&shape).at(vec![0]),
        TaskContext::whole(&shape).keeping(Region::new(vec![0, 1], vec![2, 3])),
        TaskContext::whole(&shape).keeping(Region::new(vec![0, u64::MAX], vec![2, 3])),
    ] {
        assert!(matches!(refused(&view, 12, &wrong), OpError::Buffer { .. }), "{wrong:?}");
    }
    let words = [0_u64; 4];
    let odd = &bytemuck::cast_slice::<u64, u8>(&words)[1..13];
    let error = refused(&BoxView::new(DataType::Uint16, &shape, odd), 12, &context);
    assert!(matches!(error, OpError::Buffer { .. }), "{error}");
    let truths = BoxView::new(DataType::Bool, &shape, &[0, 1, 2, 0, 0, 0]);
    assert!(refused(&truths, 6, &context).to_string().contains("element 2 of a bool array is 2"));
}

#[test]
fn shapes_that_cannot_be_addressed_are_refused() {
    for shape in [[u64::MAX, 2], [1 << 62, 1], [1 << 32, 1 << 32]] {
        let view = BoxView::new(DataType::Uint32, &shape, &[]);
        for text in ["identity", "gaussian:sigma=1", "median:size=3", "rescale"] {
            let context = TaskContext::whole(&shape);
            let error = parsed(text).run(&[view], &mut [], &context).unwrap_err();
            assert!(matches!(error, OpError::TooLarge { .. }), "{text}: {error}");
        }
    }
    let many = vec![1; 33];
    let view = BoxView::new(DataType::Uint8, &many, &[0]);
    let error = parsed("identity").run(&[view], &mut [0], &TaskContext::whole(&many));
    assert!(error.unwrap_err().to_string().contains("33 axes, at most 32"));
}

#[test]
fn sources_that_differ_are_refused() {
    let [small, large] = [[2, 2], [2, 3]].map(|shape| Array::zeros(DataType::Uint8, &shape));
    let error = run("mask", &[&small, &large]).unwrap_err().to_string();
    assert!(error.contains("one has 2 × 2 elements, another 2 × 3"), "{error}");
    let error = run("mask", &[&small]).unwrap_err().to_string();
    assert!(error.contains("takes 2 sources, 1 are given"), "{error}");
    let error = run("invert", &[&small, &small]).unwrap_err().to_string();
    assert!(error.contains("takes 1 sources, 2 are given"), "{error}");
    let wide = Array::zeros(DataType::Int16, &[2, 2]);
    let error = run("where-missing:missing=0", &[&small, &wide]).unwrap_err().to_string();
    assert!(error.contains("one has uint8 elements, the other int16"), "{error}");
    let complex = parsed("mask").check_types(&[DataType::Uint8, DataType::Complex64]);
    assert!(complex.unwrap_err().to_string().contains("complex64"));
}

#[test]
fn statistics_yield_no_array() {
    let array = Array::zeros(DataType::Uint8, &[2]);
    for text in ["histogram", "min-max-mean", "unique-count", "checksum"] {
        let error = run(text, &[&array]).unwrap_err().to_string();
        assert!(error.contains("yields a statistic, no array"), "{error}");
    }
}

#[test]
fn identities_are_canonical() {
    for (text, wanted) in [
        ("identity", "identity/1"),
        ("gaussian:sigma=2.0", "gaussian/1:sigma=2,truncate=4"),
        ("gaussian:truncate=4,sigma=1,2", "gaussian/1:sigma=1,2,truncate=4"),
        ("clamp:max=1e1", "clamp/1:max=10"),
        ("cast:to=uint8", "cast/1:to=uint8,overflow=saturate,round=even,nan=0"),
        ("sobel:axis=1,axes=2,1", "sobel/1:axis=1,axes=1,2"),
        ("lut:table=2>3;1>2.0", "lut/1:table=1>2;2>3,default=keep,to=default"),
        ("histogram:range=0..1.0", "histogram/1:bins=256,range=0..1"),
    ] {
        assert_eq!(parsed(text).identity(), wanted, "{text}");
    }
}

#[test]
fn descriptions_are_complete() {
    let names: Vec<_> = operations().map(|info| info.name).collect();
    assert_eq!(names.len(), 27);
    for info in operations() {
        assert_eq!(names.iter().filter(|name| **name == info.name).count(), 1);
        assert!(!info.about.is_empty() && !info.result.is_empty() && info.about.len() < 110);
        for parameter in info.parameters {
            assert!(!parameter.about.is_empty() && !parameter.values.is_empty());
        }
    }
    assert_eq!(parsed("remap-labels:table=1>2").value_kind(), ValueKind::Label);
    assert_eq!(parsed("gaussian:sigma=1").value_kind(), ValueKind::Intensity);
    assert_eq!(parsed("mask").inputs(), 2);
}
